"""Scripts: the steps that an agent performs, read from lines of JSON and checked before it starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path as FilePath
from typing import Annotated, Any, NotRequired, get_args

from pydantic import (
    AfterValidator,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import from_json, to_json
from typing_extensions import TypedDict

from acp_bindings._json import items_of, members_of
from acp_bindings.agent._session import StopReason
from acp_bindings.check import Check
from acp_bindings.errors import AcpError
from acp_bindings.setup._versions import package_named
from acp_bindings.setup.capabilities import CLIENT

MODES: Mapping[str, str] = {"ask": "Asks before it does anything", "code": "Does everything"}
"""The modes of the agent, with their descriptions."""
OPTIONS: Mapping[str, tuple[Any, ...]] = {
    "effort": ("low", "high"),
    "length": ("short", "long"),
    "model": ("small", "large", "huge"),
    "web": (False, True),
}
"""The config options of the agent, with their values."""


def _one_of(values: Collection[Any]) -> AfterValidator:
    def check(value: Any) -> Any:
        if value not in values:
            raise ValueError(f"must be one of {', '.join(map(str, values))}")
        return value

    return AfterValidator(check)


def _check_options(options: dict[str, Any]) -> dict[str, Any]:
    for id_, chosen in options.items():
        if id_ not in OPTIONS:
            raise ValueError(f"{id_!r} does not exist; there are {', '.join(OPTIONS)}")
        if not _has_place(chosen) and (type(chosen), chosen) not in [(type(each), each) for each in OPTIONS[id_]]:
            raise ValueError(f"{id_} must be one of {', '.join(map(as_text, OPTIONS[id_]))}")
    return options


def _accept_place(value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """Accept a string with a `${…}` in a script. Its value is checked when the step is performed."""
    return value if info.context == "script" and _has_place(value) else check(value)


_LATER = WrapValidator(_accept_place)


class _Error(TypedDict):
    code: Annotated[int, Field(ge=-(2**31), lt=2**31), _LATER]
    message: str
    data: NotRequired[Any]


class _Call(TypedDict):
    method: str
    params: NotRequired[Any]


KINDS: Mapping[str, Any] = {
    "error": _Error,
    "exit": Annotated[int, Field(ge=0, le=255), _LATER],
    "mode": Annotated[str, _one_of(MODES), _LATER],
    "needs": Annotated[str, _one_of(CLIENT), _LATER],
    "notify": _Call,
    "option": Annotated[dict[str, Any], AfterValidator(_check_options)],
    "prompt": str | None,
    "raw": str,
    "request": _Call,
    "say": str,
    "stderr": str,
    "stop": Annotated[str, _one_of(get_args(StopReason)), _LATER],
    "think": str,
    "title": str,
    "until": Annotated[str, _one_of(("terminal/cancel", "tool_call/cancel")), _LATER],
    "update": dict[str, Any],
    "version": Annotated[int, _one_of((1, 2))],
    "wait": Annotated[float | None, Field(ge=0), _LATER],
}
"""The kinds of steps, and the types of their values."""
_WITHOUT_TURN = {"exit", "mode", "notify", "option", "raw", "stderr", "title", "update", "wait"}
"""The steps that can be performed when a session opens."""
_ALWAYS: Mapping[str, Any] = {"if": dict[str, Any], "times": Annotated[int, Field(ge=1), _LATER]}
_OF_REQUEST: Mapping[str, Any] = {"as": str, "expect": Any, "timeout": Annotated[float, Field(ge=0)]}


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter({**KINDS, **_ALWAYS, **_OF_REQUEST}[name])


def checked(name: str, value: Any) -> Any:
    """Return the *value* of a field when its step is performed. Text may be a number.

    Raises:
        ValueError: it is not valid.
    """
    try:
        return _adapter(name).validate_python(value)
    except ValidationError as error:
        raise ValueError("; ".join(_problems_in(error))) from None


def _problems_in(error: ValidationError, *at: str) -> Iterator[str]:
    for each in error.errors():
        where = ".".join(map(str, (*at, *each["loc"])))
        message = each["msg"].removeprefix("Value error, ").replace("a valid dictionary", "an object")
        yield f"{where}: {message}".removeprefix(": ")


_PLACE = re.compile(r"\$\{([^}]*)\}")
NAMES: Mapping[str, str] = {
    "arguments": "the text after a slash command",
    "command": "the first word of the arguments; by default this Python",
    "args": "the other words, a list",
    "cwd": "the working directory of the session",
    "path": "the arguments as an absolute path",
    "prompt": "the text of the prompt",
    "session": "the id of the session",
    "turn": "the number of the prompt in the session",
}
"""The values that every turn has."""


@dataclass(frozen=True)
class Step:
    """Something that the agent does."""

    kind: str
    value: Any
    line: int = 0
    """The line in the script; 0 in a scene."""
    condition: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The values that `${…}` must have, or lists with them; otherwise the step is left out."""
    times: Any = 1
    result: str | None = None
    """The name of the response of the client."""
    expect: Any = None
    timeout: float | None = None


@dataclass(frozen=True)
class ScriptTurn:
    """The steps for a prompt."""

    prompt: str | None
    """The text of the prompt for which they are; None for any."""
    steps: tuple[Step, ...]


class ScriptError(AcpError, ValueError):
    """A script has errors. `problems` has them, as `line: field: message`."""

    def __init__(self, name: str, problems: list[str]) -> None:
        super().__init__(name, problems)
        self.name = name
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(f"{self.name}:{each}" for each in self.problems)


@dataclass(frozen=True)
class Script:
    """The turns of a scripted agent. `Script.read` and `Script.parse` return one."""

    name: str
    version: int
    """The version of the protocol in which it is written."""
    opening: tuple[Step, ...]
    """The steps when a session opens, before the first `prompt`."""
    turns: tuple[ScriptTurn, ...]

    @classmethod
    def read(cls, path: str) -> Script:
        """Read a script.

        Raises:
            ScriptError: it has errors.
            OSError: the file cannot be read.
        """
        try:
            text = FilePath(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ScriptError(path, ["1: the file is not UTF-8"]) from None
        return cls.parse(text, name=path)

    @classmethod
    def parse(cls, text: str, *, name: str = "script") -> Script:
        """Return the script in *text*.

        Args:
            text: a step on each line. Empty lines and lines that begin with `#` are skipped.
            name: the name of the script, for errors.

        Raises:
            ScriptError: it has errors.
        """
        problems: list[str] = []
        parts: list[tuple[str | None, list[Step]]] = [(None, [])]
        reader = _Reader(problems)
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            step = reader.step(line, number, in_turn=len(parts) > 1)
            if step and step.kind == "prompt":
                parts.append((step.value, []))
            elif step:
                parts[-1][1].append(step)
            elif reader.is_first:
                break  # it is not a script
        if not problems and len(parts) == 1:
            problems.append('1: the script has no turn; begin one with {"prompt": null}')
        if problems:
            raise ScriptError(name, problems)
        turns = [ScriptTurn(prompt, tuple(steps)) for prompt, steps in parts[1:]]
        return cls(name, reader.version, tuple(parts[0][1]), tuple(turns))

    def turn_for(self, prompt: str, count: int) -> ScriptTurn | None:
        """Return the turn for *prompt*: the one with its text, or the next of those for any prompt.

        Args:
            prompt: the text of the prompt.
            count: the number of prompts of this session before it. After the last turn, the first follows.
        """
        named = next((each for each in self.turns if each.prompt == prompt), None)
        others = [each for each in self.turns if each.prompt is None]
        return named or (others[count % len(others)] if others else None)


def step_of(values: Mapping[str, Any], line: int = 0) -> Step:
    """Return the step that a JSON object describes, without checking it."""
    kind = next(each for each in values if each in KINDS)
    return Step(
        kind,
        values[kind],
        line,
        condition=values.get("if", {}),
        times=values.get("times", 1),
        result=values.get("as"),
        expect=values.get("expect"),
        timeout=values.get("timeout"),
    )


class _Reader:
    """Reads and checks steps."""

    def __init__(self, problems: list[str]) -> None:
        self.version = 1
        self._problems = problems
        self._names = set(NAMES)
        self.is_first = True
        """True until a line has a kind of step."""

    def step(self, line: str, number: int, *, in_turn: bool) -> Step | None:
        """Return the step on a line; None if it has errors, which are noted, or if it is the version."""
        try:
            given = from_json(line)
        except ValueError as error:
            return self._refuse(number, f"not JSON: {str(error).replace('line 1 column', 'character')}")
        if not isinstance(given, dict):
            return self._refuse(number, "a step must be an object")
        values: dict[str, Any] = members_of(given)
        kinds = values.keys() & KINDS.keys()
        if len(kinds) != 1:
            given_names = ", ".join(sorted(kinds or values)) or "nothing"
            return self._refuse(number, f"a step has exactly one of {', '.join(KINDS)}; this has {given_names}")
        kind = kinds.pop()
        is_first, self.is_first = self.is_first, False
        if isinstance(name := values.get("as"), str):
            self._names.add(name)
        errors = [*self._errors(kind, values, in_turn=in_turn, is_first=is_first)]
        if errors:
            self._problems.extend(f"{number}: {each}" for each in errors)
            return None
        if kind == "version":
            self.version = values["version"]
            return None
        if kind == "prompt":
            self._names = set(NAMES)
        return step_of(values, number)

    def _refuse(self, number: int, problem: str) -> Step | None:
        self._problems.append(f"{number}: {problem}")
        return None

    def _errors(self, kind: str, values: Mapping[str, Any], *, in_turn: bool, is_first: bool) -> Iterator[str]:
        wrong = [*_wrong_fields(kind, values)]
        yield from wrong
        if wrong:
            return
        if not in_turn and kind not in {*_WITHOUT_TURN, "prompt", "version"}:
            yield f'{kind}: only possible in a turn; begin one with {{"prompt": null}}'
        named = {*_names_in(values), *(each.partition(".")[0] for each in values.get("if", {}))}
        for name in sorted(named - self._names):
            yield f"${{{name}}} does not exist here; there are {', '.join(sorted(self._names))}"
        if kind == "update":
            yield from self._invalid("SessionUpdate", values[kind], ("update",))
        elif kind in ("request", "notify"):
            yield from self._call_errors(kind, values[kind])
        elif kind == "version" and not is_first:
            yield "version: must be the first step"

    def _call_errors(self, kind: str, value: Mapping[str, Any]) -> Iterator[str]:
        method: str = value["method"]
        params: Any = value.get("params", {})
        if method.startswith("_"):
            return
        types = package_named(f"v{self.version}").METHODS.get(method)
        type_ = types and (types.request if kind == "request" else types.notification)
        if not type_ or type_.side == "agent":
            yield f"{kind}.method: agents of v{self.version} do not send {method!r}; use raw to do it anyway"
            return
        if not isinstance(params, dict):
            yield f"{kind}.params: must be an object"
            return
        yield from self._invalid(type_.params_name, {"sessionId": "${session}", **params}, (kind, "params"))

    def _invalid(self, type_name: str, value: Any, at: tuple[str, ...]) -> Iterator[str]:
        check = Check([to_json(filled(dict(value), _sample))], type=f"v{self.version}.{type_name}")
        for each in check:
            if each.severity != "info":
                yield f"{'.'.join(map(str, (*at, *each.path)))}: {each.message}; use raw to send it anyway"


def _sample(path: str) -> Any:
    """Return a value with which a step can be checked before the real one is known."""
    return ["sample"] if path == "args" else "/sample"


def _wrong_fields(kind: str, values: Mapping[str, Any]) -> Iterator[str]:
    known = {kind} if kind in ("prompt", "version") else {kind, *_ALWAYS}
    known |= _OF_REQUEST.keys() if kind == "request" else set()
    for name, value in values.items():
        if name not in known:
            yield f"{name}: a step of the kind {kind} does not have this field"
            continue
        try:
            _adapter(name).validate_python(value, strict=True, context="script")
        except ValidationError as error:
            yield from _problems_in(error, name)


def _has_place(value: Any) -> bool:
    return isinstance(value, str) and bool(_PLACE.search(value))


def _names_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (each.partition(".")[0] for each in _PLACE.findall(value))
    elif isinstance(value, dict):
        for each in members_of(value).values():
            yield from _names_in(each)
    elif isinstance(value, list):
        for each in items_of(value):
            yield from _names_in(each)


def filled(value: Any, look_up: Callable[[str], Any]) -> Any:
    """Return *value* with each `${name.field}` replaced. A string that is only one becomes the JSON value itself."""
    if isinstance(value, str):
        if whole := _PLACE.fullmatch(value):
            return look_up(whole[1])
        return _PLACE.sub(lambda found: as_text(look_up(found[1])), value)
    if isinstance(value, dict):
        return {name: filled(each, look_up) for name, each in members_of(value).items()}
    if isinstance(value, list):
        return [filled(each, look_up) for each in items_of(value)]
    return value


def looked_up(names: dict[str, Any], path: str) -> Any:
    """Return the value of `name.field`; None if there is none."""
    value: Any = names
    for step in path.split("."):
        value = members_of(value).get(step)
    return value


def as_text(value: Any) -> str:
    """Return a string as it is, and other values as JSON."""
    return value if isinstance(value, str) else to_json(value).decode()


def fits(expected: Any, found: Any) -> bool:
    """Return True if *found* has everything that *expected* has; objects may have more fields."""
    if isinstance(expected, dict) and isinstance(found, dict):
        theirs = members_of(found)
        return all(name in theirs and fits(each, theirs[name]) for name, each in members_of(expected).items())
    return bool(expected == found)

"""Permission requests: what is asked, and a policy that answers without a user."""

from __future__ import annotations

import json
import logging
import os
import shlex
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from acp_bindings import v1
from acp_bindings._json import items_of, members_of
from acp_bindings._models.base import known_member
from acp_bindings._to_v1 import to_v1
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError, one_line
from acp_bindings.setup._paths import HERE, Roots, is_absolute, likeness

if TYPE_CHECKING:
    from acp_bindings.client._state import Folding
    from acp_bindings.jsonrpc import ProtocolPackage
    from acp_bindings.setup._records import SessionRecord

log = logging.getLogger("acp_bindings.client")

PermissionAnswer: TypeAlias = v1.PermissionOption | str | bool | None
"""An option or its id; True or False for the option to allow or reject, if possible only once; None to cancel."""

_PATH_INPUTS = ("path", "file_path", "filePath", "filepath", "notebook_path")
"""Names under which tools get a path, in `raw_input`."""
_SHELLS = frozenset({"bash", "dash", "ksh", "sh", "zsh"})


@dataclass(frozen=True)
class PermissionQuestion:
    """A permission request of an agent, in the terms of v1."""

    session_id: str
    """The session, which is `agent.sessions[session_id]`."""
    directory: str
    """The directory of the session."""
    title: str
    """The question for the user; of v1 the title of the tool call."""
    options: tuple[v1.PermissionOption, ...]
    """The options of the user."""
    tool_call: v1.ToolCall | None = None
    """The tool call, with everything that is known of it."""
    description: str | None = None
    """Why permission is needed (v2)."""
    command: str | None = None
    """The command to be run: of v2, or `command` and `args` in the input of the tool call."""
    cwd: str | None = None
    """The directory of the command."""

    @property
    def kind(self) -> str:
        """The kind of the tool call, `execute` for a command, otherwise `other`."""
        if self.tool_call is not None and self.tool_call.kind is not None:
            return self.tool_call.kind
        return "execute" if self.command is not None else "other"

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that the tool call names: its locations, its diffs, and paths in its input."""
        call = self.tool_call
        if call is None:
            return ()
        found = [each.path for each in call.locations]
        for each in call.content:
            # A diff of v2 has become text.
            changes = [{"path": each.path}] if isinstance(each, v1.Diff) else (each.model_extra or {}).get("changes")
            given = [members_of(change).get(name) for change in items_of(changes) for name in ("oldPath", "path")]
            found += [path for path in given if isinstance(path, str)]
        said = _input_of(call)
        found += [value for name in _PATH_INPUTS if isinstance(value := said.get(name), str)]
        return tuple(dict.fromkeys(found))

    def option(self, *kinds: str) -> v1.PermissionOption | None:
        """Return the first option of one of these kinds, in the order of *kinds*; None if there is none."""
        return next((each for kind in kinds for each in self.options if each.kind == kind), None)


def question_of(
    params: Any, record: SessionRecord, *, protocol: ProtocolPackage, folding: Folding
) -> PermissionQuestion:
    """Return the question in a permission request of any version, and fold its tool call."""
    wire: Any = protocol
    options = tuple(_option(each) for each in params.options)
    subject = known_member(params, "subject")
    update = known_member(subject, "tool_call") or known_member(params, "tool_call")
    tool_call, title = None, known_member(params, "title")
    if update is not None:
        made = to_v1(decode(wire.SessionToolCallUpdate, {**update.model_dump(), "sessionUpdate": "tool_call_update"}))
        if isinstance(made, v1.SessionToolCallUpdate):
            before = folding.state.tool_call(made.tool_call_id)
            folding.ask(made, merge=title is not None)
            tool_call = folding.state.tool_call(made.tool_call_id)
            if title is None:
                # In v1 the request has what changed of the tool call, and a title that may be the question.
                title = made.title
                if before is not None and tool_call is not None:
                    tool_call = _with_news(before, made)
    elif (id_ := known_member(subject, "tool_call_id")) is not None:
        tool_call = folding.state.tool_call(id_)
    return PermissionQuestion(
        record.session_id,
        record.cwd,
        title or (tool_call.title if tool_call else "") or "",
        options,
        tool_call=tool_call,
        description=known_member(params, "description"),
        command=known_member(subject, "command") or _command_in(_input_of(tool_call)),
        cwd=known_member(subject, "cwd"),
    )


def _input_of(call: v1.ToolCall | None) -> dict[str, Any]:
    """Return the input of a tool call, which some agents send as a string of JSON."""
    given = call.raw_input if call is not None else None
    if isinstance(given, str):
        with suppress(ValueError):
            # pydantic would refuse a lone surrogate, which JavaScript accepts.
            given = json.loads(given)
    return members_of(given)


def _command_in(said: dict[str, Any]) -> str | None:
    """Return the command line in the input of a tool call; of a shell, the command that it runs."""
    match said.get("command"):
        case str(command):
            pass
        case [str(shell), "-c" | "-lc", str(command)] if os.path.basename(shell) in _SHELLS:
            pass
        case given:
            command = shlex.join(map(str, items_of(given)))
    return " ".join([command, *(shlex.quote(str(each)) for each in items_of(said.get("args")))]) if command else None


def _with_news(call: v1.ToolCall, update: v1.ToolCallUpdate) -> v1.ToolCall:
    names = update.model_fields_set & v1.ToolCall.model_fields.keys() - {"session_update", "title"}
    return call.model_copy(update={name: value for name in names if (value := getattr(update, name)) is not None})


def _option(option: Any) -> v1.PermissionOption:
    try:
        return decode(v1.PermissionOption, encode(option))
    except DecodeError:
        # A kind that is newer than v1. Only a user can choose it, by its name.
        return v1.PermissionOption.model_construct(option_id=option.option_id, name=option.name, kind=option.kind)


def as_option(question: PermissionQuestion, answer: object) -> str | None:
    """Return the id of the option that *answer* means; None to cancel the request.

    Raises:
        ValueError: the agent did not offer this option.
        TypeError: *answer* is not a `PermissionAnswer`.
    """
    if answer is None:
        return None
    if isinstance(answer, bool):
        option = allowing(question) if answer else rejecting(question)
        return option.option_id if option else None
    id_ = answer if isinstance(answer, str) else getattr(answer, "option_id", None)
    if not isinstance(id_, str):
        raise TypeError(
            f"the permission function returns an option, its id, a bool or None, not {type(answer).__name__}"
        )
    if id_ not in [each.option_id for each in question.options]:
        raise ValueError(f'the agent did not offer the option "{id_}"')
    return id_


def allowing(question: PermissionQuestion) -> v1.PermissionOption | None:
    """Return the option that allows the operation, if possible only once."""
    return question.option("allow_once", "allow_always")


def rejecting(question: PermissionQuestion) -> v1.PermissionOption | None:
    """Return the option that rejects the operation, if possible only once."""
    return question.option("reject_once", "reject_always")


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """Conditions of a rule of a `PermissionPolicy`. All of them must hold; a rule without conditions always matches."""

    kind: str | Collection[str] | None = None
    """A kind of tool, such as `read`, or several. For an `Allow` rule, a command line is always `execute`."""
    tool: str | None = None
    """A pattern for the name of the tool, such as `mcp__files__*`, or for its title if it has no name. Titles are
    chosen by the agent, often by its model, so they prove nothing."""
    command: str | None = None
    """A pattern for the whole command line, such as `pytest *`, which also matches `pytest a; rm b`. For an agent
    that does not send the command, a `Reject` rule takes the title."""
    path: str | os.PathLike[str] | None = None
    """A directory, with all that is in it; or a pattern, such as `/home/me/*.md` or `*/.env`, where `*` also matches
    slashes."""

    def matches(self, question: PermissionQuestion, *, strict: bool) -> bool:
        """Return True if all conditions hold. If *strict*, as for `Allow`, each must hold for certain."""
        kinds = {self.kind} if isinstance(self.kind, str) else self.kind
        if kinds is not None and _kinds(question, strict=strict).isdisjoint(kinds):
            return False
        if self.tool is not None and not fnmatchcase(_tool_of(question), self.tool):
            return False
        commands = _commands(question, strict=strict)
        if self.command is not None and not any(fnmatchcase(each, self.command) for each in commands):
            return False
        if self.path is None:
            return True
        rule, paths, absolute = os.fspath(self.path), question.paths, partial(os.path.join, question.directory)
        if strict:
            return bool(paths) and all(_is_plain(each) and _leads_into(absolute(each), rule) for each in paths)
        readings = [absolute(each) for path in paths for each in _readings(path)]
        # A file that the rule names is rejected also if it is a link to another one.
        return any(_leads_into(each, rule) or _is_named(each, rule) for each in readings)


@dataclass(frozen=True, kw_only=True)
class Allow(_Rule):
    """A rule that allows. With `path`, every file of the operation must match, and it must name at least one.

    `~/x`, `$HOME/x` and `file:///x` do not match, because agents understand them differently.
    """


@dataclass(frozen=True, kw_only=True)
class Reject(_Rule):
    """A rule that rejects. With `path`, it is enough that one file of the operation, or what it links to, matches."""


@dataclass(frozen=True)
class Decision:
    """A decision of a `PermissionPolicy`."""

    question: PermissionQuestion
    allowed: bool
    rule: Allow | Reject | None
    """The rule; None if no rule matched, or if the agent did not offer the matching option."""
    option: v1.PermissionOption | None
    """The chosen option; None if the question was cancelled because the agent did not offer one."""

    def __str__(self) -> str:
        """`rejected edit "Write notes.txt": no rule allows it`."""
        reason = f"by {self.rule}" if self.rule else "no rule allows it"
        verb = "allowed" if self.allowed else "rejected"
        return f'{verb} {self.question.kind} "{one_line(self.question.title)}": {reason}'


class PermissionPolicy:
    """Answers permission requests by rules, for programs without a user.

        policy = PermissionPolicy(
            Reject(path="*/.env"),
            Allow(kind={"read", "search"}),
            Allow(kind="edit", path="/home/me/project"),
        )
        client = Client("nightly", version="1.0", permission=policy)

    The first rule that matches decides. What no rule allows is rejected. Each decision is logged to
    `acp_bindings.client` at the level INFO; the last 1,000 are in `decisions`.

    The policy judges what the agent says about an operation. It is not a sandbox.
    """

    def __init__(self, *rules: Allow | Reject, on_decision: Callable[[Decision], object] | None = None) -> None:
        """Create a policy.

        Args:
            rules: the rules, the first match of which decides.
            on_decision: called with each decision.

        Raises:
            TypeError: a rule is not an `Allow` or `Reject`.
            ValueError: the path of a rule is not absolute and does not begin with `*`.
        """
        for each in rules:
            if not isinstance(each, Allow | Reject):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"a rule is Allow(…) or Reject(…), not {type(each).__name__}")
            if each.path is not None and not (
                is_absolute(os.fspath(each.path)) or os.fspath(each.path).startswith("*")
            ):
                raise ValueError(f'path="{os.fspath(each.path)}" never matches: paths are absolute; begin with / or *')
        self.rules = rules
        self.decisions: deque[Decision] = deque(maxlen=1000)
        """The last decisions, the oldest first."""
        self._on_decision = on_decision

    def decide(self, question: PermissionQuestion) -> Decision:
        """Return the decision for *question*, without recording it."""
        for rule in self.rules:
            if rule.matches(question, strict=isinstance(rule, Allow)):
                if isinstance(rule, Reject):
                    return Decision(question, allowed=False, rule=rule, option=rejecting(question))
                if (option := allowing(question)) is not None:
                    return Decision(question, allowed=True, rule=rule, option=option)
                break
        return Decision(question, allowed=False, rule=None, option=rejecting(question))

    def __call__(self, question: PermissionQuestion) -> v1.PermissionOption | None:
        """Return the option for *question*, and record the decision."""
        decision = self.decide(question)
        self.decisions.append(decision)
        log.info("%s", decision)
        if self._on_decision is not None:
            self._on_decision(decision)
        return decision.option


def _tool_of(question: PermissionQuestion) -> str:
    call = question.tool_call
    return (call.name or call.title or question.title) if call is not None else question.title


def _kinds(question: PermissionQuestion, *, strict: bool) -> set[str]:
    """Return the possible kinds. A command line is `execute`, also if the agent calls it `search`, as Codex may."""
    given = _input_of(question.tool_call).get("command")
    # A single word may be what an editor tool does, such as `view`.
    if not isinstance(given, list) and len((question.command or "").split()) < 2:
        return {question.kind}
    return {"execute"} if strict else {"execute", question.kind}


def _commands(question: PermissionQuestion, *, strict: bool) -> tuple[str, ...]:
    """Return the command. If it was not sent, and unless *strict*, return the titles, which may be the command."""
    call = question.tool_call
    if question.command is not None:
        return (question.command,)
    return () if strict or call is None or call.kind != "execute" else (question.title, call.title)


def _is_plain(path: str) -> bool:
    """Return True if all agents understand *path* alike. Some of them expand `~/x`, `$HOME/x` and `file:///x`."""
    return is_absolute(path, flavour=HERE) or likeness(path) == "relative"


def _readings(path: str) -> set[str]:
    """Return *path* as a name, as a URL if it is one, and both with `~` and variables expanded."""
    given = {path}
    if path[:5].lower() == "file:":
        from urllib.request import url2pathname  # noqa: PLC0415 - it loads much that is not needed otherwise

        given.add(url2pathname(urlsplit(path).path))
    # Many programs end a name at NUL, and replace lone surrogates.
    names = {each.partition("\0")[0].encode(errors="replace").decode() for each in given}
    return {*names, *(os.path.expanduser(os.path.expandvars(each)) for each in names)}


def _leads_into(path: str, rule: str) -> bool:
    """Return True if *path*, with links resolved, is in a directory or matches a pattern."""
    return fnmatchcase(os.path.realpath(path), rule) if _is_pattern(rule) else Roots(rule).contains(path)


def _is_named(path: str, rule: str) -> bool:
    """Return True if *path*, as it is written, is in a directory or matches a pattern."""
    name = os.path.normpath(path)
    return fnmatchcase(name, rule) if _is_pattern(rule) else Path(name).is_relative_to(rule)


def _is_pattern(rule: str) -> bool:
    return any(each in rule for each in "*?[")

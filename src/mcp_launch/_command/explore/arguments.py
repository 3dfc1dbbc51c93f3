"""Reads the arguments of a tool or prompt from words such as `name=value`, and validates them by its schema."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from acp_bindings._lazy import closest
from mcp_launch._command.explore.schemas import (
    Schema,
    alternatives,
    arguments_of,
    fixed_values,
    kind_of,
    member_of,
    properties_of,
    short,
    type_text,
    with_defaults,
)
from mcp_launch._command.inputs import choices
from mcp_launch._json_values import as_items
from mcp_launch._validation import STEPS, TooManySteps, compiled, errors_of, is_plain, limited_steps, steps_are_limited
from mcp_launch.failures import did_you_mean
from mcp_launch.options import Budgets

_NONE = object()
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_SIMPLE_TYPES = ("string", "null", "integer", "number", "boolean")
"""In this order: if strings are allowed, it is a string."""


class WrongArguments(ValueError):  # noqa: N818 - the name says what is wrong
    """The arguments do not fit the tool or prompt."""

    def __init__(self, *faults: str) -> None:
        self.faults = faults
        """One message for each mistake."""
        super().__init__("; ".join(faults))


async def read_untrusted(
    words: list[str], schema: Schema, *, whole: str | None = None, checked: bool = True
) -> dict[str, Any]:
    """Return the arguments for an untrusted schema, whose evaluation is limited in steps and time.

    In *words* and *whole*, `@FILE` stands for the JSON in a file.

    Raises:
        WrongArguments: as for `read_arguments`, or a file cannot be read, or the schema cannot be evaluated within the
            limits.
    """
    # Only once, because it may be a pipe, and in this process, because the other one has another standard input.
    whole = None if whole is None else _with_file(whole, called="--args")
    words = [_with_its_file(word) for word in words]
    if is_plain(schema):
        with suppress(TooManySteps), limited_steps(STEPS):
            return read_arguments(words, schema, whole=whole, checked=checked)
    # Imported late: most schemas do not need a process.
    from mcp_launch._killable import CallFailed, KillableProcess  # noqa: PLC0415

    process = KillableProcess(seconds=Budgets().validate)
    try:
        found: dict[str, Any] | list[str] = await process.call(
            f"{__name__}:read_elsewhere", words, schema, whole, checked
        )
    except CallFailed as failed:
        if not checked:
            return read_arguments(words, {}, whole=whole, checked=False)
        why = "reading the arguments " + (f"fails ({failed.kind})" if failed.kind else str(failed))
        hint = "use mcp-launch call --unchecked to send them without validation"
        raise WrongArguments(f"its inputSchema was rejected: {why}; {hint}") from None
    finally:
        await process.aclose()
    if isinstance(found, list):
        raise WrongArguments(*found)
    return found


def read_arguments(
    words: Iterable[str], schema: Schema, *, whole: str | None = None, checked: bool = True
) -> dict[str, Any]:
    """Return the arguments of a tool, from words such as `name=value`, and the defaults of missing required ones.

    Args:
        words: `name=value` by the type in the schema, repeated for the items of an array; `name:=JSON` for an exact
            value; `outer.inner=value` for a field of an object.
        schema: the tool's input schema.
        whole: a JSON object of arguments; *words* replace its fields.
        checked: False to accept arguments that the schema does not allow.

    Raises:
        WrongArguments: the schema does not allow the arguments; every mistake is listed.
    """
    arguments = {} if whole is None else _object(whole)
    faults: list[str] = []
    typed: set[tuple[str, ...]] = set()
    for word in words:
        try:
            _add(word, arguments, typed, schema, checked=checked)
        except WrongArguments as wrong:
            faults += wrong.faults
    if checked and not faults:
        arguments = with_defaults(arguments, schema, schema)
        faults.extend(misfits(arguments, schema))
    if faults:
        raise WrongArguments(*faults)
    return arguments


def read_elsewhere(
    words: list[str], schema: Schema, whole: str | None, checked: bool
) -> dict[str, Any] | tuple[str, ...]:
    """Return the arguments, or what is wrong with them; called in another process."""
    try:
        return read_arguments(words, schema, whole=whole, checked=checked)
    except WrongArguments as wrong:
        return wrong.faults


def misfits(arguments: dict[str, Any], schema: Schema) -> Iterator[str]:
    """Yield the errors of the arguments; nothing if the schema is invalid.

    Raises:
        TooManySteps: validation takes more steps than allowed.
    """
    try:
        errors = list(errors_of(compiled(schema, counted=steps_are_limited()), arguments))
    except (TooManySteps, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - an invalid schema may raise anything
        return
    for error in errors:
        yield from _misfit(error, schema)


def _misfit(error: Any, root: Schema) -> Iterator[str]:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
    within = f"{path}." if path else ""
    match error.validator:
        case "required" if (name := _missing(error)) is not None:
            about = next((each for each in arguments_of({**root, **error.schema}) if each.name == name), None)
            first = about.description.strip().partition("\n")[0] if about else ""
            says = f": {first}" if first else ""
            yield f"{within}{name}: is missing; must be {about.type if about else 'any'}{says}"
        case "additionalProperties":
            known = properties_of(error.schema, root)
            for name in error.instance:
                if member_of(name, error.schema, root) is None:
                    yield f"{within}{name}: unknown argument{did_you_mean(name, known)}"
        case "type" | "enum" | "const" | "anyOf" | "oneOf":
            yield f"{path or 'arguments'}: must be {type_text(error.schema, root)}, not {short(error.instance)}"
        case _:
            yield f"{path or 'arguments'}: {error.message}"


def _missing(error: Any) -> str | None:
    """Return the missing name. Each has its own error, and only the message contains the name."""
    return next((each for each in as_items(error.validator_value) if error.message.startswith(f"{each!r} is ")), None)


def typed_value(text: str, schema: object, root: Schema, *, called: str, checked: bool) -> Any:
    """Convert a string to the type of the argument *called*, whose *schema* is a part of *root*.

    Raises:
        WrongArguments: the schema does not allow the value. If not *checked*, the string is returned instead.
    """
    choices = alternatives(schema, root)
    for choice in choices:
        for value in fixed_values(choice):
            if text == (value if isinstance(value, str) else json.dumps(value)):
                return value
    free = {kind_of(choice): choice for choice in reversed(choices) if not fixed_values(choice)}
    bracket = {"[": "array", "{": "object"}.get(text[:1])
    if bracket and bracket in free and ("string" not in free or _is_json(text)):
        return json_value(text, called=called)
    for kind in _SIMPLE_TYPES:
        if kind in free and (value := _converted(text, kind)) is not _NONE:
            return value
    if "array" in free:
        item = free["array"].get("items", {})
        return [typed_value(text, item, root, called=called, checked=checked)]
    if None in free or not choices:
        return json_value(text, called=called) if _is_json(text) else text
    if not checked:
        return text
    values = [value for choice in choices for value in fixed_values(choice) if isinstance(value, str)]
    wants = type_text(schema, root)
    example = f""", such as {called}:='{{"name": "value"}}'""" if wants == "object" else ""
    raise WrongArguments(f"{called}: must be {wants}{example}, not {short(text)}{did_you_mean(text, values)}")


def json_value(text: str, *, called: str) -> Any:
    """Parse a string as JSON.

    Raises:
        WrongArguments: it is not JSON.
    """
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise WrongArguments(f"{called}: not JSON at character {error.pos + 1}: {error.msg}") from None
    except (ValueError, RecursionError):
        raise WrongArguments(f"{called}: not JSON: a number is too long, or it is nested too deeply") from None


def _with_its_file(word: str) -> str:
    """Return the word with the content of its file, if it is `name:=@FILE`."""
    name, _, text = word.partition("=")
    return f"{name}={_with_file(text, called=name[:-1])}" if name.endswith(":") else word


def _with_file(text: str, *, called: str) -> str:
    """Return the string, or the JSON in the file that `@FILE` names."""
    if not text.startswith("@"):
        return text
    try:
        content = Path(text[1:]).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise WrongArguments(f"{called}: {text[1:]}: {why}") from None
    json_value(content, called=f"{called}: {text[1:]}")
    return content


def _converted(text: str, kind: str) -> Any:
    """Return the value of a simple type that a string means, or `_NONE`."""
    match kind:
        case "string":
            return text
        case "null" if text == "null":
            return None
        case "boolean":
            return _TRUTH.get(text.lower(), _NONE)
        # Python rejects longer integers.
        case "integer" | "number" if re.fullmatch(r"[+-]?\d{1,1000}", text, re.ASCII):
            return int(text)
        case "number" if re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
            return float(text) if math.isfinite(float(text)) else _NONE
        case _:
            return _NONE


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _object(whole: str) -> dict[str, Any]:
    value = json_value(whole, called="--args")
    if not isinstance(value, dict):
        raise WrongArguments(f"--args: must be a JSON object of arguments, not {short(value)}")
    return cast("dict[str, Any]", value)


def _add(word: str, arguments: dict[str, Any], typed: set[tuple[str, ...]], root: Schema, *, checked: bool) -> None:
    name, equals, text = word.partition("=")
    exact = name.endswith(":") and name not in properties_of(root, root)
    name = name[:-1] if exact else name
    if not equals or not name:
        hint = "; use --args for a whole object" if word.startswith("{") else ""
        raise WrongArguments(f"{word}: must be name=value, or name:=JSON{hint}")
    path, schema = _resolved(name, root)
    if schema is None and not exact and checked:
        near = _nearest(name, root, root)
        hint = f'did you mean "{near}"?' if near else choices(properties_of(root, root))
        raise WrongArguments(f"{name}: unknown argument; {hint}")
    value = json_value(text, called=name) if exact else typed_value(text, schema, root, called=name, checked=checked)
    holder = _holder(path, arguments, called=name)
    if path not in typed:
        holder[path[-1]] = value
    elif isinstance(holder[path[-1]], list) and isinstance(value, list) and not exact:
        holder[path[-1]] += value
    else:
        raise WrongArguments(f"{name}: is given twice")
    typed.add(path)


def _holder(path: tuple[str, ...], arguments: dict[str, Any], *, called: str) -> dict[str, Any]:
    """Return the object that contains the last step of the path, and create it if necessary."""
    holder = arguments
    for step in path[:-1]:
        inner: Any = holder.setdefault(step, {})
        if not isinstance(inner, dict):
            raise WrongArguments(f"{called}: {step} is already given as {short(inner)}")
        holder = cast("dict[str, Any]", inner)
    return holder


def _resolved(name: str, root: Schema) -> tuple[tuple[str, ...], object]:
    """Return the path of the argument and its schema, which is None if the tool has no such argument."""
    schema = member_of(name, root, root)
    if schema is not None:
        return (name,), schema
    # A member of an object, unless the name of an argument contains a dot.
    path: tuple[str, ...] = ()
    schema, rest = root, name
    while rest:
        step, _, rest = rest.partition(".")
        schema = member_of(step, schema, root)
        if schema is None:
            return (name,), None
        path = (*path, step)
    return path, schema


def _nearest(name: str, schema: object, root: Schema) -> str | None:
    """Return the most similar known argument. Each step of the path is compared separately."""
    known = properties_of(schema, root)
    step, _, rest = name.partition(".")
    holder = closest(step, known)
    inner = _nearest(rest, known[holder], root) if rest and holder else None
    return closest(name, known) if inner is None else f"{holder}.{inner}"

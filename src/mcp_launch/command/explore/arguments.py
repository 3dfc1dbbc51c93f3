"""What was typed, `lines=3 tags=a tags=b filter.since=2026`, becomes the arguments that a tool's schema asks for.

The schema decides what a text is: where it allows text, `3` stays text. `name:=JSON` says it exactly. What was typed
wrong is named by its argument, with what the schema wants there; nothing is sent then.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from mcp_launch.command.explore.json_schema import Schema, alternatives, kind_of, properties_of
from mcp_launch.command.explore.nearest import did_you_mean, there_are
from mcp_launch.command.explore.signature import arguments_of, type_text
from mcp_launch.json_values import as_items, as_members

__all__ = ["WrongArguments", "read_arguments", "read_json"]

_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class WrongArguments(ValueError):  # noqa: N818 - says what is wrong, which a suffix would not
    """What was typed cannot be the arguments of the tool."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        """What is wrong, an argument at a time."""
        super().__init__("; ".join(self.faults))


def read_arguments(
    words: Iterable[str], schema: Schema, *, whole: str | None = None, checked: bool = True
) -> dict[str, Any]:
    """The arguments of a tool, from words such as `name=value`.

    Args:
        words: `name=value` by the type in the schema, again for each item of an array; `name:=JSON` and
            `name:=@FILE` as they are; `outer.inner=value` for a member of an object.
        schema: the tool's input schema.
        whole: a JSON object of arguments, or `@FILE` with one; single words win over it.
        checked: False for a server that is to be tried with arguments that its schema does not allow.

    Raises:
        WrongArguments: something is not as the schema wants it, all of it listed.
    """
    arguments = _object(whole) if whole is not None else {}
    faults: list[str] = []
    typed: set[tuple[str, ...]] = set()
    for word in words:
        try:
            _add(word, arguments, typed, schema, checked=checked)
        except _Fault as fault:
            faults.append(str(fault))
    if checked and not faults:
        faults.extend(_misfits(arguments, schema))
    if faults:
        raise WrongArguments(faults)
    return arguments


def read_json(text: str, *, called: str) -> Any:
    """The JSON value of a text, or of the file that `@FILE` names.

    Raises:
        WrongArguments: there is none.
    """
    try:
        return _json(text, called)
    except _Fault as fault:
        raise WrongArguments([str(fault)]) from None


class _Fault(ValueError):  # noqa: N818 - caught where it is raised
    """One thing that is wrong."""


def _object(whole: str) -> dict[str, Any]:
    value = read_json(whole, called="--args")
    if not isinstance(value, dict):
        raise WrongArguments([f"--args: must be a JSON object of arguments, not {_said(value)}"])
    return cast("dict[str, Any]", value)


def _json(text: str, called: str) -> Any:
    if text.startswith("@"):
        try:
            text = Path(text[1:]).expanduser().read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise _Fault(f"{called}: {text[1:]}: {why}") from None
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise _Fault(f"{called}: not JSON at character {error.pos + 1}: {error.msg}") from None
    except (ValueError, RecursionError):
        raise _Fault(f"{called}: not JSON: a number or a nesting beyond what can be read") from None


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _add(word: str, arguments: dict[str, Any], typed: set[tuple[str, ...]], root: Schema, *, checked: bool) -> None:
    name, equals, text = word.partition("=")
    exact = name.endswith(":") and name not in properties_of(root, root)
    name = name[:-1] if exact else name
    if not equals or not name:
        hint = "; give a whole object with --args" if word.startswith("{") else ""
        raise _Fault(f"{word}: must be name=value, or name:=JSON{hint}")
    path, schema = _meant(name, root)
    if schema is None and not exact and checked:
        known = list(properties_of(root, root))
        raise _Fault(f"{name}: there is no such argument{did_you_mean(name, known) or f'; {there_are(known)}'}")
    value = _json(text, name) if exact else _typed(text, {} if schema is None else schema, root, name, checked=checked)
    holder = arguments
    for step in path[:-1]:
        inner: Any = holder.setdefault(step, {})
        if not isinstance(inner, dict):
            raise _Fault(f"{name}: {step} is given as {_said(inner)} already")
        holder = cast("dict[str, Any]", inner)
    if path not in typed:
        holder[path[-1]] = value
    elif isinstance(holder[path[-1]], list) and isinstance(value, list) and not exact:
        holder[path[-1]] += value
    else:
        raise _Fault(f"{name}: is given twice")
    typed.add(path)


def _meant(name: str, root: Schema) -> tuple[tuple[str, ...], object]:
    """Where the argument stands, and its schema; None for one that the schema does not know."""
    schema = _member(name, root, root)
    if schema is not None:
        return (name,), schema
    # A member of an object, unless the name of an argument has a dot in it.
    path: tuple[str, ...] = ()
    schema, rest = root, name
    while rest:
        step, _, rest = rest.partition(".")
        schema = _member(step, schema, root)
        if schema is None:
            return (name,), None
        path = (*path, step)
    return path, schema


def _member(name: str, schema: object, root: Schema) -> object:
    """The schema of a member, also where the object has no list of them; None where it cannot be there."""
    known = properties_of(schema, root)
    if name in known:
        return known[name]
    for each in alternatives(schema, root):
        for pattern, part in as_members(each.get("patternProperties")).items():
            if _matches(pattern, name):
                return part
        more = each.get("additionalProperties")
        if isinstance(more, dict) or more is True:
            return cast("object", more)
        # Nothing is said of any member: then there may be all of them.
        if more is None and not known and kind_of(each) in ("object", None):
            return {}
    return None


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def _typed(text: str, schema: object, root: Schema, name: str, *, checked: bool) -> Any:
    choices = alternatives(schema, root)
    for choice in choices:
        for value in _fixed(choice):
            if text == (value if isinstance(value, str) else json.dumps(value)):
                return value
    free = {kind_of(choice): choice for choice in reversed(choices) if not _fixed(choice)}
    bracket = {"[": "array", "{": "object"}.get(text[:1])
    if bracket and bracket in free and ("string" not in free or _is_json(text)):
        return _json(text, name)
    for kind, read in _READERS.items():
        if kind in free and (value := read(text)) is not _NONE:
            return value
    if "array" in free and bracket is None:
        item = free["array"].get("items", {})
        return [_typed(text, item, root, name, checked=checked)]
    if None in free or not choices:
        return _json(text, name) if _is_json(text) else text
    if not checked:
        return text
    values = [value for choice in choices for value in _fixed(choice) if isinstance(value, str)]
    wants = type_text(schema, root)
    example = f""", such as {name}:='{{"name": "value"}}'""" if wants == "object" else ""
    raise _Fault(f"{name}: must be {wants}{example}, not {_said(text)}{did_you_mean(text, values)}")


def _fixed(schema: Schema) -> list[Any]:
    if "const" in schema:
        return [schema["const"]]
    return as_items(schema.get("enum"))


_NONE = object()


def _integer(text: str) -> Any:
    # Longer ones would be refused by Python, and are no numbers that anybody types.
    return int(text) if re.fullmatch(r"[+-]?\d{1,1000}", text, re.ASCII) else _NONE


def _number(text: str) -> Any:
    if (whole := _integer(text)) is not _NONE:
        return whole
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) and math.isfinite(float(text)):
        return float(text)
    return _NONE


def _boolean(text: str) -> Any:
    return _TRUTH.get(text.lower(), _NONE)


def _null(text: str) -> Any:
    return None if text == "null" else _NONE


def _string(text: str) -> Any:
    return text


# In this order: where text is allowed, it is text.
_READERS: dict[str, Callable[[str], Any]] = {
    "string": _string,
    "null": _null,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
}


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _misfits(arguments: dict[str, Any], schema: Schema) -> Iterator[str]:
    """What the schema says against the arguments; a schema that is none says nothing."""
    # Imported late, since that takes a tenth of a second; by name, since neither has types.
    jsonschema: Any = import_module("jsonschema")
    referencing: Any = import_module("referencing")

    kind = jsonschema.validators.validator_for(schema)
    try:
        kind.check_schema(schema)
        # An empty registry, so that no `$ref` makes it fetch anything.
        errors = list(kind(schema, registry=referencing.Registry()).iter_errors(arguments))
    except (jsonschema.SchemaError, referencing.exceptions.Unresolvable, RecursionError, re.error):
        return
    for error in errors:
        yield from _misfit(error, schema)


def _misfit(error: Any, root: Schema) -> Iterator[str]:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
    within = f"{path}." if path else ""
    known = list(properties_of(error.schema, root))
    match error.validator:
        case "required":
            missing = [
                name for name in error.validator_value if name not in error.instance and f"'{name}'" in error.message
            ]
            wanted = {each.name: each for each in arguments_of({**root, **error.schema})}
            for name in missing:
                about = wanted.get(name)
                says = f": {about.description.strip().splitlines()[0]}" if about and about.description.strip() else ""
                yield f"{within}{name}: is missing, must be {about.type if about else 'any'}{says}"
        case "additionalProperties" if known:
            for name in error.instance:
                if _member(name, error.schema, root) is None:
                    yield f"{within}{name}: there is no such argument{did_you_mean(name, known)}"
        case "type" | "enum" | "const" | "anyOf" | "oneOf":
            yield f"{path or 'arguments'}: must be {type_text(error.schema, root)}, not {_said(error.instance)}"
        case _:
            yield f"{path or 'arguments'}: {error.message}"


def _said(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."

"""Creates the errors that `decode` and `encode` raise."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from inspect import isawaitable
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, from_json

from acp_bindings._json import full_name, write_unchecked
from acp_bindings._models.validators import core_schema_of, strict_validate_of
from acp_bindings._problems.blame import LONGEST, Complaints
from acp_bindings._problems.mistakes import explained, hint_about, is_encoded_twice, mistake_in
from acp_bindings._problems.unfit import misplaced
from acp_bindings.errors import DecodeError, EncodeError, Finding, Issue, Path


def undecodable(type_: Any, data: Any, text: Any, error: Exception, *, strict: bool) -> DecodeError:
    """Return the error for *data* that is not a valid *type_*. *error* is the error of pydantic or the parser.

    *text* is the JSON of *data*, or *data* itself if it cannot be JSON.
    """
    if mistake := mistake_in(data, text):
        return DecodeError(_name(type_), [mistake])
    if isinstance(error, ValidationError):
        issues = _issues(type_, text, error, strict=strict)
    elif isinstance(error, PydanticSerializationError):
        issues = [_unwritable(data)]
    else:
        issues = [Issue((), "json_invalid", f"{_INVALID}{error}")]
    if len(issues) == 1 and isinstance(text, bytes | bytearray):
        issues = [_with_hint(issues[0], text)]
    return DecodeError(_name(type_), issues)


_INVALID = "Invalid JSON: "
"""The text of pydantic before the message of its parser."""


def _with_hint(issue: Issue, text: bytes | bytearray) -> Issue:
    """Return the only *issue* of *text*, with a hint."""
    if issue.rule == "json_invalid":
        hint = hint_about(text, issue.message.removeprefix(_INVALID))
    else:
        hint = "; it is JSON inside a string; was it encoded twice?" if is_encoded_twice(text) else ""
    return replace(issue, message=issue.message + hint)


def excused_null(type_: Any, text: bytes | bytearray, error: ValidationError) -> Finding:
    """Return the finding for *text*, which is null and becomes the empty response *type_*."""
    return Finding((), "default-on-null", tuple(_issues(type_, text, error, strict=False)))


def unencodable(value: Any) -> EncodeError:
    """The error that *value* cannot be written."""
    return EncodeError(_name(value if isinstance(value, type) else type(value)), _faults(value))


def _issues(type_: Any, text: bytes | bytearray, error: ValidationError, *, strict: bool) -> list[Issue]:
    issues = _complaints(type_).issues(text, strict=strict, first=error)
    if len(text) <= LONGEST and issues[0].rule != "json_invalid":
        return explained(issues, from_json(text))
    return issues


@cache
def _complaints(type_: Any) -> Complaints:
    return Complaints(core_schema_of(type_))


def _faults(value: Any) -> list[Issue]:
    """Return the issues of a *value* that cannot be written, without the values that errors of pydantic contain."""
    if not _is_writable(value):
        return [_unwritable(value)]
    if issues := [*_foreign(value, ())] or [*_misfits(value, ())]:
        return issues
    return [Issue((), "model_type", "It contains a dict or an object of the wrong class")]


def _is_writable(value: Any) -> bool:
    try:
        from_json(write_unchecked(value), allow_inf_nan=False)
    except (ValueError, RecursionError):
        return False
    return True


_DEEPEST = 200


def _unwritable(value: Any) -> Issue:
    """Return the issue of the innermost part of *value* that cannot be JSON."""
    path: Path = ()
    while len(path) < _DEEPEST:
        inner = next(((step, part) for step, part in _parts(value) if not _is_writable(part)), None)
        if inner is None and isinstance(value, BaseModel):
            # A map may be writable separately, because keys are converted to strings in a field without a type.
            inner = next(((step, part) for step, part in _parts(value) if _has_odd_names(part)), None)
        if inner is None and isinstance(value, dict | list | tuple) and not _has_odd_names(cast("object", value)):
            break  # its depth is the only problem
        if inner is None:
            return Issue(path, "not_json", _why_unwritable(cast("object", value)))
        path, value = (*path, inner[0]), inner[1]
    return Issue((), "not_json", "It contains itself, or is nested too deep")


def _why_unwritable(value: object) -> str:
    match value:
        case float() | int():
            return "NaN, infinity and integers of over 4300 digits cannot be sent"
        case str():
            return "A lone surrogate cannot be sent"
        case dict():
            return "A key in it cannot be sent"
        case BaseModel() if not _is_writable([name for name, _ in _parts(value)]):
            return "A key in it cannot be sent"
        case type():
            return f"This is the class {full_name(value)}, not an object of it"
        case _:
            hint = "; is an await missing?" if isawaitable(value) else ""
            return f"An object of {full_name(type(value))} cannot be written as JSON{hint}"


def _has_odd_names(value: object) -> bool:
    names = [*cast("dict[object, Any]", value)] if isinstance(value, dict) else []
    return not (all(isinstance(name, str) for name in names) and _is_writable(names))


def _parts(value: Any) -> Iterable[tuple[str | int, Any]]:
    """Return the parts of an object, a map or a list, each with its step of the path."""
    if isinstance(value, BaseModel):
        fields = type(value).__pydantic_fields__
        known = ((fields[name].alias or name, part) for name, part in vars(value).items() if name in fields)
        return [*known, *(value.__pydantic_extra__ or {}).items()]
    if isinstance(value, dict):
        return [(str(name), part) for name, part in cast("dict[object, Any]", value).items()]
    return enumerate(cast("list[Any]", value)) if isinstance(value, list | tuple) else ()


def _foreign(value: Any, path: Path) -> Iterator[Issue]:
    """Yield the issues for dicts and objects of the wrong class in *value*."""
    if isinstance(value, BaseModel):
        for place, told in misplaced(value):
            yield Issue(path + place, "model_type", told)
    for step, part in _parts(value):
        yield from _foreign(part, (*path, step))


def _misfits(value: Any, path: Path) -> Iterator[Issue]:
    """Yield the issues for objects in *value* that violate the writer's rules."""
    if isinstance(value, BaseModel):
        text = write_unchecked(value)
        try:
            strict_validate_of(type(value))(text)
        except ValidationError as error:
            issues = _issues(type(value), text, error, strict=True)
            yield from (replace(issue, path=path + issue.path) for issue in issues)
            return
    # Fields that a class of a user adds were read as unknown fields of the generated class.
    for step, part in _parts(value):
        yield from _misfits(part, (*path, step))


def _name(type_: Any) -> str:
    """Return the name of *type_* in the specification. The name of an alias is looked up in the packages."""
    if isinstance(type_, type):
        return type_.__name__
    # Copies, because another thread may be importing.
    modules = [module for name, module in sys.modules.copy().items() if name.startswith("acp_bindings.v")]
    names = (name for module in modules for name, value in vars(module).copy().items() if value is type_)
    return next(names, None) or _spell(type_)


def _spell(type_: Any) -> str:
    origin, parts = get_origin(type_), get_args(type_)
    if origin is Annotated:
        return _name(parts[0])
    if origin in (Union, UnionType):
        return " | ".join("None" if part is type(None) else _name(part) for part in parts)
    if isinstance(origin, type):
        return f"{origin.__name__}[{', '.join(map(_name, parts))}]"
    return str(type_)

"""JSON in, models out, and back: `decode` by the reader's rules of the schema, `encode` by the writer's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, cast, get_args, get_origin, overload

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import (
    PydanticSerializationError,
    SchemaSerializer,
    core_schema,
    from_json,
)

from acp_bindings._blame import blame
from acp_bindings._filled import note_filled
from acp_bindings._model import Model, Response
from acp_bindings._numbers import refuse_names
from acp_bindings._text import TextReader, text_reader
from acp_bindings._types import Rule
from acp_bindings.errors import DecodeError, EncodeError, Finding, Issue

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from acp_bindings._complaints import Complaints
    from acp_bindings._findings import Witness

T = TypeVar("T")


# The first is for checkers that are too old for TypeForm (PEP 747), to which a union is no type of anything.
@overload
def decode(type_: type[T], data: Any, *, strict: bool = False, findings: list[Finding] | None = None) -> T: ...
@overload
def decode(type_: TypeForm[T], data: Any, *, strict: bool = False, findings: list[Finding] | None = None) -> T: ...
def decode(type_: Any, data: Any, *, strict: bool = False, findings: list[Finding] | None = None) -> Any:
    """Read *data* as *type_*, by the reader's rules of the schema.

    Members with `x-deserialize-*` rules read as their default, or lose their bad items, instead of failing. Unknown
    members are kept. Nothing is coerced: `"1"`, `true` and `1.0` are no integers.

    Args:
        type_: any name of a protocol package: a class (`v1.NewSessionRequest`), a union (`v1.McpServer`) or an alias.
        data: JSON text as `str`, `bytes` or `bytearray`, or JSON that is parsed already. Of members with the same name
            the last counts. Text nested more than 200 deep is refused, and so is a number beyond the range of floats.
        strict: apply the writer's rules instead: whatever the schema does not allow to be sent is an error.
        findings: a list that is added to for everything lost because a rule excused it: each member that reads as its
            default, item that is left out, and null that reads as empty. What is kept, such as unknown members and
            variants, is no finding. Nothing is added when the message is refused.

    Returns:
        An instance of *type_*. `null` reads as the empty response where a response requires nothing.

    Raises:
        DecodeError: *data* is not JSON or not a valid *type_*; `issues` says what and where, of the first 200 errors;
            of a message beyond 50 KB only the first bad item of each list is looked for.
    """
    read = _strict_reader(type_) if strict else _READERS.get(type_) or _reader(type_)
    text: Any = data
    try:
        if not isinstance(data, _BYTES):
            text = data.encode() if isinstance(data, str) else _write_unchecked(data)
        value = read(text)
    except ValidationError as error:
        if not strict and _is_null(data) and _is_class(type_, Response) and not _requires(type_):
            if findings is not None:
                findings.append(
                    Finding((), Rule.DEFAULT_ON_NULL.value, tuple(_issues(type_, error, text, strict=strict)))
                )
            return decode(type_, b"{}")
        raise DecodeError(_name(type_), _issues(type_, error, text, strict=strict)) from None
    except (ValueError, PydanticSerializationError) as error:
        raise DecodeError(_name(type_), [Issue((), "json_invalid", f"Invalid JSON: {error}")]) from None
    if findings is not None and not strict:
        findings += _witness(type_).findings(text)
    return value


def encode(value: Any) -> bytes:
    """*value* as compact JSON in UTF-8.

    What was omitted stays omitted and `null` stays `null`: only members that were read, set or filled are written, and
    tags.

    Args:
        value: a model, or any JSON value with models in it.

    Raises:
        EncodeError: a model holds what its constructor would have refused, because a list or dict in it was changed in
            place; or *value* holds what JSON cannot: NaN, half a character, itself. `issues` says what and where.
    """
    writer = value.__pydantic_serializer__ if isinstance(value, BaseModel) else _ANYTHING
    try:
        note_filled(value)
        text = writer.to_json(value, by_alias=True, exclude_unset=True, warnings="error")
        refuse_names(text)
    except (ValueError, RecursionError, PydanticSerializationError):
        raise EncodeError(type(value).__name__, _faults(value)) from None
    if text.find(b"null") >= 0 and (b"[null" in text or b",null" in text) and (issues := list(_null_items(value))):
        raise EncodeError(type(value).__name__, issues)
    return text


_ANYTHING = SchemaSerializer(core_schema.any_schema(), core_schema.CoreConfig(ser_json_inf_nan="constants"))


def _write_unchecked(value: Any) -> bytes:
    return _ANYTHING.to_json(value, by_alias=True, exclude_unset=True, warnings=False)


def _faults(value: Any) -> list[Issue]:
    """What is wrong with a *value* that cannot be written: pydantic tells too, but shows values, maybe secret ones."""
    try:
        text = _write_unchecked(value)
        from_json(text, allow_inf_nan=False)
        if isinstance(value, BaseModel):
            decode(type(value), text, strict=True)
    except DecodeError as error:
        return list(error.issues)
    except PydanticSerializationError as error:
        return [Issue((), "not_json", f"JSON cannot hold it: {error}")]
    except ValueError:
        return [Issue((), "not_json", "NaN, infinity and integers of over 4300 digits cannot be sent")]
    return [Issue((), "model_type", "An object in it is a plain dict or of another class than belongs there")]


def _null_items(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[Issue]:
    """Where null stands in a list that has no place for it, which pydantic writes without a word."""
    if isinstance(value, BaseModel):
        text = _write_unchecked(value)
        try:
            decode(type(value), text, strict=True)
        except DecodeError as error:
            document = from_json(text)
            for issue in error.issues:
                if issue.path and isinstance(issue.path[-1], int) and _at(document, issue.path) is None:
                    yield replace(issue, path=path + issue.path)
    elif isinstance(value, dict):
        for name, each in cast("dict[str, object]", value).items():
            yield from _null_items(each, (*path, name))
    elif isinstance(value, list):
        for index, each in enumerate(cast("list[object]", value)):
            yield from _null_items(each, (*path, index))


def _at(document: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        document = document[step]
    return document


_READERS: dict[Any, TextReader] = {}
"""What reads each type that has been asked for, so that a message costs one look-up."""


def _reader(type_: Any) -> TextReader:
    return _READERS.setdefault(type_, text_reader(_validate_of(type_), by_classes=_is_class(type_, Model)))


@cache
def _strict_reader(type_: Any) -> TextReader:
    return text_reader(partial(_validate_of(type_), strict=True), by_classes=_is_class(type_, Model))


def _validate_of(type_: Any) -> Any:
    if _is_class(type_, BaseModel):
        return _built(type_).__pydantic_validator__.validate_json
    return _adapter(type_).validator.validate_json


def _built(model: type[BaseModel]) -> type[BaseModel]:
    """Models are built when they are first used."""
    model.model_rebuild()
    return model


_BYTES = (bytes, bytearray)
_TEXT = (str, *_BYTES)


def _is_class(type_: Any, base: type) -> bool:
    return isinstance(type_, type) and issubclass(type_, base)


@cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    bare = get_args(type_)[0] if get_origin(type_) is Annotated else type_
    # A union of one is a class, which has settings of its own: pydantic takes no others then.
    config = None if _is_class(bare, BaseModel) else ConfigDict(strict=True, hide_input_in_errors=True)
    return TypeAdapter(type_, config=config)


def _requires(type_: type[BaseModel]) -> bool:
    return any(field.is_required() for field in type_.model_fields.values())


def _is_null(data: Any) -> bool:
    return data is None or (isinstance(data, _TEXT) and data.strip() in ("null", b"null"))


def core_schema_of(type_: Any) -> Any:
    """What pydantic-core reads *type_* by."""
    if _is_class(type_, BaseModel):
        return _built(type_).__pydantic_core_schema__
    return _adapter(type_).core_schema


_MOST = 200
"""How many errors are looked into: a list of a million bad items has as many, and nobody reads them."""


def _issues(type_: Any, error: ValidationError, text: bytes | bytearray, *, strict: bool) -> list[Issue]:
    errors = _complaints(type_).errors(text, error, strict=strict)
    issues = blame(core_schema_of(type_), errors[:_MOST])
    return [*issues, Issue((), "too_many", "More is wrong than these")] if len(errors) > _MOST else issues


@cache
def _complaints(type_: Any) -> Complaints:
    from acp_bindings._complaints import Complaints  # noqa: PLC0415 - only errors need it

    return Complaints(core_schema_of(type_))


@cache
def _witness(type_: Any) -> Witness:
    from acp_bindings._findings import Witness  # noqa: PLC0415 - only those pay for it who ask for findings

    return Witness(core_schema_of(type_))


def _name(type_: Any) -> str:
    """What the specification calls *type_*: a class knows its name, an alias is looked up where it is defined."""
    if isinstance(type_, type):
        return type_.__name__
    # Copies, because other threads may be importing.
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

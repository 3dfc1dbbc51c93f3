"""JSON in, models out, and back: `decode` by the reader's rules of the schema, `encode` by the writer's."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, overload

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticSerializationError

from acp_bindings._filled import note_filled
from acp_bindings._model import Model, Response
from acp_bindings._numbers import refuse_names
from acp_bindings._text import TextReader, text_reader
from acp_bindings._writing import write, write_unchecked

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from typing_extensions import TypeForm

    from acp_bindings._findings import Witness
    from acp_bindings.errors import Finding

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
        TypeError: *type_* is no type.
    """
    try:
        read = _strict_reader(type_) if strict else _READERS.get(type_) or reader_of(type_)
    except Exception:
        from acp_bindings import _mistakes  # noqa: PLC0415 - only errors need it

        _mistakes.refuse_no_type(type_, data)
        raise
    text: Any = data
    try:
        if not isinstance(data, _BYTES):
            text = data.encode() if isinstance(data, str) else write_unchecked(data)
        value = read(text)
    except (ValueError, PydanticSerializationError) as error:
        from acp_bindings import _refusals  # noqa: PLC0415 - only errors need it

        if not strict and isinstance(error, ValidationError) and _is_null(data) and _may_be_empty(type_):
            if findings is not None:
                findings.append(_refusals.excused_null(type_, text, error))
            return decode(type_, b"{}")
        raise _refusals.undecodable(type_, data, text, error, strict=strict) from None
    if findings is not None and not strict:
        findings += _witness(type_).findings(text)
    return value


def encode(value: object) -> bytes:
    """*value* as compact JSON in UTF-8.

    What was omitted stays omitted and `null` stays `null`: only members that were read, set or filled are written, and
    tags.

    Args:
        value: a model, or any JSON value with models in it.

    Raises:
        EncodeError: a model holds what its constructor would have refused, because a list or dict in it was changed in
            place; or *value* holds what JSON cannot: NaN, half a character, itself. `issues` says what and where.
    """
    try:
        note_filled(value)
        text = write(value)
        refuse_names(text)
    except (TypeError, ValueError, RecursionError):
        from acp_bindings import _refusals  # noqa: PLC0415 - only errors need it

        raise _refusals.unencodable(value) from None
    if text.find(b"null") >= 0 and (b"[null" in text or b",null" in text):
        from acp_bindings import _refusals  # noqa: PLC0415 - only null in lists needs it

        _refusals.refuse_null_items(value)
    return text


_READERS: dict[Any, TextReader] = {}
"""What reads each type that has been asked for, so that a message costs one look-up."""


def reader_of(type_: Any) -> TextReader:
    """What reads text as *type_*, by the reader's rules, and raises `ValueError`."""
    known = _READERS.get(type_)
    return known or _READERS.setdefault(type_, text_reader(_validate_of(type_), by_classes=_is_class(type_, Model)))


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
    from pydantic import TypeAdapter  # noqa: PLC0415 - only unions and aliases need it

    bare = get_args(type_)[0] if get_origin(type_) is Annotated else type_
    # A union of one is a class, which has settings of its own: pydantic takes no others then.
    config = None if _is_class(bare, BaseModel) else ConfigDict(strict=True, hide_input_in_errors=True)
    return TypeAdapter(type_, config=config)


def _may_be_empty(type_: Any) -> bool:
    """Whether *type_* is a response that requires nothing."""
    return _is_class(type_, Response) and not any(field.is_required() for field in type_.model_fields.values())


def _is_null(data: Any) -> bool:
    return data is None or (isinstance(data, _TEXT) and data.strip() in ("null", b"null"))


def core_schema_of(type_: Any) -> Any:
    """What pydantic-core reads *type_* by."""
    if _is_class(type_, BaseModel):
        return _built(type_).__pydantic_core_schema__
    return _adapter(type_).core_schema


@cache
def _witness(type_: Any) -> Witness:
    from acp_bindings._findings import Witness  # noqa: PLC0415 - only those pay for it who ask for findings

    return Witness(core_schema_of(type_))

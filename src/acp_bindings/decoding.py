"""JSON in, models out: `decode`, by the reader's rules of the schema."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from pydantic import BaseModel, ConfigDict, ValidationError

from acp_bindings._json import may_be_out_of_range, refuse_infinite, refuse_read_names
from acp_bindings._models.base import Model, Response, complete
from acp_bindings._models.embedding import within_own_types
from acp_bindings._models.reading import notes

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from typing_extensions import TypeForm

    from acp_bindings._problems.findings import Witness
    from acp_bindings.errors import Finding

__all__ = ["decode"]


Validate: TypeAlias = Callable[[bytes | bytearray], Any]
"""A `validate_json`: gives the object, or raises `ValueError`."""


def read_text(validate: Validate, text: bytes | bytearray) -> Any:
    """What *validate* reads in *text*, and what has to be done for it.

    `decode` and `Codec.read` have these lines too: a call would take a twentieth of their time.
    """
    odd, incomplete = notes
    value = validate(text)
    if notes[0] is not odd:
        look_again(text, value, incomplete)
    return value


def look_again(text: bytes | bytearray, value: object, incomplete: object) -> None:
    """Refuse *text* that was read as *value* although it is no JSON, or complete *value*.

    Args:
        text: what was read.
        value: what it was read as.
        incomplete: the second of the `notes` before.

    Raises:
        ValueError: a number in *text* is none of JSON, or none that Python has.
    """
    refuse_read_names(text)
    if may_be_out_of_range(text):
        refuse_infinite(value)
    if notes[1] is not incomplete:
        complete(value)


def unsure(validate: Validate) -> Validate:
    """The same as *validate*, where not all that it reads is in objects of the generated classes."""

    def read(text: bytes | bytearray) -> Any:
        value = validate(text)
        notes[0] = object()
        return value

    return read


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
        strict: apply the writer's rules instead: whatever the schema does not allow to be sent is an error. What only a
            notification carries may still be newer than the schema.
        findings: a list that is added to for everything lost because a rule excused it: each member that reads as its
            default, item that is left out, and null that reads as empty. What is kept, such as unknown members and
            variants, is no finding. Nothing is added when the message is refused.

    Returns:
        An instance of *type_*. `null` reads as the empty response where a response requires nothing.

    Raises:
        DecodeError: *data* is not JSON or not a valid *type_*; `issues` says what and where, of the first 200 errors;
            of a message beyond 50 KB only the first bad item of each list is looked for.
        TypeError: *type_* is no type, or *findings* no list.
    """
    # What every message goes through, and no more: small ones feel every look.
    try:
        validate = _VALIDATES[type_]
    except Exception:  # noqa: BLE001 - the first of its type, or no type: that is found out below
        validate = None
    if validate is None or strict:
        validate = _validate_for(type_, data, strict=strict)
    text = data
    try:
        if data.__class__ is not bytes:
            text = _text_of(data)
        odd, incomplete = notes
        value = validate(text)
        if notes[0] is not odd:
            look_again(text, value, incomplete)
    except ValueError as error:
        return _excused(type_, data, text, error, strict=strict, findings=findings)
    if findings is not None and not strict:
        if not isinstance(findings, list):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"findings is a list, which is added to, and no {type(findings).__name__}")
        findings += _witness(type_).findings(text)
    return value


def _validate_for(type_: Any, data: Any, *, strict: bool) -> Validate:
    """What reads *type_*, made if there is none yet.

    Raises:
        TypeError: it is no type; if *data* is one, they were mixed up.
    """
    try:
        return _strict_validate_of(type_) if strict else validate_of(type_)
    except Exception as error:
        from acp_bindings._problems import mistakes  # noqa: PLC0415 - only errors need it

        mistakes.refuse_no_type(type_, data, error)
        raise


def _excused(
    type_: Any, data: Any, text: Any, error: ValueError, *, strict: bool, findings: list[Finding] | None
) -> Any:
    """The empty response for the null that stands for one.

    Raises:
        DecodeError: *text* is anything else; what *error* says is wrong with it.
    """
    from acp_bindings._problems import refusals  # noqa: PLC0415 - only errors need it

    if not strict and isinstance(error, ValidationError) and _is_null(text) and _may_be_empty(type_):
        if findings is not None:
            findings.append(refusals.excused_null(type_, text, error))
        return decode(type_, b"{}")
    raise refusals.undecodable(type_, data, text, error, strict=strict) from None


_VALIDATES: dict[Any, Validate] = {}
"""What reads each type that has been asked for, so that a message costs one look-up."""


def validate_of(type_: Any) -> Validate:
    """What reads text as *type_* by the reader's rules, for `read_text`."""
    return _VALIDATES.get(type_) or _VALIDATES.setdefault(type_, _new_validate(type_))


@cache
def _strict_validate_of(type_: Any) -> Validate:
    return _new_validate(type_, strict=True)


def _new_validate(type_: Any, **how: Any) -> Validate:
    compiled = _built(type_).__pydantic_validator__ if _is_class(type_, BaseModel) else _adapter(type_).validator
    validate = partial(compiled.validate_json, **how) if how else compiled.validate_json
    if _is_class(type_, Model) and type_.__module__.startswith("acp_bindings."):
        return validate

    return unsure(validate)


def _built(model: type[BaseModel]) -> type[BaseModel]:
    """Models are built when they are first used."""
    model.model_rebuild()
    return model


def _text_of(data: Any) -> bytes | bytearray:
    """The JSON of *data*, which is text or parsed."""
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, bytes | bytearray):
        return data
    from acp_bindings.encoding import write_unchecked  # noqa: PLC0415 - only what is parsed needs it

    return write_unchecked(data)


def _is_class(type_: Any, base: type) -> bool:
    return isinstance(type_, type) and issubclass(type_, base)


@cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    from pydantic import PydanticUserError, TypeAdapter  # noqa: PLC0415 - only unions and aliases need it

    with within_own_types():
        try:
            return TypeAdapter(type_, config=ConfigDict(strict=True, hide_input_in_errors=True))
        except PydanticUserError as error:
            if error.code != "type-adapter-config-unused":
                raise
        # It is a class, which may have settings of its own: pydantic takes no others then.
        return TypeAdapter(type_)


def _may_be_empty(type_: Any) -> bool:
    """Whether *type_* is a response that requires nothing."""
    return _is_class(type_, Response) and not any(field.is_required() for field in type_.model_fields.values())


def _is_null(text: bytes | bytearray) -> bool:
    return text.strip(b" \t\r\n") == b"null"


def core_schema_of(type_: Any) -> Any:
    """What pydantic-core reads *type_* by."""
    if _is_class(type_, BaseModel):
        return _built(type_).__pydantic_core_schema__
    return _adapter(type_).core_schema


@cache
def _witness(type_: Any) -> Witness:
    from acp_bindings._problems.findings import Witness  # noqa: PLC0415 - only those pay for it who ask for findings

    return Witness(core_schema_of(type_))

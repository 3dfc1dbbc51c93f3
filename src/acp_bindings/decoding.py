"""JSON in, models out: `decode`, by the reader's rules of the schema."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, overload

from pydantic import ValidationError

from acp_bindings._json import may_be_out_of_range, refuse_infinite, refuse_read_names, write_unchecked
from acp_bindings._models.base import Response, complete
from acp_bindings._models.reading import notes
from acp_bindings._models.validators import (
    VALIDATES,
    Validate,
    core_schema_of,
    is_class,
    strict_validate_of,
    validate_of,
)

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from acp_bindings._problems.findings import Witness
    from acp_bindings.errors import Finding

__all__ = ["decode"]


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
        validate = VALIDATES[type_]
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
            raise TypeError(f"findings must be a list, not {type(findings).__name__}")
        findings += _witness(type_).findings(text)
    return value


def _validate_for(type_: Any, data: Any, *, strict: bool) -> Validate:
    """What reads *type_*, made if there is none yet.

    Raises:
        TypeError: it is no type; if *data* is one, they were mixed up.
    """
    try:
        return strict_validate_of(type_) if strict else validate_of(type_)
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


def _text_of(data: Any) -> bytes | bytearray:
    """The JSON of *data*, which is text or parsed."""
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, bytes | bytearray):
        return data
    return write_unchecked(data)


def _may_be_empty(type_: Any) -> bool:
    """Whether *type_* is a response that requires nothing."""
    return is_class(type_, Response) and not any(field.is_required() for field in type_.model_fields.values())


def _is_null(text: bytes | bytearray) -> bool:
    return text.strip(b" \t\r\n") == b"null"


@cache
def _witness(type_: Any) -> Witness:
    from acp_bindings._problems.findings import Witness  # noqa: PLC0415 - only those pay for it who ask for findings

    return Witness(core_schema_of(type_))

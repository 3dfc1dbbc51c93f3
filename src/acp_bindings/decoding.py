"""`decode` turns JSON into models by the reader's rules of the schema."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, overload

from pydantic import ValidationError

from acp_bindings._json import is_finite, may_be_out_of_range, refuse_read_names, write_unchecked
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
    """Return the value that *validate* reads in *text*, after the checks that it needs.

    `decode` and `Codec.read` repeat these lines, because a call would take 5 % of their time.
    """
    odd, incomplete = notes
    value = validate(text)
    if notes[0] is not odd:
        look_again(text, value, incomplete)
    return value


def look_again(text: bytes | bytearray, value: object, incomplete: object) -> None:
    """Refuse *text* that is not valid JSON although it was read as *value*, or complete *value*.

    Args:
        text: the JSON.
        value: the value that was read.
        incomplete: the second of the `notes` before reading.

    Raises:
        ValueError: a number in *text* is not allowed in JSON, or out of range for Python.
    """
    refuse_read_names(text)
    if may_be_out_of_range(text) and not is_finite(value):
        raise ValueError("number out of range")
    if notes[1] is not incomplete:
        complete(value)


T = TypeVar("T")


# The first is for type checkers without TypeForm (PEP 747), which do not accept unions as types.
@overload
def decode(type_: type[T], data: Any, *, strict: bool = False, findings: list[Finding] | None = None) -> T: ...
@overload
def decode(type_: TypeForm[T], data: Any, *, strict: bool = False, findings: list[Finding] | None = None) -> T: ...
def decode(type_: Any, data: Any, *, strict: bool = False, findings: list[Finding] | None = None) -> Any:
    """Return *data* as an object of *type_*, by the reader's rules of the schema.

    An invalid field with an `x-deserialize-*` rule becomes its default, or loses its invalid items, instead of failing.
    Unknown fields are preserved. Values are not coerced: `"1"`, `true` and `1.0` are not integers.

    Args:
        type_: a type of a protocol package: a class (`v1.NewSessionRequest`), a union (`v1.McpServer`) or an alias.
        data: JSON as `str`, `bytes` or `bytearray`, or parsed JSON. If a field occurs twice, the last one counts. Text
            that is nested more than 200 levels deep and numbers beyond the range of floats are refused.
        strict: apply the writer's rules instead, so that everything that must not be sent is an error. Values that
            occur only in notifications may still be newer than the schema.
        findings: a list to which each tolerated error is added: a field that became its default, an item that was
            dropped, and a null that became empty. Preserved data, such as unknown fields and variants, are not
            findings. Nothing is added if decoding fails.

    Returns:
        An object of *type_*. `null` is the empty response if the response has no required fields.

    Raises:
        DecodeError: *data* is not JSON or not a valid *type_*. `issues` has the first 200 errors with their paths. In a
            message of more than 50 KB, only the first invalid item of each list is reported.
        TypeError: *type_* is not a type, or *findings* is not a list.
    """
    # Every message passes here, so each line costs.
    try:
        validate = VALIDATES[type_]
    except Exception:  # noqa: BLE001 - a new type, or not a type: `_validate_for` decides
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
    """Return the method that reads *type_*, and build it if necessary.

    Raises:
        TypeError: *type_* is not a type. The message says if *data* is one, because the arguments are swapped then.
    """
    try:
        return strict_validate_of(type_) if strict else validate_of(type_)
    except Exception:
        from acp_bindings._problems import mistakes  # noqa: PLC0415 - only errors need it

        mistakes.refuse_no_type(type_, data)
        raise


def _excused(
    type_: Any, data: Any, text: Any, error: ValueError, *, strict: bool, findings: list[Finding] | None
) -> Any:
    """Return the empty response if *text* is a null in its place.

    Raises:
        DecodeError: otherwise, with the issues of *error*.
    """
    from acp_bindings._problems import refusals  # noqa: PLC0415 - only errors need it

    if not strict and isinstance(error, ValidationError) and text.strip(b" \t\r\n") == b"null" and _may_be_empty(type_):
        if findings is not None:
            findings.append(refusals.excused_null(type_, text, error))
        return decode(type_, b"{}")
    raise refusals.undecodable(type_, data, text, error, strict=strict) from None


def _text_of(data: Any) -> bytes | bytearray:
    """Return the JSON of *data*, which is a string or parsed JSON."""
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, bytes | bytearray):
        return data
    return write_unchecked(data)


def _may_be_empty(type_: Any) -> bool:
    """Return True if *type_* is a response without required fields."""
    return is_class(type_, Response) and not any(field.is_required() for field in type_.model_fields.values())


@cache
def _witness(type_: Any) -> Witness:
    from acp_bindings._problems.findings import Witness  # noqa: PLC0415 - only callers with `findings=` need it

    return Witness(core_schema_of(type_))

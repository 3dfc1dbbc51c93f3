"""The validators that read JSON as a type, built when a type is first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args, get_origin

from pydantic import BaseModel, ConfigDict

from acp_bindings._models.base import Model
from acp_bindings._models.embedding import within_own_types
from acp_bindings._models.reading import notes
from acp_bindings._models.types import Tagged

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Validate: TypeAlias = Callable[[bytes | bytearray], Any]
"""The `validate_json` method of a validator. It raises `ValueError`."""

VALIDATES: dict[Any, Validate] = {}
"""The method for each type that was used, so that `decode` needs only one lookup."""


def validate_of(type_: Any) -> Validate:
    """Return the method that reads *type_* by the reader's rules."""
    return VALIDATES.get(type_) or VALIDATES.setdefault(type_, _new_validate(type_))


@cache
def strict_validate_of(type_: Any) -> Validate:
    """Return the method that reads *type_* by the writer's rules."""
    return _new_validate(type_, strict=True)


def core_schema_of(type_: Any) -> Any:
    """Return the core schema of *type_*."""
    return _built(type_).__pydantic_core_schema__ if is_class(type_, BaseModel) else _adapter(type_).core_schema


def is_class(type_: Any, base: type) -> bool:
    """Return True if *type_* is a class derived from *base*."""
    return isinstance(type_, type) and issubclass(type_, base)


def _new_validate(type_: Any, **options: Any) -> Validate:
    validator: Any = _built(type_).__pydantic_validator__ if is_class(type_, BaseModel) else _adapter(type_).validator
    validate = partial(validator.validate_json, **options) if options else validator.validate_json
    if _is_generated(type_):
        return validate

    # Values outside of the generated classes do not set `notes`.
    def validate_and_note(text: bytes | bytearray) -> Any:
        value = validate(text)
        notes[0] = object()
        return value

    return validate_and_note


def _is_generated(type_: Any) -> bool:
    """Return True for a generated class, and for a union of generated classes with a discriminator."""
    if get_origin(type_) is Annotated and isinstance(type_.__metadata__[0], Tagged):
        return all(map(_is_generated, get_args(get_args(type_)[0])))
    return is_class(type_, Model) and type_.__module__.startswith("acp_bindings.")


def _built(model: type[BaseModel]) -> type[BaseModel]:
    model.model_rebuild()
    return model


@cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    from pydantic import PydanticUserError, TypeAdapter  # noqa: PLC0415 - only unions and aliases need it

    with within_own_types():
        try:
            return TypeAdapter(type_, config=ConfigDict(strict=True, hide_input_in_errors=True))
        except PydanticUserError as error:
            if error.code != "type-adapter-config-unused":
                raise
        # The type has a config of its own.
        return TypeAdapter(type_)

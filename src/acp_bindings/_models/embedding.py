"""The behavior of classes and unions of this library in types of users, such as models and routes of FastAPI.

Two habits of pydantic are harmful there. It dumps defaults unless `exclude_unset=True` is passed, and FastAPI does not
pass it. An omitted field would become `null`, which clears a value in v2. Its errors also contain the invalid values,
which may be secrets. So in a type of a user, two Python functions wrap each class and union: `_validate` and `_dump`.

Inside the classes of this library these functions would slow down `decode` and `encode` a lot. `decode`, `encode` and
the methods of `Model` hide values and exclude defaults themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, SerializationInfo
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError, ValidationError
from pydantic_core import core_schema as cs

T = TypeVar("T")

HIDDEN = "…"
"""The text that replaces a secret in `repr` and in errors."""


class AcpObject(BaseModel):
    """The base class of `Model`, for the modules that `Model` depends on."""

    model_config = ConfigDict(defer_build=True)

    def __before_dump__(self) -> None:
        """Count as set the default lists, maps and objects that were filled, and the tags of items in lists."""


_WITHIN_OWN_TYPES: ContextVar[bool] = ContextVar("_WITHIN_OWN_TYPES", default=False)


@contextmanager
def within_own_types() -> Generator[None]:
    """Mark the block as one in which pydantic makes core schemas for a class of this library, or for `decode`."""
    token = _WITHIN_OWN_TYPES.set(True)
    try:
        yield
    finally:
        _WITHIN_OWN_TYPES.reset(token)


def is_within_own_types() -> bool:
    """Return True in a block of `within_own_types`."""
    return _WITHIN_OWN_TYPES.get()


def embedded(schema: CoreSchema, **details: Any) -> CoreSchema:
    """Return *schema*, of a class or union, with the two functions around it."""
    details.setdefault("serialization", _DUMP)
    return cs.no_info_wrap_validator_function(_validate, schema, **details)


def embedded_class(cls: type[BaseModel]) -> CoreSchema:
    """Return the core schema of *cls* with the two functions around it.

    A type of a user has one schema for each reference. The reference of *cls* is for the schema with the functions. So
    the schemas inside it get other references. Its JSON schema is that of the class.
    """
    cls.model_rebuild()
    whole: Any = cls.__pydantic_core_schema__
    definitions = whole.get("definitions", [])
    schema = whole["schema"] if definitions else whole
    inner = _with_other_references(schema)
    inner.pop("ref", None)

    def describe(_: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(whole)

    described = {"pydantic_js_annotation_functions": [describe]}
    outer = embedded(inner, ref=schema.get("ref") or schema["schema_ref"], metadata=described)
    return cs.definitions_schema(outer, _with_other_references(definitions))


_SEQUENCES: frozenset[Any] = frozenset({list, tuple})


def _with_other_references(part: Any) -> Any:
    if part.__class__ in _SEQUENCES:
        return part.__class__(map(_with_other_references, part))
    if part.__class__ is not dict:
        return part
    # The default of a field is a value of the user, not a schema.
    kept = "default" if part.get("type") == "default" else None
    copy = {key: each if key == kept else _with_other_references(each) for key, each in part.items()}
    return copy | {key: f"{copy[key]}_inner" for key in ("ref", "schema_ref") if isinstance(copy.get(key), str)}


def _validate(given: Any, validate: Callable[[Any], Any]) -> Any:
    return validate_without_inputs(validate, given)


def validate_without_inputs(validate: Callable[..., T], /, *given: Any, **options: Any) -> T:
    """Call *validate*. Its error does not contain the values that were *given*."""
    try:
        return validate(*given, **options)
    except ValidationError as error:
        raise without_inputs(error) from None


def without_inputs(error: ValidationError) -> ValidationError:
    """Return *error* with "…" as the input of each of its errors, also for `errors()` and `json()`."""
    return of_lines(error.title, [line(each) for each in error.errors()])


def of_lines(title: str, lines: list[InitErrorDetails]) -> ValidationError:
    """Return the error with *lines* that an object called *title* raises."""
    return ValidationError.from_exception_data(title, lines, hide_input=True)


def line(error: ErrorDetails) -> InitErrorDetails:
    """Return the line of an error for `of_lines`."""
    kind, message, context = cast("Any", error["type"]), cast("Any", error["msg"]), error.get("ctx")
    made: InitErrorDetails = {"type": kind, "loc": error["loc"], "input": HIDDEN}
    if "url" not in error:  # an error of a user, possibly with the type of a pydantic error and another message
        made["type"] = PydanticCustomError(kind, message, context)
    elif context is not None:
        made["ctx"] = context
    return made


def _dump(value: Any, info: SerializationInfo) -> Any:
    """Return what is set in *value* as a dict."""
    if not isinstance(value, AcpObject):
        return value
    value.__before_dump__()
    if info.exclude_unset and info.mode == "json" and info.include is info.exclude is None:
        return value  # pydantic-core writes it faster than a dict
    options = {name: getattr(info, name) for name in _OPTIONS}
    return value.__pydantic_serializer__.to_python(value, **options, exclude_unset=True)


_DUMP = cs.plain_serializer_function_ser_schema(_dump, info_arg=True)

_OPTIONS = (
    "mode",
    "include",
    "exclude",
    "by_alias",
    "exclude_defaults",
    "exclude_none",
    "exclude_computed_fields",
    "round_trip",
    "serialize_as_any",
    "polymorphic_serialization",
    "context",
)
"""The options of a dump. Pydantic does not report two others to functions: `fallback` and `warnings`."""


def embed(cls: Any) -> None:
    """Have `TypeAdapter(cls)` behave like a `TypeAdapter` of other types with *cls*.

    It takes the validator and the serializer from the `__dict__` of *cls*, which have to call the functions there.
    The attributes of *cls* remain those that pydantic made, because a static method gives what it wraps.
    """
    validator, serializer = cls.__pydantic_validator__, cls.__pydantic_serializer__
    cls.__pydantic_validator__ = _Validator(validator)
    cls.__pydantic_serializer__ = _Serializer(serializer)


if TYPE_CHECKING:
    _StaticMethod = staticmethod[..., Any]
else:
    _StaticMethod = staticmethod


class _Validator(_StaticMethod):
    def __getattr__(self, name: str) -> Any:
        return partial(validate_without_inputs, getattr(self.__func__, name))


class _Serializer(_StaticMethod):
    def __getattr__(self, name: str) -> Any:
        def dump(value: Any, **options: Any) -> Any:
            if isinstance(value, AcpObject):
                value.__before_dump__()
            return getattr(self.__func__, name)(value, **{**options, "exclude_unset": True})

        return dump

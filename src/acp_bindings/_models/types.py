"""The annotations of generated classes: reading rules, union rules and bounded numbers.

All of them become options of pydantic-core's own validators. Python runs only for unusual parts of a message: a
tolerated invalid value, an unknown tag or an unknown field. The reading rules are plain marks. `reading` applies them
to the compiled fields, because they depend on the field's default. The others generate their own part of the core
schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core import core_schema as cs

from acp_bindings._models.embedding import embedded, is_within_own_types

T = TypeVar("T")


class Rule(Enum):
    """A rule for reading or showing a field, in addition to its type."""

    DEFAULT_ON_ERROR = "default-on-error"
    SKIP_INVALID_ITEMS = "skip-invalid-items"
    DEFAULT_ON_NULL = "default-on-null"
    OMITTABLE = "omittable"
    SECRET = "secret"  # noqa: S105
    ABSENT = "absent"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the type. Without this, pydantic would look for the mark among its own constraints."""
        return handler(source)


Lenient: TypeAlias = Annotated[T, Rule.DEFAULT_ON_ERROR]
"""An invalid value is read as the default (`x-deserialize-default-on-error`)."""

SkipInvalid: TypeAlias = Annotated[T, Rule.SKIP_INVALID_ITEMS]
"""Invalid items of the list are skipped (`x-deserialize-skip-invalid-items`)."""

LenientList: TypeAlias = Annotated[T, Rule.SKIP_INVALID_ITEMS, Rule.DEFAULT_ON_ERROR]
"""Invalid items of the list are skipped; a value that is not a list is read as the default (both keywords)."""

NullAsEmpty: TypeAlias = Annotated[T, Rule.DEFAULT_ON_NULL]
"""`null` is read as the empty list or map; any other invalid value is an error (`x-deserialize-default-on-null`)."""

Omittable: TypeAlias = Annotated[T, Rule.OMITTABLE]
"""None means that the field is omitted; `null` is not a valid value."""

Secret: TypeAlias = Annotated[T, Rule.SECRET]
"""A value that `repr` hides."""

Absent: TypeAlias = Annotated[T, Rule.ABSENT]
"""A field of other variants of the union only: an object that has it is not of this variant."""


def _bounded(least: int, most: int) -> Any:
    return Field(ge=least, le=most)


Int32: TypeAlias = Annotated[int, _bounded(-(2**31), 2**31 - 1)]
Int64: TypeAlias = Annotated[int, _bounded(-(2**63), 2**63 - 1)]
UInt16: TypeAlias = Annotated[int, _bounded(0, 2**16 - 1)]
UInt32: TypeAlias = Annotated[int, _bounded(0, 2**32 - 1)]
UInt64: TypeAlias = Annotated[int, _bounded(0, 2**64 - 1)]


class _Mark:
    """The base of objects in annotations, with a `repr` of the arguments. A dataclass would slow down each import."""

    def __repr__(self) -> str:
        """`Tagged(member='type')`."""
        said = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({said})"


class Within(_Mark):
    """A number in a range. A number that is written as an integer remains an integer, however large.

    A number too large for a float (`1e999`) is refused, because it could not be written back.
    """

    def __init__(self, *, ge: float | None = None, le: float | None = None) -> None:
        self.ge = ge
        self.le = le

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        least = None if self.ge is None else math.ceil(self.ge)
        most = None if self.le is None else math.floor(self.le)
        whole = cs.int_schema(ge=least, le=most, strict=True)
        real = cs.float_schema(ge=self.ge, le=self.le, strict=True, allow_inf_nan=False)
        # Integers fit the second as well, so its errors are enough; the first keeps them integers.
        number = cs.union_schema([(whole, INTEGER), (real, VALUE)], mode="left_to_right")
        return cs.nullable_schema(number) if type(None) in get_args(source) else number


Number: TypeAlias = Annotated[float, Within()]
"""A JSON number."""


class Tagged(_Mark):
    """A union with a tag: the value of *member* selects the variant before the object is read.

    An object with a known tag is read as the variant of that tag, and errors are those of this variant. An object with
    an unknown tag is read as the variant for unknown tags (`NotEnum`). If the union does not have that variant, or if
    the tag is missing, the object is read as the default variant (`DefaultUnless` or `UntaggedUnless`).
    """

    def __init__(self, member: str) -> None:
        self.member = member

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        by_tag: dict[Any, CoreSchema] = {}
        by_implied: dict[Any, CoreSchema] = {}
        fallbacks: list[CoreSchema | tuple[CoreSchema, str]] = []
        catch_alls: list[str] = []
        for arm in get_args(source) or (source,):
            schema = handler.generate_schema(arm)
            tags, implied = _tags(arm, self.member)
            (by_implied if implied else by_tag).update(dict.fromkeys(tags, schema))
            if implied or not tags:
                fallbacks.append((schema, fallback_label(arm)))
                catch_alls += [] if implied else [fallback_label(arm)]
        # A variant that requires the same tag takes precedence.
        for tag, schema in by_implied.items():
            by_tag.setdefault(tag, schema)
        described = {"pydantic_js_annotation_functions": [_without_odd_discriminator]}
        union: CoreSchema = cs.tagged_union_schema(by_tag, self.member, serialization=_AS_IT_IS, metadata=described)
        if fallbacks:
            union = cs.union_schema(
                [(union, TAGGED), *fallbacks],
                mode="left_to_right",
                serialization=_AS_IT_IS,
                metadata={CATCH_ALLS: catch_alls},
            )
        return union if is_within_own_types() else embedded(union)


def _without_odd_discriminator(union: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
    """Return pydantic's JSON schema without a `discriminator` that maps a tag to a union, which OpenAPI forbids."""
    described = handler(union)
    if not all(isinstance(each, str) for each in described.get("discriminator", {}).get("mapping", {}).values()):
        del described["discriminator"]
    return described


CATCH_ALLS = "acp_bindings_catch_alls"
"""The key in the metadata of a union for the labels of its catch-all variants, those for unknown tags."""

TAGGED, VALUE, NULL, INTEGER = "<tagged>", "<value>", "<null>", "<integer>"
"""Labels in error locations: for the variants with tags; for a value; and for null or an integer instead of it."""

_AS_IT_IS: Any = {"type": "any"}
"""Writes an object by its own class. Looking for its variant first would take twice as long."""


def fallback_label(arm: Any) -> str:
    """Return the label of the variant *arm* in error locations."""
    bare = get_args(arm)[0] if get_origin(arm) is Annotated else arm
    if get_origin(bare) is list:
        return f"list of {fallback_label(get_args(bare)[0])}"
    return getattr(bare, "__name__", "other")


def _tags(arm: Any, member: str) -> tuple[tuple[str, ...], bool]:
    """Return the tags of a variant, and True if it is also used when the tag is missing."""
    fields = getattr(arm, "__pydantic_fields__", None)
    if fields is None:
        bare = get_args(arm)[0]
        inner = [_tags(part, member) for part in get_args(bare) or (bare,)]  # a union of one is a class
        return tuple(dict.fromkeys(tag for tags, _ in inner for tag in tags)), any(implied for _, implied in inner)
    field = next((each for each in fields.values() if each.alias == member), None)
    if field is None:
        return (), False
    implied = any(isinstance(mark, DefaultUnless) for mark in field.metadata)
    return get_args(field.annotation), implied


class FirstMatch(_Mark):
    """A union without a tag: a value is read as the first variant that it fits."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        arms: list[CoreSchema | tuple[CoreSchema, str]] = [
            (handler.generate_schema(arm), fallback_label(arm)) for arm in get_args(source)
        ]
        union = cs.union_schema(arms, mode="left_to_right")
        return union if is_within_own_types() else embedded(union, serialization=None)  # its classes write themselves


class Compiled(_Mark):
    """A type with the core schema *schema*, which is not generated again for every class that has such a field."""

    def __init__(self, schema: CoreSchema) -> None:
        self.schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return self.schema


class When(_Mark):
    """The type applies if *member* is one of *values*. Otherwise the field is an unknown one and takes any value."""

    def __init__(self, member: str, *values: str) -> None:
        self.member = member
        self.values = values


class NotEnum(_Mark):
    """Any string except *known* (JSON Schema: `not: {enum}`): the tag of the variant for unknown tags."""

    def __init__(self, *known: str) -> None:
        self.known = known

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        described = described_by(lambda _handler: {"type": "string", "not": {"enum": list(self.known)}})
        return _other_text(self.known, metadata=described)


class DefaultUnless(_Mark):
    """The variant that is used if the tag is missing (serde: `default`), and never with the tags of *others*.

    The tag is written only if it was read.
    """

    def __init__(self, *others: str) -> None:
        self.others = others

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        not_text = cs.union_schema(_NOT_TEXT, mode="left_to_right")
        return cs.custom_error_schema(
            cs.union_schema([_other_text(self.others), not_text], mode="left_to_right"),
            _KNOWN_TAG,
            custom_error_message=_BELONGS_ELSEWHERE,
            metadata=described_by(lambda _handler: {"not": {"enum": list(self.others)}}),
        )


class UntaggedUnless(DefaultUnless):
    """The variant without a tag (serde: `untagged`): its tag is not written, unless an unknown one was read."""


_KNOWN_TAG, _BELONGS_ELSEWHERE = "known_tag", "This discriminator belongs to another variant"


def _other_text(known: tuple[str, ...], *, metadata: dict[str, Any] | None = None) -> CoreSchema:
    # Only unknown tags are checked here. A pattern would be slow to compile.
    def other(tag: str) -> str:
        if tag in known:
            raise PydanticCustomError(_KNOWN_TAG, _BELONGS_ELSEWHERE)
        return tag

    return cs.no_info_after_validator_function(other, cs.str_schema(strict=True), metadata=metadata)


def described_by(describe: Callable[[GetJsonSchemaHandler], dict[str, Any]]) -> dict[str, Any]:
    """Return metadata that gives a core schema without its own JSON schema one for `model_json_schema`."""

    def json_schema(_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return describe(handler)

    return {"pydantic_js_annotation_functions": [json_schema]}


_NOT_TEXT: list[CoreSchema | tuple[CoreSchema, str]] = [
    cs.none_schema(),
    cs.bool_schema(strict=True),
    cs.int_schema(strict=True),
    cs.float_schema(strict=True),
    cs.list_schema(),
    cs.dict_schema(),
]

NOTHING = cs.custom_error_schema(
    cs.literal_schema([object()]),
    "not_allowed",
    custom_error_message="Another field excludes this one",
    metadata=described_by(lambda _handler: {"not": {}}),
)
"""A core schema that does not accept any value."""

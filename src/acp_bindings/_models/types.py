"""The words that generated annotations are made of: reading rules, union rules, bounded numbers.

All of them end as options of pydantic-core's own validators, and Python runs only for what is odd in a message: a bad
value that a rule excuses, a tag that nobody knows, a member of no type. The reading rules are plain marks, which
`reading` works into the compiled fields, because they need to know the field's default. The others build their own
part of the schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core import core_schema as cs

T = TypeVar("T")


class Rule(Enum):
    """How one member is read or shown, beyond its type."""

    DEFAULT_ON_ERROR = "default-on-error"
    SKIP_INVALID_ITEMS = "skip-invalid-items"
    DEFAULT_ON_NULL = "default-on-null"
    OMITTABLE = "omittable"
    SECRET = "secret"  # noqa: S105
    ABSENT = "absent"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """That of the type alone: a mark that pydantic does not know it would look up among its own."""
        return handler(source)


Lenient: TypeAlias = Annotated[T, Rule.DEFAULT_ON_ERROR]
"""A bad value reads as the default (`x-deserialize-default-on-error`)."""

SkipInvalid: TypeAlias = Annotated[T, Rule.SKIP_INVALID_ITEMS]
"""A bad item is left out of the list (`x-deserialize-skip-invalid-items`)."""

LenientList: TypeAlias = Annotated[T, Rule.SKIP_INVALID_ITEMS, Rule.DEFAULT_ON_ERROR]
"""A bad item is left out, what is no list at all reads as the default (both keywords together)."""

NullAsEmpty: TypeAlias = Annotated[T, Rule.DEFAULT_ON_NULL]
"""`null` reads as empty, any other bad value is an error (`x-deserialize-default-on-null`)."""

Omittable: TypeAlias = Annotated[T, Rule.OMITTABLE]
"""None says that the member is omitted; the protocol has no `null` for it."""

Secret: TypeAlias = Annotated[T, Rule.SECRET]
"""A value that `repr` does not show."""

Absent: TypeAlias = Annotated[T, Rule.ABSENT]
"""A member that only another alternative of the union may have; a message that holds it is refused."""


def _bounded(least: int, most: int) -> Any:
    return Field(ge=least, le=most)


Int32: TypeAlias = Annotated[int, _bounded(-(2**31), 2**31 - 1)]
Int64: TypeAlias = Annotated[int, _bounded(-(2**63), 2**63 - 1)]
UInt16: TypeAlias = Annotated[int, _bounded(0, 2**16 - 1)]
UInt32: TypeAlias = Annotated[int, _bounded(0, 2**32 - 1)]
UInt64: TypeAlias = Annotated[int, _bounded(0, 2**64 - 1)]


class _Mark:
    """What an annotation says, shown as it is spelt; a dataclass would take half a millisecond of every import."""

    def __repr__(self) -> str:
        """`Tagged(member='type')`."""
        said = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({said})"


class Within(_Mark):
    """A number in a range; one that is spelt as an integer stays an integer, however large.

    What is too large for a float (`1e999`) is refused: it could only be written back as something else.
    """

    def __init__(self, *, ge: float | None = None, le: float | None = None) -> None:
        self.ge = ge
        self.le = le

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        least = None if self.ge is None else math.ceil(self.ge)
        most = None if self.le is None else math.floor(self.le)
        whole = cs.int_schema(ge=least, le=most, strict=True)
        real = cs.float_schema(ge=self.ge, le=self.le, strict=True, allow_inf_nan=False)
        # What is wrong is told of the second, which takes integers too: the first keeps them as they are.
        number = cs.union_schema([(whole, INTEGER), (real, VALUE)], mode="left_to_right")
        return cs.nullable_schema(number) if type(None) in get_args(source) else number


Number: TypeAlias = Annotated[float, Within()]
"""A JSON number."""


class Tagged(_Mark):
    """The union is decided by the value of *member*, before anything else in the object is looked at.

    A known tag with a bad payload is an error of that alternative. An unknown tag goes to the alternative that keeps
    everything (`Unlike`), no tag to the one that has it without saying (`Implied`), where the union has them.
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
        # A tag that goes without saying may be that of another alternative, which says it.
        for tag, schema in by_implied.items():
            by_tag.setdefault(tag, schema)
        tagged = cs.tagged_union_schema(by_tag, discriminator=self.member, serialization=_AS_IT_IS)
        if not fallbacks:
            return tagged
        return cs.union_schema(
            [(tagged, TAGGED), *fallbacks],
            mode="left_to_right",
            serialization=_AS_IT_IS,
            metadata={CATCH_ALLS: catch_alls},
        )


CATCH_ALLS = "acp_bindings_catch_alls"
"""Where the metadata of a union name, by their labels, the alternatives that are for a tag which nobody knows."""

TAGGED, VALUE, NULL, INTEGER = "<tagged>", "<value>", "<null>", "<integer>"
"""Labels in error locations: the alternatives that have tags; a value, or null or an integer in its place."""


_AS_IT_IS: Any = {"type": "any"}
"""An object is written by its own class. To look for the alternative that it is first would take twice as long."""


def fallback_label(arm: Any) -> str:
    """The label, in error locations, of the alternative *arm*."""
    bare = get_args(arm)[0] if get_origin(arm) is Annotated else arm
    if get_origin(bare) is list:
        return f"list of {fallback_label(get_args(bare)[0])}"
    return getattr(bare, "__name__", "other")


def _tags(arm: Any, member: str) -> tuple[tuple[str, ...], bool]:
    """The tags of an alternative, and whether it is also read where the tag is missing."""
    fields = getattr(arm, "__pydantic_fields__", None)
    if fields is None:
        bare = get_args(arm)[0]
        inner = [_tags(part, member) for part in get_args(bare) or (bare,)]  # a union of one is a class
        return tuple(dict.fromkeys(tag for tags, _ in inner for tag in tags)), any(implied for _, implied in inner)
    field = next((each for each in fields.values() if each.alias == member), None)
    if field is None:
        return (), False
    implied = any(isinstance(mark, Implied) for mark in field.metadata)
    return get_args(field.annotation), implied


class FirstMatch(_Mark):
    """The union has no tag: the first alternative that fits is the one."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        arms: list[CoreSchema | tuple[CoreSchema, str]] = [
            (handler.generate_schema(arm), fallback_label(arm)) for arm in get_args(source)
        ]
        return cs.union_schema(arms, mode="left_to_right")


class Compiled(_Mark):
    """The type is read by *schema*, which spares compiling the same again for every class that has such a member."""

    def __init__(self, schema: CoreSchema) -> None:
        self.schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return self.schema


class When(_Mark):
    """The type holds where *member* is one of *values*. Elsewhere the schema does not know it: it may be anything."""

    def __init__(self, member: str, *values: str) -> None:
        self.member = member
        self.values = values


class Unlike(_Mark):
    """A tag that is none of *known*: the alternative is for what is newer than this schema."""

    def __init__(self, *known: str) -> None:
        self.known = known

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        described = described_by(lambda _handler: {"type": "string", "not": {"enum": list(self.known)}})
        return _other_text(self.known, metadata=described)


class Implied(_Mark):
    """A tag that goes without saying: it is written only where it was said. The tags of *others* are refused."""

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


class Unsaid(Implied):
    """A tag that goes without saying, and is not written where it was said either."""


_KNOWN_TAG, _BELONGS_ELSEWHERE = "known_tag", "This tag belongs to another alternative"


def _other_text(known: tuple[str, ...], *, metadata: dict[str, Any] | None = None) -> CoreSchema:
    # Only what no alternative knows comes here. A pattern would call Python too, and take long to compile.
    def other(tag: str) -> str:
        if tag in known:
            raise PydanticCustomError(_KNOWN_TAG, _BELONGS_ELSEWHERE)
        return tag

    return cs.no_info_after_validator_function(other, cs.str_schema(strict=True), metadata=metadata)


def described_by(describe: Callable[[GetJsonSchemaHandler], dict[str, Any]]) -> dict[str, Any]:
    """The metadata by which `model_json_schema` describes a core schema that has no JSON schema of its own."""

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
    custom_error_message="Another member excludes this one",
    metadata=described_by(lambda _handler: {"not": {}}),
)
"""What no value satisfies."""

"""The bases of all generated classes: how a message is read, how a model is constructed, compared and shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache, cached_property
from inspect import Signature
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Generic, Self, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, InitErrorDetails, ValidationError

from acp_bindings._models.embedding import (
    HIDDEN,
    AcpObject,
    embed,
    embedded_class,
    is_within_own_types,
    validate_without_inputs,
    within_own_types,
)
from acp_bindings._models.fields import (
    dependent_on,
    due,
    is_tag,
    objects_in,
    omittable,
    signature_of,
    tags_of,
    takes_anything,
    when_derived,
)
from acp_bindings._models.reading import LENIENT_OBJECT, UNTYPED, Key, apply_rules, counting, keys_unlike, leaving_out
from acp_bindings._models.types import Rule


def known_member(message: object, name: str) -> Any:
    """The member of *message* with the Python name *name*; None where its class has no such member."""
    return getattr(message, name) if name in getattr(type(message), "__pydantic_fields__", ()) else None


SECRET_WHEREVER = frozenset({"env", "headers"})
"""Members that hold secrets also where the schema does not say so, as in an unknown kind of MCP server."""

ADDRESSES = frozenset({"url", "baseUrl", "base_url"})
"""Members that are URLs, in which there may be a password or a key."""


def members(model: BaseModel, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Of the *values* that a model has, those which are set, so that omitted and null differ, without secrets."""
    fields, secret = type(model).__pydantic_fields__, _secret(type(model))
    for name, value in values.items():
        if name not in fields:
            # What a newer schema put beside a secret may be one too.
            yield name, HIDDEN if secret or name in SECRET_WHEREVER else _discreet(str(name), value, values)
        elif name in model.__pydantic_fields_set__:
            yield name, _hide(value) if name in secret else _discreet(name, value, values)


def without_secrets(value: Any) -> Any:
    """A *value* that is no secret without those in it: a whole request may travel as plain JSON, in `proxy/successor`.

    Models in it hide their own.
    """
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        hidden = {name for name, each in given.items() if name in SECRET_WHEREVER and not isinstance(each, BaseModel)}
        return {name: HIDDEN if name in hidden else _discreet(name, each, given) for name, each in given.items()}
    return [without_secrets(each) for each in cast("list[object]", value)] if isinstance(value, list) else value


@cache
def _secret(cls: type[BaseModel]) -> frozenset[str]:
    return frozenset(name for name, info in cls.__pydantic_fields__.items() if Rule.SECRET in info.metadata)


def _discreet(name: str, value: Any, beside: Container[str]) -> Any:
    """The *value* of the member *name* without the secrets in it, where other members are *beside* it."""
    if name in ADDRESSES and isinstance(value, str):
        return _address(value)
    if name == "args" and "command" in beside:
        # Where keys are given that whoever lists the processes may see, but not whoever has the log.
        return [HIDDEN for _ in cast("list[object]", value)] if isinstance(value, list) else HIDDEN
    return without_secrets(value)


_URL = re.compile(r"(?P<scheme>(([\w+.-]+:)?//)?)(?P<authority>[^/?#]*)(?P<path>[^?#]*)((?P<mark>[?#]).*)?", re.DOTALL)
_AUTHORITY = re.compile(r"(?P<user>.*@)?(?P<host>([^@:\[\]]*|\[[^@\[\]]*\])(:\d*)?)", re.DOTALL)


def _address(url: str) -> str:
    """`https://…@example.com/mcp?…`: a URL without user-info, query and fragment; nothing of what is no URL."""
    found = _URL.fullmatch(url)
    authority = found and _AUTHORITY.fullmatch(found["authority"])
    if not found or not authority:
        # Such as a password in which "/" or "?" is not escaped: where it ends, nobody can tell.
        return HIDDEN
    user = f"{HIDDEN}@" if authority["user"] else ""
    rest = f"{found['mark']}{HIDDEN}" if found["mark"] else ""
    return f"{found['scheme']}{user}{authority['host']}{found['path']}{rest}"


def _hide(value: Any) -> Any:
    return dict.fromkeys(cast("dict[str, Any]", value), HIDDEN) if isinstance(value, dict) else HIDDEN


_Plan: TypeAlias = tuple[frozenset[str], dict[str, str], frozenset[str], Callable[..., object]]
"""What a constructor needs of its class: the members, the tags, the members that None omits, and what checks values."""

_PLANS: dict[type[BaseModel], _Plan] = {}
"""The plan of each class that has been constructed, so that an object costs one look-up."""


def _plan_of(cls: type[BaseModel]) -> _Plan:
    check = cls.__pydantic_validator__.validate_python
    return _PLANS.setdefault(cls, (frozenset(cls.__pydantic_fields__), tags_of(cls), omittable(cls), check))


def _wire_name(name: str) -> str:
    """The member *name* in camel case: what `to_camel` gives, which takes ten times as long for plain names.

    Members whose names in the schema differ from that have an alias of their own.
    """
    if name.isascii() and name.islower() and all(name.split("_")):
        words = name.title().replace("_", "")
        return words[0].lower() + words[1:]
    from pydantic.alias_generators import to_camel  # noqa: PLC0415 - no generated class needs it

    return to_camel(name)


class _Signature:
    """The signature of a constructor, worked out when somebody asks for it."""

    def __get__(self, instance: BaseModel | None, owner: type[BaseModel]) -> Signature:

        return signature_of(instance, owner)


# Pydantic declares a plain `Signature` where a descriptor does as well.
_SIGNATURE: Any = _Signature()


class Model(AcpObject):  # noqa: PLW1641 - what can change has no hash
    """An object of the protocol.

    Reading (`decode`) follows the reader's rules of the schema, constructing follows the writer's: every member by its
    Python name, of exactly its type. Members that the schema does not know are kept in `model_extra` and written back.
    """

    # These settings type checkers read, to see what a constructor takes.
    model_config = ConfigDict(extra="forbid", strict=True, validate_by_alias=False, validate_by_name=True)
    if not TYPE_CHECKING:
        # By these messages are read and written; here they hold at run time.
        model_config |= ConfigDict(
            alias_generator=_wire_name,
            defer_build=True,
            extra="allow",
            hide_input_in_errors=True,
            # An object is written as what it is, also where a class that it is derived from is expected.
            polymorphic_serialization=True,
            protected_namespaces=(),
            ser_json_inf_nan="constants",
            serialize_by_alias=True,
            validate_by_alias=True,
            validate_by_name=False,
        )

    def __init__(self, /, **members: Any) -> None:
        """Make the object of its members, by their Python names.

        A catch-all for what is newer than the schema, such as `OtherSessionUpdate`, also takes members that the schema
        does not know, by their wire names.

        Raises:
            TypeError: a name is unknown, or a dict stands where an object belongs.
            pydantic.ValidationError: a member is missing or not of its type. It shows no values.
        """
        cls = type(self)
        known, tags, omittable, check = _PLANS.get(cls) or _plan_of(cls)
        if not known.issuperset(members):
            _refuse_unknown(cls, members.keys() - known)
        for name in omittable:
            if members.get(name, ...) is None:
                del members[name]
        try:
            check(tags | members if tags else members, self_instance=self, strict=True, by_alias=False, by_name=True)
        except ValidationError as error:
            from acp_bindings._problems.unfit import refuse_unfit  # noqa: PLC0415 - only errors need it

            refuse_unfit(cls, members, error)
        for name, value in members.items():
            if type(value) not in _PLAIN:
                _accept(self, name, value)

    __signature__ = _SIGNATURE

    # The mark of pydantic's own constructor. Without it pydantic-core would run this one for each object that it reads.
    vars(__init__)["__pydantic_base_init__"] = True

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        """Pydantic's schema with the reading rules of each member worked into it."""
        if not is_within_own_types():
            return embedded_class(cls)
        schema = handler(source)
        body = _inside(handler.resolve_ref_schema(schema), "model")
        if "strict" not in body:
            # Strict is for scalars: an instance of a subclass is as good as one of the class.
            body["strict"] = False
            fields, members = cls.__pydantic_fields__, _inside(body, "model-fields")
            apply_rules(fields, members["fields"])
            if required := due(cls):
                body["schema"] = counting(body["schema"], required)
            if computed := {each.get("alias", each["property_name"]) for each in members["computed_fields"]}:
                body["schema"] = leaving_out(body["schema"], computed)
            if cls.model_config.get("extra") == "allow":  # as it is, unless a user wants it otherwise
                members["extras_schema"] = UNTYPED
                if names := [name for name, info in fields.items() if info.alias != name]:
                    members["extras_keys_schema"] = keys_unlike(names)
        return schema

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> dict[str, Any]:
        """Pydantic's JSON schema, which for writing requires the tags."""
        described = handler(core_schema)
        tags = [cls.__pydantic_fields__[name].alias for name in tags_of(cls)]
        if tags and handler.mode == "serialization":
            body = handler.resolve_ref_schema(described)
            body["required"] = [*dict.fromkeys([*body.get("required", ()), *tags])]
        return described

    @classmethod
    def __pydantic_on_complete__(cls) -> None:
        # In place of pydantic's, which has the wire names.
        cls.__signature__ = _SIGNATURE

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        # Nor is a user's own constructor run for what is read: its arguments are not the names on the wire.
        cls.__pydantic_custom_init__ = False
        if not cls.__module__.startswith("acp_bindings."):
            for forget in when_derived:
                forget()
        if cls.__pydantic_complete__:  # a user has set `defer_build=False`
            cls.model_rebuild(force=True)
        # A union is decided by the wire name of its tag, in messages and in instances alike.
        for name, info in cls.__pydantic_fields__.items():
            if info.alias and info.alias != name and is_tag(info):
                setattr(cls, info.alias, info.default)

    if not TYPE_CHECKING:
        # Type checkers would take these to mean that any attribute may be read and set.

        def __getattr__(self, name: str) -> Any:
            """The default of a member that has no attribute because pydantic read it, without `decode`, as omitted."""
            field = type(self).__pydantic_fields__.get(name)
            return super().__getattr__(name) if field is None or field.is_required() else field.get_default()

        def __setattr__(self, name: str, value: Any) -> None:
            """Set a member, under the rules of the constructor."""
            cls = type(self)
            if name.startswith("_") or isinstance(getattr(cls, name, None), property | cached_property):
                super().__setattr__(name, value)
            else:
                _refuse_frozen(cls, name)
                _assign(self, name, value)

        def __delattr__(self, name: str) -> None:
            """Omit a member: it reads as its default again and is not written."""
            field = type(self).__pydantic_fields__.get(name)
            if field is None:
                super().__delattr__(name)
            elif field.is_required() or name in tags_of(type(self)) or name in due(type(self)):
                raise AttributeError(f"{name!r} is required in {type(self).__name__}")
            else:
                _refuse_frozen(type(self), name)
                vars(self)[name] = field.get_default(call_default_factory=True, validated_data=vars(self))
                self.__pydantic_fields_set__.discard(name)

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:
        """The object of these *values*, unchecked, with its tags."""
        # A copy, as the set that is given becomes part of the object.
        made = super().model_construct(None if _fields_set is None else {*_fields_set}, **values)
        made.__pydantic_fields_set__.update(tags_of(cls), due(cls))
        return made

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with the members in *update* set under the rules of the constructor."""
        copied = super().model_copy(deep=deep)
        for name, value in (update or {}).items():
            _assign(copied, name, value)
        return copied

    if not TYPE_CHECKING:

        @classmethod
        def model_rebuild(cls, *, _parent_namespace_depth: int = 2, **options: Any) -> bool | None:
            with within_own_types():
                built = super().model_rebuild(_parent_namespace_depth=_parent_namespace_depth + 1, **options)
            if built:
                embed(cls)
            return built

        @classmethod
        def model_validate(cls, *given: Any, **options: Any) -> Self:
            return validate_without_inputs(super().model_validate, *given, **options)

        @classmethod
        def model_validate_json(cls, *given: Any, **options: Any) -> Self:
            return validate_without_inputs(super().model_validate_json, *given, **options)

        @classmethod
        def model_validate_strings(cls, *given: Any, **options: Any) -> Self:
            return validate_without_inputs(super().model_validate_strings, *given, **options)

        def __before_dump__(self) -> None:
            note_filled, fit = _writing()
            note_filled(self)
            try:  # noqa: SIM105 - `suppress` takes longer than `fit`
                fit(self)
            except ValueError:
                pass  # pydantic warns of items that do not fit

        def model_dump(self, **options: Any) -> dict[str, Any]:
            """Return what is set as a dict, as `encode` writes it. `exclude_unset` has no effect.

            The names are those on the wire, by which `model_validate` reads, unless you pass `by_alias=False`.
            """
            self.__before_dump__()
            return super().model_dump(**{**options, "exclude_unset": True})

        def model_dump_json(self, **options: Any) -> str:
            """Return what is set as JSON, with the options of pydantic. `exclude_unset` has no effect."""
            self.__before_dump__()
            return super().model_dump_json(**{**options, "exclude_unset": True})

    @property
    def model_extra(self) -> dict[str, Any] | None:
        """The members that the schema does not know, by their names in the message."""
        _complete(self)
        return self.__pydantic_extra__

    def __eq__(self, other: object) -> bool:
        """Equal members, of the same class; one that is omitted differs from one that is null."""
        if isinstance(other, Model):
            _complete(self)
            _complete(other)
        equal = super().__eq__(other)
        return _nulls(self) == _nulls(other) if equal is True and isinstance(other, Model) else equal

    def __repr_args__(self) -> Any:
        """What is set, so that omitted and null differ, without the values of secrets."""
        values: dict[str, Any] = {}
        for name, value in super().__repr_args__():
            # Known members come first: one whose name is there already is an unknown member.
            values[Key(name) if name in values else cast("str", name)] = value
        yield from members(self, values)


@cache
def _writing() -> tuple[Callable[[Any], object], Callable[[Any], object]]:
    from acp_bindings._writing import fit, note_filled  # noqa: PLC0415 - only what is written needs it

    return note_filled, fit


def _assign(model: Model, name: str, value: Any) -> None:
    """Set a member; in a catch-all also one that the schema does not know."""
    cls, members = type(model), vars(model)
    if value is None and name in omittable(cls):
        members[name] = None
        model.__pydantic_fields_set__.discard(name)
    elif name in cls.__pydantic_fields__:
        trial = model.__copy__()
        trial.__pydantic_extra__ = {}  # an unknown member may have this name
        assign = cls.__pydantic_validator__.validate_assignment
        try:
            assign(trial, name, value, strict=True)
        except ValidationError as error:
            from acp_bindings._problems.unfit import refuse_unfit  # noqa: PLC0415 - only errors need it

            refuse_unfit(cls, {name: value}, error)
        _accept(trial, name, value)
        for each in dependent_on(cls, name) & trial.__pydantic_fields_set__:
            validate_without_inputs(assign, trial, each, vars(trial)[each], strict=True)
        members[name] = vars(trial)[name]
        model.__pydantic_fields_set__.add(name)
    elif model.__pydantic_extra__ is not None and _is_newer(cls, name):
        model.__pydantic_extra__[name] = value
    else:
        raise AttributeError(_unexpected(cls, name))


def _refuse_frozen(cls: type[Model], name: str) -> None:
    field, frozen = cls.__pydantic_fields__.get(name), cls.model_config.get("frozen")
    if frozen or (field is not None and field.frozen):
        kind = "frozen_instance" if frozen else "frozen_field"
        wrong: InitErrorDetails = {"type": kind, "loc": (name,), "input": None}
        raise ValidationError.from_exception_data(cls.__name__, [wrong], hide_input=True)


def _inside(schema: Any, kind: str) -> Any:
    """*schema* without the validators of a user's own around it: the part of the type *kind*."""
    while schema["type"] != kind:
        schema = schema["schema"]
    return schema


class Extensible(Model):
    """An object that may carry `_meta`."""

    # The alias stands within `Annotated`, because type checkers would take `= Field(alias=…)` for the argument's name.
    meta: Annotated[dict[str, Any] | None, LENIENT_OBJECT, Field(alias="_meta")] = None
    """Data for which the protocol has no place; nobody may rely on what others put here."""


class Response(Extensible):
    """The result of a method; `null` reads as the empty one where nothing is required."""


if TYPE_CHECKING:
    Answer_co = TypeVar("Answer_co", covariant=True)

    class RequestParams(Generic[Answer_co]):
        """The params of a request whose response has the type `Answer_co`; matches `acp_bindings.methods.Asks`.

        Only type checkers see this base class. At run time, look the response type up in `METHODS`.
        """

        def __answer__(self) -> Answer_co: ...
        @classmethod
        def __answer_type__(cls) -> type[Answer_co]: ...
        @classmethod
        def __exchange__(cls) -> tuple[Self, Answer_co]: ...

    class NotificationParams:
        """The params of a notification. Only type checkers see this base class."""

else:

    class _Unseen:
        """The run-time value of `RequestParams[…]` and `NotificationParams`, which adds no base to a class."""

        def __getitem__(self, answer: Any) -> Self:
            return self

        def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[()]:
            return ()

    RequestParams = NotificationParams = _Unseen()


def complete(value: object) -> None:
    """Complete every object in *value* that was just read."""
    waiting: list[object] = [value]
    seen: set[int] = set()
    for each in waiting:
        inside: Iterable[object] = ()
        if isinstance(each, BaseModel):
            if id(each) in seen:  # a user's validator has linked an object with what holds it
                continue
            seen.add(id(each))
            _complete(each)
            inside = vars(each).values()
        elif isinstance(each, dict):
            inside = cast("dict[object, object]", each).values()
        elif isinstance(each, list | tuple):
            inside = cast("Iterable[object]", each)
        waiting += [part for part in inside if isinstance(part, _HOLDERS)]


def _complete(model: BaseModel) -> None:
    """Complete an object that was read, perhaps by pydantic alone, without `decode`.

    A member that lacks its attribute, because a bad value was read as omitted, gets it. An unknown member that was read
    by a `Key` gets its name as plain text, by which it can be looked up.
    """
    members, fields = vars(model), type(model).__pydantic_fields__
    if lacking := fields.keys() - members.keys():
        # What a message must have is lacking only where `model_construct` made the object.
        members |= {name: None for name in lacking if not fields[name].is_required()}
    if (extra := model.__pydantic_extra__) and any(isinstance(name, Key) for name in extra):
        model.__pydantic_extra__ = {str(name): unknown for name, unknown in extra.items()}


_HOLDERS = (list, tuple, dict, BaseModel)
"""The types of values that are objects or may hold some."""

_PLAIN = {str, int, bool, NoneType}
"""The types of values that cannot stand in place of an object, nor hold one."""


def _refuse_unknown(cls: type[Model], unknown: set[str]) -> None:
    refused = [name for name in unknown if not _is_newer(cls, name)]
    if refused:
        raise TypeError(_unexpected(cls, min(refused)))


def _is_newer(cls: type[Model], name: str) -> bool:
    """Whether *cls* is a catch-all, in which *name* may be a member that the schema does not know."""
    return takes_anything(cls) and all(info.alias != name for info in cls.__pydantic_fields__.values())


def _accept(model: Model, name: str, given: Any) -> None:
    """Take in the objects that were *given* for the member *name*.

    A dict in place of an object is refused, because nobody would notice a misspelt name in it. The tags of the objects
    count as set from now on: inside of another object they are written also where one was read alone, without its tag.
    """
    held: Any = model.__dict__.get(name)
    if held is given and (plan := _PLANS.get(given.__class__)):
        # So it is for most objects, for which the loop below would do the same in three times as long.
        _, tags, _, _ = plan
        given.__pydantic_fields_set__.update(tags)
        return
    for each, taken in objects_in(given, held):
        if taken is not each:
            wanted = f"{type(model).__name__}.{name} must be {type(taken).__name__}(...)"
            raise TypeError(f"{wanted}, not a {type(each).__name__}; `decode` can make one from it")
        taken.__pydantic_fields_set__.update(_plan_of(type(taken))[1])


def _nulls(model: Model) -> set[str]:
    """The members that are set to null."""
    return {name for name in model.__pydantic_fields_set__ if vars(model).get(name, ...) is None}


def _unexpected(cls: type[Model], name: str) -> str:
    import difflib  # noqa: PLC0415 - a millisecond that only this error needs

    aliases = {info.alias: known for known, info in cls.__pydantic_fields__.items()}
    known = list(cls.__pydantic_fields__)
    guess = aliases.get(name) or next(iter(difflib.get_close_matches(name, known, n=1)), None)
    return f"{cls.__name__} has no field {name!r}" + (f"; did you mean {guess!r}?" if guess else "")

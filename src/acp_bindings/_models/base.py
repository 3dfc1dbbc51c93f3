"""The base classes of all generated classes: reading, constructing, comparing and showing models."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache, cached_property
from inspect import Signature
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Generic, Self, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, InitErrorDetails, ValidationError

from acp_bindings._lazy import closest
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
    """Return the field *name* of *message*; None if its class has no such field."""
    return getattr(message, name) if name in getattr(type(message), "__pydantic_fields__", ()) else None


SECRET_WHEREVER = frozenset({"env", "headers"})
"""Fields that contain secrets even if the schema does not say so, as in an unknown kind of MCP server."""

ADDRESSES = frozenset({"url", "baseUrl", "base_url"})
"""Fields with a URL, which may contain a password or a key."""


def members(model: BaseModel, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield those *values* of a model that are set, without secrets. So omitted and null differ."""
    fields, secret = type(model).__pydantic_fields__, _secret(type(model))
    for name, value in values.items():
        if name not in fields:
            # An unknown field beside a secret may be a secret too.
            yield name, HIDDEN if secret or name in SECRET_WHEREVER else _discreet(str(name), value, values)
        elif name in model.__pydantic_fields_set__:
            yield name, _hide(value) if name in secret else _discreet(name, value, values)


def without_secrets(value: Any) -> Any:
    """Return *value* without the secrets in it. A whole request may be plain JSON, in `proxy/successor`.

    Models in it hide their own secrets.
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
    """Return the *value* of the field *name* without secrets. *beside* has the names of the other fields."""
    if name in ADDRESSES and isinstance(value, str):
        return _address(value)
    if name == "args" and "command" in beside:
        # Arguments may contain keys, which must not appear in logs.
        return [HIDDEN for _ in cast("list[object]", value)] if isinstance(value, list) else HIDDEN
    return without_secrets(value)


_URL = re.compile(r"(?P<scheme>(([\w+.-]+:)?//)?)(?P<authority>[^/?#]*)(?P<path>[^?#]*)((?P<mark>[?#]).*)?", re.DOTALL)
_AUTHORITY = re.compile(r"(?P<user>.*@)?(?P<host>([^@:\[\]]*|\[[^@\[\]]*\])(:\d*)?)", re.DOTALL)


def _address(url: str) -> str:
    """Return a URL without user info, query and fragment: `https://…@example.com/mcp?…`. Hide invalid URLs."""
    found = _URL.fullmatch(url)
    authority = found and _AUTHORITY.fullmatch(found["authority"])
    if not found or not authority:
        # An unescaped "/" or "?" in a password hides its end.
        return HIDDEN
    user = f"{HIDDEN}@" if authority["user"] else ""
    rest = f"{found['mark']}{HIDDEN}" if found["mark"] else ""
    return f"{found['scheme']}{user}{authority['host']}{found['path']}{rest}"


def _hide(value: Any) -> Any:
    return dict.fromkeys(cast("dict[str, Any]", value), HIDDEN) if isinstance(value, dict) else HIDDEN


_Plan: TypeAlias = tuple[frozenset[str], dict[str, str], frozenset[str], Callable[..., object]]
"""The data of a class for its constructor: the fields, the tags, the fields that None omits, and the validator."""

_PLANS: dict[type[BaseModel], _Plan] = {}
"""The plan of each class that was constructed, so that a constructor needs only one lookup."""


def _plan_of(cls: type[BaseModel]) -> _Plan:
    check = cls.__pydantic_validator__.validate_python
    return _PLANS.setdefault(cls, (frozenset(cls.__pydantic_fields__), tags_of(cls), omittable(cls), check))


def _wire_name(name: str) -> str:
    """Return *name* in camel case, like `to_camel`, which takes ten times as long for simple names.

    Fields with other names in the schema have their own alias.
    """
    if name.isascii() and name.islower() and all(name.split("_")):
        words = name.title().replace("_", "")
        return words[0].lower() + words[1:]
    from pydantic.alias_generators import to_camel  # noqa: PLC0415 - no generated class needs it

    return to_camel(name)


class _Signature:
    """A descriptor that computes the signature of a constructor on access."""

    def __get__(self, instance: BaseModel | None, owner: type[BaseModel]) -> Signature:

        return signature_of(instance, owner)


# Pydantic declares a plain `Signature` where a descriptor does as well.
_SIGNATURE: Any = _Signature()


class Model(AcpObject):  # noqa: PLW1641 - what can change has no hash
    """An object of the protocol.

    `decode` follows the reader's rules of the schema. The constructor follows the writer's rules: it takes fields by
    their Python names, with exact types. Unknown fields are preserved in `model_extra` and written back.
    """

    # Type checkers use these settings to check calls of the constructor.
    model_config = ConfigDict(extra="forbid", strict=True, validate_by_alias=False, validate_by_name=True)
    if not TYPE_CHECKING:
        # These settings apply at run time, when messages are read and written.
        model_config |= ConfigDict(
            alias_generator=_wire_name,
            defer_build=True,
            extra="allow",
            # An object is written by its own class, also in a field of a base class.
            polymorphic_serialization=True,
            protected_namespaces=(),
            ser_json_inf_nan="constants",
            serialize_by_alias=True,
            validate_by_alias=True,
            validate_by_name=False,
        )

    def __init__(self, /, **members: Any) -> None:
        """Create an object from its fields, by their Python names.

        A catch-all for values newer than the schema, such as `OtherSessionUpdate`, also takes unknown fields, by their
        wire names.

        Raises:
            TypeError: a name is unknown, or there is a dict in place of an object.
            pydantic.ValidationError: a field is missing or has the wrong type. The error contains no values.
        """
        cls = type(self)
        known, tags, omittable, check = _PLANS.get(cls) or _plan_of(cls)
        if not known.issuperset(members):
            refused = [name for name in members.keys() - known if not _is_newer(cls, name)]
            if refused:
                raise TypeError(_unexpected(cls, min(refused)))
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

    # The mark of pydantic's own constructor. Without it, pydantic-core would call this one for each object it reads.
    vars(__init__)["__pydantic_base_init__"] = True

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        """Return the schema of pydantic, with the reading rules of each field added."""
        if not is_within_own_types():
            return embedded_class(cls)
        schema = handler(source)
        body = _inside(handler.resolve_ref_schema(schema), "model")
        if "strict" not in body:
            # Strict mode is for scalars. Instances of subclasses are accepted.
            body["strict"] = False
            fields, members = cls.__pydantic_fields__, _inside(body, "model-fields")
            apply_rules(fields, members["fields"])
            if required := due(cls):
                body["schema"] = counting(body["schema"], required)
            if computed := {each.get("alias", each["property_name"]) for each in members["computed_fields"]}:
                body["schema"] = leaving_out(body["schema"], computed)
            if cls.model_config.get("extra") == "allow":  # unless a user has changed it
                members["extras_schema"] = UNTYPED
                if names := [name for name, info in fields.items() if info.alias != name]:
                    members["extras_keys_schema"] = keys_unlike(names)
        return schema

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> dict[str, Any]:
        """Return the JSON schema of pydantic. For serialization, it requires the tags."""
        described = handler(core_schema)
        tags = [cls.__pydantic_fields__[name].alias for name in tags_of(cls)]
        if tags and handler.mode == "serialization":
            body = handler.resolve_ref_schema(described)
            body["required"] = [*dict.fromkeys([*body.get("required", ()), *tags])]
        return described

    @classmethod
    def __pydantic_on_complete__(cls) -> None:
        # The signature of pydantic has the wire names.
        cls.__signature__ = _SIGNATURE

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        # Reading does not call a constructor of a user, because its arguments are not the names on the wire.
        cls.__pydantic_custom_init__ = False
        if not cls.__module__.startswith("acp_bindings."):
            for forget in when_derived:
                forget()
        if cls.__pydantic_complete__:  # a user has set `defer_build=False`
            cls.model_rebuild(force=True)
        # Pydantic selects the variant of a union by the wire name of the tag, also for instances.
        for name, info in cls.__pydantic_fields__.items():
            if info.alias and info.alias != name and is_tag(info):
                setattr(cls, info.alias, info.default)

    if not TYPE_CHECKING:
        # With these methods, type checkers would allow any attribute.

        def __getattr__(self, name: str) -> Any:
            """Return the default of a field without an attribute, which pydantic read as omitted without `decode`."""
            field = type(self).__pydantic_fields__.get(name)
            return super().__getattr__(name) if field is None or field.is_required() else field.get_default()

        def __setattr__(self, name: str, value: Any) -> None:
            """Set a field, under the rules of the constructor."""
            cls = type(self)
            if name.startswith("_") or isinstance(getattr(cls, name, None), property | cached_property):
                super().__setattr__(name, value)
            else:
                _refuse_frozen(cls, name)
                _assign(self, name, value)

        def __delattr__(self, name: str) -> None:
            """Omit a field. It has its default again and is not written."""
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
        """Return an object with these *values*, unchecked, and its tags."""
        # A copy, because the set becomes a part of the object.
        made = super().model_construct(None if _fields_set is None else {*_fields_set}, **values)
        made.__pydantic_fields_set__.update(tags_of(cls), due(cls))
        return made

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, with the fields in *update* set under the rules of the constructor."""
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
        """The unknown fields, by their names in the message."""
        _complete(self)
        return self.__pydantic_extra__

    def __eq__(self, other: object) -> bool:
        """Return True if the classes and fields are equal. Omitted and null differ."""
        if isinstance(other, Model):
            _complete(self)
            _complete(other)
        equal = super().__eq__(other)
        return _nulls(self) == _nulls(other) if equal is True and isinstance(other, Model) else equal

    def __repr_args__(self) -> Any:
        """Yield the fields that are set, without secrets. So omitted and null differ."""
        values: dict[str, Any] = {}
        for name, value in super().__repr_args__():
            # Known fields come first, so a name that occurs again is an unknown field.
            values[Key(name) if name in values else cast("str", name)] = value
        yield from members(self, values)


@cache  # because an import statement takes a third of the time of `model_dump`
def _writing() -> tuple[Callable[[Any], object], Callable[[Any], object]]:
    from acp_bindings._writing import fit, note_filled  # noqa: PLC0415 - only what is written needs it

    return note_filled, fit


def _assign(model: Model, name: str, value: Any) -> None:
    """Set a field; in a catch-all, also an unknown one."""
    cls, members = type(model), vars(model)
    if value is None and name in omittable(cls):
        members[name] = None
        model.__pydantic_fields_set__.discard(name)
    elif name in cls.__pydantic_fields__:
        trial = model.__copy__()
        trial.__pydantic_extra__ = {}  # an unknown field may have this name
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
    """Return the part of *schema* with the type *kind*, without the validators of a user around it."""
    while schema["type"] != kind:
        schema = schema["schema"]
    return schema


class Extensible(Model):
    """An object that may have `_meta`."""

    # The alias is in `Annotated`, because type checkers would use `= Field(alias=…)` as the name of the argument.
    meta: Annotated[dict[str, Any] | None, LENIENT_OBJECT, Field(alias="_meta")] = None
    """Data outside of the protocol. Do not rely on data of others here."""


class Response(Extensible):
    """The result of a method. `null` is read as the empty result if no field is required."""


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
    """Complete every object in *value*, which was just read."""
    inside: Iterable[object] = ()
    if isinstance(value, BaseModel):
        _complete(value)
        inside = vars(value).values()
    elif isinstance(value, dict):
        inside = cast("dict[object, object]", value).values()
    elif isinstance(value, list | tuple):
        inside = cast("Iterable[object]", value)
    for part in inside:
        if isinstance(part, _HOLDERS):
            complete(cast("object", part))


def _complete(model: BaseModel) -> None:
    """Complete an object that was read, perhaps by pydantic without `decode`.

    A field without an attribute, whose invalid value was read as omitted, gets one. An unknown field with a `Key` as
    its name gets a plain string, by which it can be looked up.
    """
    members, fields = vars(model), type(model).__pydantic_fields__
    if lacking := fields.keys() - members.keys():
        # Only `model_construct` makes objects without required fields.
        members |= {name: None for name in lacking if not fields[name].is_required()}
    if (extra := model.__pydantic_extra__) and any(isinstance(name, Key) for name in extra):
        model.__pydantic_extra__ = {str(name): unknown for name, unknown in extra.items()}


_HOLDERS = (list, tuple, dict, BaseModel)
"""The types of values that are objects or may contain some."""

_PLAIN = {str, int, bool, NoneType}
"""The types of values that cannot be or contain an object."""


def _is_newer(cls: type[Model], name: str) -> bool:
    """Return True if *cls* is a catch-all, in which *name* may be an unknown field."""
    return takes_anything(cls) and all(info.alias != name for info in cls.__pydantic_fields__.values())


def _accept(model: Model, name: str, given: Any) -> None:
    """Accept the objects that were *given* for the field *name*.

    A dict in place of an object is refused, because a misspelled name in it would not be noticed. The tags of the
    objects count as set from now on, so that they are written even if an object was read without its tag.
    """
    held: Any = model.__dict__.get(name)
    if held is given and (plan := _PLANS.get(given.__class__)):
        # For most objects. The loop below does the same, but takes three times as long.
        _, tags, _, _ = plan
        given.__pydantic_fields_set__.update(tags)
        return
    for each, taken in objects_in(given, held):
        if taken is not each:
            wanted = f"{type(model).__name__}.{name} must be {type(taken).__name__}(...)"
            raise TypeError(f"{wanted}, not a {type(each).__name__}; `decode` can make one from it")
        taken.__pydantic_fields_set__.update(_plan_of(type(taken))[1])


def _nulls(model: Model) -> set[str]:
    """Return the names of the fields that are set to null."""
    return {name for name in model.__pydantic_fields_set__ if vars(model).get(name, ...) is None}


def _unexpected(cls: type[Model], name: str) -> str:
    aliases = {info.alias: known for known, info in cls.__pydantic_fields__.items()}
    known = list(cls.__pydantic_fields__)
    guess = aliases.get(name) or closest(name, known)
    return f"{cls.__name__} has no field {name!r}" + (f"; did you mean {guess!r}?" if guess else "")

"""What reading excused: a witness reads the message once more, and puts a mark in place of each bad value.

It reads by the same rules as `decode`, but an item that `decode` leaves out has a mark too. So the path of a mark is
that of the bad value in the message as it was sent. Marks in a value that is itself replaced are gone with it, and so
are those in alternatives of a union that do not fit. No Python runs for a message in which nothing is excused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from dataclasses import fields as fields_of
from functools import cached_property
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, RootModel, ValidationInfo
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, SchemaValidator, ValidationError, to_json
from pydantic_core import core_schema as cs

from acp_bindings._models.reading import EXCUSED_BY
from acp_bindings._problems.blame import OF_NO_CLASS, Complaints
from acp_bindings._problems.mistakes import explained
from acp_bindings.errors import Finding, Issue, Path, ReadingRule


class Witness:
    """Tells what `decode` excuses in messages of one type."""

    def __init__(self, schema: CoreSchema) -> None:
        """A witness for the type with the core schema *schema*."""
        definitions = {each["ref"]: each for each in cast("Any", schema).get("definitions", ())}
        marking = _marking(schema, _Around(OF_NO_CLASS, definitions))
        # The validators that the classes in it have already leave no marks.
        self._validator = SchemaValidator(marking, OF_NO_CLASS, _use_prebuilt=False)

    def findings(self, text: str | bytes | bytearray) -> list[Finding]:
        """What was excused in *text*, which `decode` took, in the order that the schema gives the members."""
        made: list[_Mark] = []
        value = self._validator.validate_json(text, context=made)
        return [mark.finding(path) for path, mark in _marks(value)] if made else []


class _Around(NamedTuple):
    """What a part of a schema needs to be read alone: the settings of its class, and the definitions of the whole."""

    config: cs.CoreConfig
    definitions: Mapping[str, CoreSchema]

    def whole(self, part: CoreSchema) -> CoreSchema:
        """*part* with the definitions that it may refer to."""
        return cs.definitions_schema(part, list(self.definitions.values()))


@dataclass(frozen=True, eq=False)
class _Excuse:
    """A place in the schema where a rule excuses whatever does not fit *schema*."""

    rule: ReadingRule
    schema: CoreSchema
    around: _Around

    def mark(self, value: object, info: ValidationInfo) -> _Mark:
        made = _Mark(self, value)
        cast("list[_Mark]", info.context).append(made)
        return made

    def causes(self, value: object) -> list[Issue]:
        """What is wrong with *value*, without what is excused in parts of it."""
        return explained(self._complaints.issues(to_json(value)), value)

    @cached_property
    def _complaints(self) -> Complaints:
        return Complaints(self.around.whole(self.schema), config=self.around.config)


class _Mark(NamedTuple):
    """Stands in place of a bad *value* that was excused."""

    excuse: _Excuse
    value: object

    def finding(self, path: Path) -> Finding:
        causes = self.excuse.causes(self.value)
        below = (Issue(path + cause.path, cause.rule, cause.message, cause.branch) for cause in causes)
        return Finding(path, self.excuse.rule, tuple(below))


def _marks(value: object, path: Path = (), seen: set[int] | None = None) -> Iterator[tuple[Path, _Mark]]:
    """Every mark in *value*, with its path, outside of the objects in *seen*."""
    seen = set() if seen is None else seen
    if isinstance(value, _Mark):
        yield path, value
    elif isinstance(value, BaseModel) or is_dataclass(value):
        if id(value) not in seen:  # a user's validator may have linked it with what holds it
            seen.add(id(value))
            for step, member in _members(value):
                yield from _marks(member, (*path, *step), seen)
    elif isinstance(value, list | tuple | deque):
        for position, item in enumerate(cast("Sequence[object]", value)):
            yield from _marks(item, (*path, position), seen)
    elif isinstance(value, dict):
        for name, member in cast("dict[str, object]", value).items():
            yield from _marks(member, (*path, name), seen)


def _members(value: Any) -> Iterator[tuple[Path, object]]:
    """The members of an object, each with the step to it: its name in the message, or none."""
    if isinstance(value, RootModel):
        yield (), cast("RootModel[object]", value).root
        return
    known: dict[str, FieldInfo] = getattr(value, "__pydantic_fields__", {})
    names = known if isinstance(value, BaseModel) else [field.name for field in fields_of(value)]
    for name in names:
        yield (_wire_name(known.get(name), name),), getattr(value, name, None)


def _wire_name(field: FieldInfo | None, name: str) -> str:
    alias = field and field.validation_alias
    return alias if isinstance(alias, str) else name


def _marking(schema: Any, around: _Around) -> Any:
    """A copy of *schema* that puts a mark in place of each bad value that *schema* excuses."""
    if rule := schema.get("metadata", {}).get(EXCUSED_BY):
        wanted = schema["strict_schema"]
        mark = cs.with_info_plain_validator_function(_Excuse(rule, wanted, around).mark)
        excuse = cs.chain_schema([cs.none_schema(), mark]) if rule == "default-on-null" else mark
        return cs.union_schema([_marking(wanted, around), excuse], mode="left_to_right")
    if "config" in schema:
        around = around._replace(config=schema["config"])
    copied = {key: _part(key, part, around) for key, part in schema.items()}
    ref = copied.pop("ref", None)  # which has to be that of the whole
    made = _marking_whole(schema, copied, around)
    return {**made, "ref": ref} if ref else made


def _marking_whole(schema: Any, copied: Any, around: _Around) -> Any:
    """What `_marking` makes of *schema*, of whose parts it has made those in *copied*."""
    if schema["type"] in _SEEING and not _is_ours(schema["function"]["function"]):
        copied["function"] = {**schema["function"], "type": "with-info", "function": _SEEING[schema["type"]](schema)}
    if schema.get("post_init") and not _is_given_more(schema["schema"]):
        return _finishing(copied)
    if schema["type"] == "list" and "min_length" in schema:
        return _counting(copied)
    if schema["type"] == "union" and schema.get("mode", "smart") == "smart" and not _is_of_scalars(schema):
        return _choosing(copied, SchemaValidator(around.whole(_numbered(schema)), around.config, _use_prebuilt=False))
    return copied


def _seeing(schema: Any) -> Callable[..., Any]:
    """The function of *schema*, which sees what was read, where there is no mark in that: it would not know it."""
    function = _with_info(schema)

    def see(value: object, info: ValidationInfo) -> Any:
        return value if _is_marked(value, info) else function(value, info)

    return see


def _seeing_around(schema: Any) -> Callable[..., Any]:
    """The same of a function that reads by what it is given, which is left as soon as that gives a mark."""
    function = _with_info(schema)

    def see(value: object, handler: Callable[..., object], info: ValidationInfo) -> Any:
        def read(*given: Any) -> object:
            made = handler(*given)
            if _is_marked(made, info):
                raise _MarkedError(made)
            return made

        try:
            return function(value, read, info)
        except _MarkedError as left:
            return left.args[0]

    return see


_SEEING = {"function-after": _seeing, "function-wrap": _seeing_around}


def _finishing(made: Any) -> CoreSchema:
    """The schema *made* of a class whose objects finish themselves, by which they do so where there is no mark."""
    name = made.pop("post_init")
    name, given = ("__post_init__", ()) if name is True else (name, (None,))

    def finish(value: object, info: ValidationInfo) -> object:
        if not _is_marked(value, info):
            getattr(value, name)(*given)
        return value

    return cs.with_info_after_validator_function(finish, made)


def _is_given_more(members: Any) -> bool:
    """Whether *members* of a dataclass include some that are only for its `__post_init__`, and kept nowhere else."""
    return members["type"] == "dataclass-args" and any(each.get("init_only") for each in members["fields"])


class _MarkedError(BaseException):
    """Leaves a function of a user's own, which catches exceptions perhaps."""


def _is_ours(function: object) -> bool:
    return str(getattr(function, "__module__", "")).startswith("acp_bindings.")


def _with_info(schema: Any) -> Callable[..., Any]:
    function = schema["function"]["function"]
    return function if schema["function"]["type"] == "with-info" else lambda *given: function(*given[:-1])


def _is_marked(value: object, info: ValidationInfo) -> bool:
    return bool(info.context) and next(_marks(value), None) is not None


def _part(key: str, part: Any, around: _Around) -> Any:
    """The value at *key* of a schema; where that is a schema, or several, what `_marking` makes of it."""
    if key in ("fields", "choices") and isinstance(part, dict):
        return {name: _marking(each, around) for name, each in cast("Any", part).items()}
    if key == "choices":
        return [_marking(_unlabelled(choice), around) for choice in part]
    if key in ("definitions", "steps") or (key in ("fields", "items_schema") and isinstance(part, list)):
        # A dataclass has a list of the names of its fields besides.
        return [_marking(each, around) if isinstance(each, dict) else each for each in cast("list[Any]", part)]
    return _marking(part, around) if key.endswith("schema") else part


def _counting(items: Any) -> CoreSchema:
    """The list schema *items*, by which a marked item does not count: `decode` leaves it out."""
    enough = SchemaValidator(cs.list_schema(min_length=items.pop("min_length")))

    def count(made: list[object]) -> list[object]:
        enough.validate_python([each for each in made if not isinstance(each, _Mark)])
        return made

    return cs.no_info_after_validator_function(count, items)


def _choosing(union: Any, number: SchemaValidator) -> CoreSchema:
    """The *union*, decided as by `decode`: pydantic's own choice of the best alternative would count the marks.

    *Number* reads a value as the number of its alternative.
    """

    def choose(value: object) -> int | None:
        try:
            taken: int = number.validate_json(to_json(value))
        except ValidationError:
            return None
        return taken

    choices: list[CoreSchema] = union["choices"]
    return cs.tagged_union_schema(dict(enumerate(choices)), choose)


def _numbered(union: Any) -> Any:
    """The *union*, by which a value reads as the number of its alternative."""

    def number(n: int, choice: CoreSchema) -> CoreSchema:
        return cs.no_info_after_validator_function(lambda _: n, choice)

    choices = [number(n, _unlabelled(choice)) for n, choice in enumerate(union["choices"])]
    return {**{key: part for key, part in union.items() if key != "ref"}, "choices": choices}


def _is_of_scalars(union: Any) -> bool:
    return all(_unlabelled(choice)["type"] in ("literal", "str", "int", "float", "bool") for choice in union["choices"])


def _unlabelled(choice: Any) -> Any:
    return cast("Any", choice)[0] if isinstance(choice, tuple) else choice

"""Finds the tolerated errors in a message: `Witness` reads it again and replaces each invalid value with a mark.

It follows the same rules as `decode`, but items that `decode` drops get a mark too. So a mark has the same path as
the invalid value in the message as it was sent. Marks disappear with a value that is itself replaced, and with union
variants that do not match. Reading a message without tolerated errors does not run Python code.
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
    """Finds the errors that `decode` tolerates in messages of one type."""

    def __init__(self, schema: CoreSchema) -> None:
        """Create a witness for the type with the core schema *schema*."""
        definitions = {each["ref"]: each for each in cast("Any", schema).get("definitions", ())}
        marking = _marking(schema, _Around(OF_NO_CLASS, definitions))
        # The existing validators of the classes in it do not leave marks.
        self._validator = SchemaValidator(marking, OF_NO_CLASS, _use_prebuilt=False)

    def findings(self, text: str | bytes | bytearray) -> list[Finding]:
        """Return the tolerated errors in *text*, which `decode` accepted, in the order of the fields in the schema."""
        made: list[_Mark] = []
        value = self._validator.validate_json(text, context=made)
        return [mark.finding(path) for path, mark in _marks(value)] if made else []


class _Around(NamedTuple):
    """The context of a part of a schema: the settings of its class, and the definitions of the whole schema."""

    config: cs.CoreConfig
    definitions: Mapping[str, CoreSchema]

    def whole(self, part: CoreSchema) -> CoreSchema:
        """Return *part* with the definitions that it may refer to."""
        return cs.definitions_schema(part, list(self.definitions.values()))


@dataclass(frozen=True, eq=False)
class _Excuse:
    """A place in the schema where a rule tolerates any value that does not match *schema*."""

    rule: ReadingRule
    schema: CoreSchema
    around: _Around

    def mark(self, value: object, info: ValidationInfo) -> _Mark:
        made = _Mark(self, value)
        cast("list[_Mark]", info.context).append(made)
        return made

    def causes(self, value: object) -> list[Issue]:
        """Return the errors in *value*, without tolerated errors in parts of it."""
        return explained(self._complaints.issues(to_json(value)), value)

    @cached_property
    def _complaints(self) -> Complaints:
        return Complaints(self.around.whole(self.schema), config=self.around.config)


class _Mark(NamedTuple):
    """The replacement for an invalid *value* that was tolerated."""

    excuse: _Excuse
    value: object

    def finding(self, path: Path) -> Finding:
        causes = self.excuse.causes(self.value)
        below = (Issue(path + cause.path, cause.rule, cause.message, cause.branch) for cause in causes)
        return Finding(path, self.excuse.rule, tuple(below))


def _marks(value: object, path: Path = (), seen: set[int] | None = None) -> Iterator[tuple[Path, _Mark]]:
    """Yield each mark in *value* with its path. Objects in *seen* are skipped."""
    seen = set() if seen is None else seen
    if isinstance(value, _Mark):
        yield path, value
    elif isinstance(value, BaseModel) or is_dataclass(value):
        if id(value) not in seen:  # a user's validator may have created a cycle
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
    """Yield the fields of an object, each with its part of the path: its name in the message, or nothing."""
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
    """Return a copy of *schema* that replaces each invalid value that *schema* tolerates with a mark."""
    if rule := schema.get("metadata", {}).get(EXCUSED_BY):
        wanted = schema["strict_schema"]
        mark = cs.with_info_plain_validator_function(_Excuse(rule, wanted, around).mark)
        excuse = cs.chain_schema([cs.none_schema(), mark]) if rule == "default-on-null" else mark
        return cs.union_schema([_marking(wanted, around), excuse], mode="left_to_right")
    if "config" in schema:
        around = around._replace(config=schema["config"])
    copied = {key: _part(key, part, around) for key, part in schema.items()}
    ref = copied.pop("ref", None)  # it belongs to the whole result
    made = _marking_whole(schema, copied, around)
    return {**made, "ref": ref} if ref else made


def _marking_whole(schema: Any, copied: Any, around: _Around) -> Any:
    """Return the result of `_marking` for *schema*. Its parts in *copied* are already converted."""
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
    """Return the function of *schema*, but call it only without marks in the value, because it does not expect them."""
    function = _with_info(schema)

    def see(value: object, info: ValidationInfo) -> Any:
        return value if _is_marked(value, info) else function(value, info)

    return see


def _seeing_around(schema: Any) -> Callable[..., Any]:
    """Return the same for a wrap function, which calls a handler. It is left as soon as the handler returns a mark."""
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
    """Return the schema *made* of a class with a `post_init`, changed to call it only if the object has no marks."""
    name = made.pop("post_init")
    name, given = ("__post_init__", ()) if name is True else (name, (None,))

    def finish(value: object, info: ValidationInfo) -> object:
        if not _is_marked(value, info):
            getattr(value, name)(*given)
        return value

    return cs.with_info_after_validator_function(finish, made)


def _is_given_more(members: Any) -> bool:
    """Return True if *members* of a dataclass include some that are only passed to `__post_init__` and not stored."""
    return members["type"] == "dataclass-args" and any(each.get("init_only") for each in members["fields"])


class _MarkedError(BaseException):
    """Leaves a function of a user. It is not an `Exception`, because the function may catch those."""


def _is_ours(function: object) -> bool:
    return str(getattr(function, "__module__", "")).startswith("acp_bindings.")


def _with_info(schema: Any) -> Callable[..., Any]:
    function = schema["function"]["function"]
    return function if schema["function"]["type"] == "with-info" else lambda *given: function(*given[:-1])


def _is_marked(value: object, info: ValidationInfo) -> bool:
    return bool(info.context) and next(_marks(value), None) is not None


def _part(key: str, part: Any, around: _Around) -> Any:
    """Return the value at *key* of a schema. A schema, or several, are converted by `_marking`."""
    if key in ("fields", "choices") and isinstance(part, dict):
        return {name: _marking(each, around) for name, each in cast("Any", part).items()}
    if key == "choices":
        return [_marking(_unlabelled(choice), around) for choice in part]
    if key in ("definitions", "steps") or (key in ("fields", "items_schema") and isinstance(part, list)):
        # A dataclass also has a list of the names of its fields.
        return [_marking(each, around) if isinstance(each, dict) else each for each in cast("list[Any]", part)]
    return _marking(part, around) if key.endswith("schema") else part


def _counting(items: Any) -> CoreSchema:
    """Return the list schema *items*, without counting marked items, because `decode` drops them."""
    enough = SchemaValidator(cs.list_schema(min_length=items.pop("min_length")))

    def count(made: list[object]) -> list[object]:
        enough.validate_python([each for each in made if not isinstance(each, _Mark)])
        return made

    return cs.no_info_after_validator_function(count, items)


def _choosing(union: Any, number: SchemaValidator) -> CoreSchema:
    """Return *union*, with the variant chosen as in `decode`. Pydantic's own choice would count the marks.

    *number* reads a value as the number of its variant.
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
    """Return *union*, changed so that a value is read as the number of its variant."""

    def number(n: int, choice: CoreSchema) -> CoreSchema:
        return cs.no_info_after_validator_function(lambda _: n, choice)

    choices = [number(n, _unlabelled(choice)) for n, choice in enumerate(union["choices"])]
    return {**{key: part for key, part in union.items() if key != "ref"}, "choices": choices}


def _is_of_scalars(union: Any) -> bool:
    return all(_unlabelled(choice)["type"] in ("literal", "str", "int", "float", "bool") for choice in union["choices"])


def _unlabelled(choice: Any) -> Any:
    return cast("Any", choice)[0] if isinstance(choice, tuple) else choice

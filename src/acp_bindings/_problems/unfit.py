"""Errors for wrong values in place of objects. Those of pydantic would ask for a dict, or for a tag."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn, cast, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from acp_bindings._json import full_name, kind_of
from acp_bindings._lazy import joined
from acp_bindings._models.embedding import HIDDEN, line, of_lines
from acp_bindings._models.fields import parts_of
from acp_bindings.errors import format_path

_OF_OBJECTS = {"model_type", "model_attributes_type", "union_tag_not_found", "union_tag_invalid"}
_MOST_NAMED = 5


def refuse_unfit(cls: type[BaseModel], members: Mapping[str, Any], error: ValidationError) -> NoReturn:
    """Raise the error in *members*, without their values, and with the names of the required classes.

    Raises:
        TypeError: there is a dict in place of an object.
        pydantic.ValidationError: there is another error.
    """
    unfit: set[tuple[int | str, ...]] = set()
    said: list[InitErrorDetails] = []
    for each in error.errors():
        place, given = _place_of(each, members)
        wanted = _classes_of(cls, place)
        # Other errors are, for example, a dict in place of a list, or come from a validator of a user.
        is_of_object = each["type"] in _OF_OBJECTS or len(each["loc"]) > len(place)
        if wanted and is_of_object and isinstance(cast("object", given), dict):
            where = f"{cls.__name__}.{format_path(place)[:-2]}"
            raise TypeError(f"{where} must be an object, not a dict; `decode` can make one from it") from None
        if not wanted or each["type"] not in _OF_OBJECTS or isinstance(given, tuple(wanted)):
            said.append(line(each))
        elif place not in unfit:
            unfit.add(place)
            told = f"Input should be {_any_of(wanted, given)}, not {kind_of(given)}"
            said.append({"type": PydanticCustomError("model_type", cast("Any", told)), "loc": place, "input": HIDDEN})
    raise of_lines(cls.__name__, said) from None


def misplaced(model: BaseModel) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the path and the error of each dict or wrong object in *model* in place of another object."""
    for name, info in type(model).__pydantic_fields__.items():
        held: object = vars(model).get(name)
        wanted, here = _objects_in(info), (info.alias or name,)
        parts: list[tuple[tuple[str | int, ...], object]] = [(here, held)]
        kinds: Any = (dict, BaseModel)
        if isinstance(held, list):
            parts += (((*here, index), each) for index, each in enumerate(cast("list[object]", held)))
        elif isinstance(held, dict) and _has_maps(info):
            parts = [((*here, key), each) for key, each in cast("dict[str, object]", held).items()]
            kinds = BaseModel
        for place, each in parts:
            if wanted and isinstance(each, kinds) and not isinstance(each, tuple(wanted)):
                yield place, f"Input should be {_any_of(wanted, each)}, not {kind_of(each)}"


def _place_of(error: ErrorDetails, members: Mapping[str, Any]) -> tuple[tuple[int | str, ...], Any]:
    """Return the path of the field or item with the error, and the value there."""
    loc = error["loc"]
    given: Any = members.get(str(loc[0])) if loc else None
    if len(loc) > 1 and isinstance(loc[1], int) and isinstance(given, list):
        items = cast("list[object]", given)
        # A validator of a user may have added items.
        return loc[:2], items[loc[1]] if loc[1] < len(items) else error["input"]
    return loc[:1], given


def _classes_of(cls: type[BaseModel], place: tuple[int | str, ...]) -> list[type[BaseModel]]:
    """Return the classes of the objects in a field; empty if it has maps, because a dict may be valid there."""
    field = cls.__pydantic_fields__.get(str(place[0])) if place else None
    return [] if field is None or _has_maps(field) else _objects_in(field)


def _objects_in(field: FieldInfo) -> list[type[BaseModel]]:
    return [kind for kind in _classes_in(field) if issubclass(kind, BaseModel)]


def _has_maps(field: FieldInfo) -> bool:
    return any(issubclass(kind, Mapping) for kind in _classes_in(field))


def _classes_in(field: FieldInfo) -> list[type]:
    kinds = (get_origin(part) or part for part in parts_of(field.annotation))
    return [kind for kind in kinds if isinstance(kind, type)]


def _any_of(wanted: list[type[BaseModel]], given: Any) -> str:
    """Return the names of the classes *wanted*; if there are many, only the most similar ones."""
    names = [*map(full_name, wanted)]
    if len(names) > _MOST_NAMED:
        likest = difflib.get_close_matches(kind_of(given), names, n=3, cutoff=0)
        names = [*likest, f"another of {len(names)}"]
    return joined(names, "or")

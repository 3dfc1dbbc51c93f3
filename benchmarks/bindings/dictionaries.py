"""The shapes of `plain` as checked dictionaries: what pydantic-core takes before any object is made of them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic_core import SchemaValidator


def validator_of(model: type[BaseModel]) -> SchemaValidator:
    """What reads the members of *model*, and of the models in it, into dictionaries."""
    model.model_rebuild()
    return SchemaValidator(_without_models(model.__pydantic_core_schema__))


def _without_models(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(map(_without_models, schema))
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "model":
        reference = {"ref": schema["ref"]} if "ref" in schema else {}
        return {"type": "typed-dict", "fields": _fields(schema), **reference}
    return {key: _without_models(value) for key, value in schema.items() if key not in ("metadata", "serialization")}


def _fields(model: Any) -> dict[str, Any]:
    return {
        name: {
            "type": "typed-dict-field",
            "schema": _without_models(field["schema"]),
            "validation_alias": field.get("validation_alias", name),
            "required": field["schema"]["type"] != "default",
        }
        for name, field in model["schema"]["fields"].items()
    }

"""Small schemas for tests, and the packages generated from them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen import lock
from codegen.build import PACKAGES, build
from codegen.tree import CodegenError, Definitions, Node

SCHEMAS = Path(__file__).parents[2] / "schema"
RELEASE = "folder:small"

NULL: Node = {"type": "null"}
TEXT: Node = {"type": "string"}
INTEGER: Node = {"type": "integer"}
META: Node = {"type": ["object", "null"], "x-deserialize-default-on-error": True, "additionalProperties": True}
ON_ERROR = {"x-deserialize-default-on-error": True}
ON_NULL = {"x-deserialize-default-on-null": True}
SKIP_ITEMS = {"x-deserialize-skip-invalid-items": True}


def published(file: str) -> Definitions:
    """The definitions of one of the real schemas."""
    return json.loads((SCHEMAS / file).read_text(encoding="utf-8"))["$defs"]


def release(file: str) -> str:
    """Return the source of one of the real schemas."""
    return lock.read(SCHEMAS)[file].source


def obj(required: str = "", /, **members: Any) -> Node:
    """Return an object schema that requires the members named in *required*, separated by spaces."""
    node: Node = {"type": "object", "properties": members}
    return node | {"required": required.split()} if required else node


def ref(name: str) -> Node:
    return {"$ref": f"#/$defs/{name}"}


def listed(items: Node) -> Node:
    return {"type": "array", "items": items}


def tagged(tag: str, /, *, by: str = "type", **members: Any) -> Node:
    """Return a variant of a union with a constant discriminator; all of its members are required."""
    return obj(" ".join([by, *members]), **{by: {"const": tag, "type": "string"}}, **members)


def catch_all(*known: str, by: str = "type") -> Node:
    """Return the variant of an open union for all unknown discriminators."""
    return {
        "title": "other",
        **obj(by, **{by: TEXT}),
        "not": {"anyOf": [tagged(tag, by=by) for tag in known]},
        "additionalProperties": True,
    }


def built(defs: Definitions, folder: Path) -> Path:
    """Return the folder of the package generated from *defs*."""
    build("v1/schema.json", {"$defs": defs}, RELEASE, folder)
    return folder / PACKAGES["v1/schema.json"][0]


def refusal(run: Callable[..., object], *args: Any, **options: Any) -> str:
    """Return the message of the error that the pipeline raises."""
    with pytest.raises(CodegenError) as refused:
        run(*args, **options)
    return str(refused.value)


Pass = Callable[[Definitions], Definitions]

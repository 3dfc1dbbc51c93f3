import sys
from pathlib import Path

import pytest

from codegen.tree import Definitions
from tests.codegen.small import TEXT, built, listed, obj, ref, refusal, tagged


@pytest.mark.parametrize(
    ("defs", "said"),
    [
        ({"Foo": obj(x={"type": "integer", "minimum": 0.5})}, "SchemaError: "),
        ({"Foo": obj(x=ref("Warning")), "Warning": obj(foos=listed(ref("Foo")))}, "PydanticSchemaGenerationError: "),
        ({"Foo": obj(x={"type": "number", "default": float("inf")})}, "NameError: "),
        ({"Foo": {"anyOf": [TEXT, listed(ref("Foo"))]}}, ""),
        ({"Foo": {"anyOf": [tagged("a", x=listed(ref("Foo"))), tagged("b")]}}, ""),
    ],
    ids=["half a bound", "a name that Python has", "a default that JSON does not have", "a list of itself", "a union"],
)
def test_code_that_python_or_pydantic_cannot_use_is_refused(defs: Definitions, said: str, tmp_path: Path) -> None:
    assert refusal(built, defs, tmp_path).startswith(f"Foo: the generated code cannot be used: {said}")


def test_completing_leaves_nothing_behind(tmp_path: Path) -> None:
    before = set(sys.modules)

    package = built({"Foo": obj(x=TEXT)}, tmp_path)

    assert {name for name in set(sys.modules) - before if name.startswith("_imported")} == set()
    assert not list(package.rglob("*.pyc"))

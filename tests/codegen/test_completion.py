import sys
from pathlib import Path

import pytest

from codegen.tree import CodegenError, Definitions
from tests.codegen.small import TEXT, built, listed, obj, ref


def refusal(defs: Definitions, folder: Path) -> str:
    with pytest.raises(CodegenError) as refused:
        built(defs, folder)
    return str(refused.value)


@pytest.mark.parametrize(
    ("defs", "name", "said"),
    [
        ({"Foo": obj(x={"type": "integer", "minimum": 0.5})}, "Foo", "SchemaError: "),
        ({"Foo": obj(x={"type": "number", "maximum": 10**400})}, "Foo", "SchemaError: "),
    ],
    ids=["half a bound", "a bound that is no float"],
)
def test_what_pydantic_cannot_complete_is_refused_by_name(
    defs: Definitions, name: str, said: str, tmp_path: Path
) -> None:
    assert refusal(defs, tmp_path).startswith(
        f"{name}: pydantic cannot build a validator for the generated code: {said}"
    )


@pytest.mark.parametrize(
    ("defs", "said"),
    [
        ({"Foo": obj(x=ref("Warning")), "Warning": obj(foos=listed(ref("Foo")))}, "PydanticSchemaGenerationError: "),
        ({"A": TEXT, "Foo": obj(a=TEXT, x={"type": "number", "default": float("inf")})}, "NameError: "),
    ],
    ids=["a name that Python has", "a default that JSON does not have"],
)
def test_what_python_cannot_run_is_refused_by_name(defs: Definitions, said: str, tmp_path: Path) -> None:
    assert refusal(defs, tmp_path).startswith(f"Foo: the generated code cannot be run: {said}")


def test_the_innermost_of_what_cannot_be_completed_is_named(tmp_path: Path) -> None:
    defs = {
        "Bar": obj(inner=ref("Inner")),
        "Foo": listed(ref("Bar")),
        "Inner": obj(x={"type": "integer", "minimum": 0.5}),
        "Other": obj(y=TEXT),
    }

    assert refusal(defs, tmp_path).startswith("Inner: ")


def test_completing_leaves_nothing_behind(tmp_path: Path) -> None:
    before = set(sys.modules)

    package = built({"Foo": obj(x=TEXT)}, tmp_path)

    assert {name for name in set(sys.modules) - before if name.startswith("_completed")} == set()
    assert not list(package.rglob("*.pyc"))

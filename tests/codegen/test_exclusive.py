import pytest

from codegen.passes.unions import check_exclusive
from codegen.tree import CodegenError, Definitions, Node
from tests.codegen.small import INTEGER, TEXT, listed, obj, ref

OTHERS: Definitions = {
    "A": obj("a", a=TEXT),
    "B": obj("b", b=TEXT),
    "Alias": ref("A"),
    "Kind": {"type": "string", "enum": ["a", "b"]},
    "Id": TEXT,
    "Name": TEXT | {"description": "A name."},
    "Ids": listed(ref("Id")),
    "Names": listed(ref("Name")),
    "Anything": {},
}


def refusal(node: Node) -> str:
    with pytest.raises(CodegenError) as refused:
        check_exclusive({"Foo": node, **OTHERS})
    return str(refused.value)


@pytest.mark.parametrize(
    "arms",
    [
        [TEXT, INTEGER, {"type": "null"}],
        [ref("A"), TEXT, listed(TEXT)],
        [ref("Kind"), {"type": "string", "const": "c"}],
        [ref("A")],
    ],
)
def test_types_and_values_that_differ_are_apart(arms: list[Node]) -> None:
    check_exclusive({"Foo": {"oneOf": arms}, "Bar": obj(x={"oneOf": arms}), **OTHERS})


@pytest.mark.parametrize(
    "arms",
    [
        [ref("A"), ref("B")],
        [ref("A"), ref("Alias")],
        [ref("A"), ref("Anything")],
        [INTEGER, {"type": "number"}],
        [ref("Kind"), TEXT],
        [ref("Kind"), {"type": "string", "const": "a"}],
        [listed(ref("A")), listed(ref("B"))],
        [{"type": ["string", "null"]}, {"type": "null"}],
    ],
)
def test_a_one_of_with_overlapping_variants_is_refused_with_its_place(arms: list[Node]) -> None:
    said = "a value may fit two variants of a oneOf, and would be read as the first"

    assert refusal({"oneOf": arms}) == f"Foo: {said}"
    assert refusal(listed({"oneOf": arms})) == f"Foo: {said}"
    assert refusal(obj(x=listed({"oneOf": arms}))) == f"Foo.x: {said}"


@pytest.mark.parametrize(
    "arms",
    [
        [ref("A"), ref("A")],
        [ref("A"), ref("Alias")],
        [ref("Id"), ref("Name")],
        [ref("Ids"), ref("Names")],
        [ref("Ids"), listed(TEXT)],
        [TEXT | {"title": "one"}, TEXT | {"title": "other"}],
        [listed(TEXT), {"items": TEXT, "type": "array"}],
        [listed({"anyOf": [ref("Id"), INTEGER]}), listed({"anyOf": [ref("Name"), INTEGER]})],
    ],
)
def test_a_union_that_names_one_type_twice_is_refused(arms: list[Node]) -> None:
    assert refusal({"anyOf": arms}) == "Foo: two variants are the same type in Python"


def test_types_that_differ_in_a_bound_are_two() -> None:
    check_exclusive({"Foo": {"anyOf": [ref("Id"), TEXT | {"minLength": 1}]}, **OTHERS})

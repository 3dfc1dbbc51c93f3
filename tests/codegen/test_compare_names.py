from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

import pytest

from codegen.compare import compare_names, names_of, note
from codegen.compare.__main__ import main
from codegen.compare.names import Attribute, Name
from codegen.tree import Definitions, Node
from tests.codegen import publishing
from tests.codegen.small import META, TEXT, built, catch_all, listed, obj, ref, tagged

Compare: TypeAlias = Callable[[Definitions, Definitions], list[tuple[str, str, str, bool]]]

FILE = "v1/schema.json"
INTEGER: Node = {"type": "integer", "format": "uint32", "minimum": 0}
NULL: Node = {"type": "null"}


@pytest.fixture
def changes(tmp_path: Path) -> Compare:
    """Compare the names that two versions of some definitions give: kind, name, what and whether it breaks."""

    def compared(old: Definitions, new: Definitions) -> list[tuple[str, str, str, bool]]:
        before, after = (names_of(built(defs, tmp_path / each)) for each, defs in (("old", old), ("new", new)))
        return [(each.kind, each.where, each.what, each.breaking) for each in compare_names(before, after)]

    return compared


def constant(value: str) -> Node:
    return {"const": value, "type": "string"}


def test_a_name_is_a_class_with_its_own_attributes_or_an_alias_with_its_alternatives(tmp_path: Path) -> None:
    defs: Definitions = {
        "Foo": obj("fooBar class", fooBar=INTEGER, _meta=META, **{"class": TEXT}) | {"description": "A foo."},
        "Baz": obj(x=ref("Foo"), y=listed({"type": ["string", "null"]})) | {"allOf": [ref("Foo")]},
        "Id": TEXT | {"minLength": 1},
        "Either": {"anyOf": [tagged("a"), tagged("b"), catch_all("a", "b")]},
        "Kind": {"anyOf": [{"const": "k", "type": "string"}, {"const": "l", "type": "string"}]},
    }

    names = names_of(built(defs, tmp_path))

    tag = {"type": Attribute(("Literal['a']",), required=False)}
    assert names["Foo"] == Name(
        module="common",
        bases=("Extensible",),
        attributes={"foo_bar": Attribute(("int",), required=True), "class_": Attribute(("str",), required=True)},
    )
    assert names["Baz"] == Name(
        module="common",
        bases=("Foo",),
        attributes={
            "x": Attribute(("Foo", "None"), required=False),
            "y": Attribute(("list[str | None]",), required=False),
        },
    )
    assert names["Id"] == Name(module="common", alternatives=("str",))
    assert names["Either"] == Name(module="common", alternatives=("EitherA", "EitherB", "OtherEither"))
    assert names["EitherA"] == Name(module="common", bases=("Model",), attributes=tag)
    assert names["Kind"] == Name(module="common", alternatives=("Literal['k']", "Literal['l']"))
    assert names.keys() == {"Foo", "Baz", "Id", "Either", "EitherA", "EitherB", "OtherEither", "Kind"}


def test_names_come_and_go_also_those_that_no_definition_has(changes: Compare) -> None:
    old = {"Foo": {"anyOf": [tagged("a"), tagged("b")]}, "Same": TEXT}
    new = {"Foo": {"anyOf": [tagged("a"), tagged("c")]}, "Same": TEXT}

    assert changes(old, new) == [
        ("meaning", "Foo", "can no longer be `FooB`", True),
        ("meaning", "Foo", "can also be `FooC`", False),
        ("name", "FooB", "removed", True),
        ("name", "FooC", "added", False),
    ]


def test_a_name_comes_to_mean_something_else(changes: Compare) -> None:
    old = {"Foo": obj(x=TEXT), "Id": TEXT, "Tag": {"oneOf": [tagged("x")]}}
    new = {"Foo": {"anyOf": [tagged("a"), tagged("b")]}, "Id": INTEGER, "Tag": {"oneOf": [tagged("X")]}}

    found = {where: (kind, what, breaking) for kind, where, what, breaking in changes(old, new)}

    assert found["Foo"] == ("meaning", "now means something else: it was a class and is the type `FooA | FooB`", True)
    assert found["Id"] == ("meaning", "now has the type `int` instead of `str`", True)
    assert found["TagX.type"] == ("attribute", "now has the type `Literal['X']` instead of `Literal['x']`", True)


def test_attributes_come_and_go_by_their_python_names(changes: Compare) -> None:
    old = {"Foo": obj("a", a=TEXT, goneNow=TEXT, b=TEXT, c=TEXT)}
    new = {"Foo": obj("a newOne b", a=TEXT, newOne=TEXT, more=listed(TEXT), b=TEXT, c={"type": ["string", "null"]})}

    assert changes(old, new) == [
        ("attribute", "Foo.b", "now has the type `str` instead of `str | None`", True),
        ("attribute", "Foo.b", "is now required", True),
        ("attribute", "Foo.gone_now", "removed", True),
        ("attribute", "Foo.more", "added, optional (`list[str]`)", False),
        ("attribute", "Foo.new_one", "added, required (`str`)", True),
    ]


def test_what_a_base_brings_and_takes_is_told_where_the_base_changes(changes: Compare) -> None:
    one, two = obj(x=TEXT), obj(x=TEXT, y=TEXT)
    extends = {"allOf": [ref("One")]}

    assert changes({"One": one, "Foo": obj(z=TEXT) | extends}, {"One": two, "Foo": obj(z=TEXT) | extends}) == [
        ("attribute", "One.y", "added, optional (`str | None`)", False)
    ]
    assert changes({"One": one, "Foo": obj(z=TEXT) | extends}, {"One": one, "Foo": obj(z=TEXT, _meta=META)}) == [
        ("base", "Foo", "is based on `Extensible` instead of `One`", True),
        ("attribute", "Foo.meta", "added, optional (`dict[str, Any] | None`)", False),
        ("attribute", "Foo.x", "removed", True),
    ]
    assert changes({"Foo": one}, {"Foo": obj(x=TEXT, _meta=META)}) == [
        ("base", "Foo", "is based on `Extensible` instead of `Model`", False),
        ("attribute", "Foo.meta", "added, optional (`dict[str, Any] | None`)", False),
    ]


def union(*arms: Node) -> Definitions:
    """A definition of one union, and the classes that it may refer to."""
    return {"Kind": {"anyOf": [*arms]}, "A": obj("a", a=TEXT), "B": obj("b", b=TEXT), "C": obj("c", c=TEXT)}


@pytest.mark.parametrize("more", [[], [NULL]])
def test_an_enumeration_may_grow_and_not_shrink(changes: Compare, more: list[Node]) -> None:
    one, two = union(constant("a"), *more), union(constant("a"), constant("b"), *more)

    assert changes(one, two) == [("meaning", "Kind", "can also be `Literal['b']`", False)]
    assert changes(two, one) == [("meaning", "Kind", "can no longer be `Literal['b']`", True)]


def test_an_enumeration_that_leaves_open_what_is_still_to_come_grows_too(changes: Compare) -> None:
    closed = [constant("a"), constant("b")]

    assert changes(union(*closed), union(*closed, TEXT)) == [("meaning", "Kind", "can also be `str`", False)]
    assert changes(union(*closed, TEXT), union(*closed)) == [("meaning", "Kind", "can no longer be `str`", True)]
    assert changes(union(*closed), union(*closed, {"type": "integer"}))[0][-1] is True


@pytest.mark.parametrize(
    ("old", "new", "what", "breaking"),
    [
        ([ref("A"), ref("B")], [ref("A"), ref("B"), ref("C")], "can also be `C`", False),
        ([ref("A"), ref("B"), NULL], [ref("A"), ref("B"), ref("C"), NULL], "can also be `C`", False),
        ([TEXT, {"type": "integer"}], [TEXT, {"type": "integer"}, {"type": "boolean"}], "can also be `bool`", False),
        ([ref("A"), NULL], [ref("A"), ref("B"), NULL], "now has the type `A | B | None` instead of `A | None`", True),
        ([ref("A"), ref("B")], [ref("A"), ref("B"), NULL], "now has the type `A | B | None` instead of `A | B`", True),
    ],
)
def test_a_union_may_grow_but_what_was_no_choice_is_another_type(
    changes: Compare, old: list[Node], new: list[Node], what: str, breaking: bool
) -> None:
    assert changes(union(*old), union(*new)) == [("meaning", "Kind", what, breaking)]


@pytest.mark.parametrize("required", ["", "x"])
def test_none_is_the_same_from_an_alias_or_beside_it(changes: Compare, required: str) -> None:
    old: Definitions = {"Foo": obj(required, x=ref("Id")), "Id": TEXT}
    new: Definitions = {"Foo": obj(required, x=ref("Id")), "Id": {"type": ["string", "null"]}}

    assert changes(old, new) == [("meaning", "Id", "now has the type `str | None` instead of `str`", True)]
    assert changes(new, old) == [("meaning", "Id", "now has the type `str` instead of `str | None`", True)]


def test_another_module_is_told_and_breaks_nothing(changes: Compare) -> None:
    request = obj(id=ref("Id")) | {"x-side": "agent"}
    old = {"Id": TEXT, "ARequest": request | {"x-method": "fs/a"}}
    new = {**old, "BRequest": request | {"x-method": "terminal/b"}}

    assert changes(old, new) == [
        ("name", "BRequest", "added", False),
        ("module", "Id", "moved from `fs` to `common`", False),
    ]


def test_how_a_value_is_read_and_its_limits_are_no_matter_of_names(changes: Compare) -> None:
    lenient = {"x-deserialize-default-on-error": True}

    old = {"Foo": obj(x=TEXT, n=INTEGER | {"default": 0})}
    new = {"Foo": obj(x=TEXT | lenient | {"minLength": 1}, n={"type": "integer", "format": "int64", "default": 0})}

    assert changes(old, new) == []


class TestNote:
    def test_it_has_the_meaning_and_then_the_names(self) -> None:
        old, new = obj(fooBar=TEXT), obj(barFoo=TEXT)

        assert note(FILE, {"$defs": {"Foo": old}}, {"$defs": {"Foo": new, "Bar": TEXT}}) == [
            "- **Breaking:** `Foo.fooBar` removed",
            "- definitions added: `Bar`",
            "- `Foo.barFoo` added, optional (`string`)",
            "",
            "Python names, `from acp_bindings.v1 import …`:",
            "",
            "- **Breaking:** `Foo.foo_bar` removed",
            "- names added: `Bar`",
            "- `Foo.bar_foo` added, optional (`str | None`)",
        ]

    def test_a_schema_that_cannot_be_built_is_named_with_the_reason(self) -> None:
        lines = note(FILE, {"$defs": {"Foo": TEXT}}, {"$defs": {"Foo": TEXT | {"maxLength": 1}}})

        assert lines[-1] == (
            "- They cannot be compared: the new schema cannot be built: $defs/Foo: no rule for the keyword maxLength"
        )

    @pytest.mark.parametrize(
        ("broken", "said"),
        [
            ("build", "- They cannot be compared: the old schema cannot be built: KeyError: 'properties'"),
            ("compare", "- It cannot be compared: KeyError: 'properties'"),
        ],
    )
    def test_a_defect_of_the_pipeline_leaves_the_rest_of_the_note(
        self, broken: str, said: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_arguments: object) -> None:
            raise KeyError("properties")

        monkeypatch.setattr(import_module("codegen.compare.note"), broken, fail)

        lines = note(FILE, {"$defs": {"Foo": TEXT}}, {"$defs": {"Foo": TEXT, "Bar": TEXT}})

        assert f"{said}, which is a defect of the pipeline" in lines
        assert ("- definitions added: `Bar`" in lines) == (broken == "build")
        assert ("- names added: `Bar`" in lines) == (broken == "compare")

    def test_what_is_not_installed_is_no_matter_of_the_schema(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_arguments: object) -> None:
            raise ModuleNotFoundError("No module named 'acp_bindings'")

        monkeypatch.setattr(import_module("codegen.compare.note"), "build", fail)

        with pytest.raises(ModuleNotFoundError):
            note(FILE, {"$defs": {"Foo": TEXT}}, {"$defs": {"Foo": TEXT, "Bar": TEXT}})

    def test_equal_names_are_said_to_be_equal(self) -> None:
        assert note(FILE, {"$defs": {"Foo": TEXT}}, {"$defs": {"Foo": TEXT | {"title": "A"}}})[-1] == "- No change"


class TestCommand:
    def test_it_compares_two_sources_file_by_file(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        same, gone, new, changed = (publishing.schema(each) for each in ("same", "gone", "new", "changed"))
        one = {"v1/schema.json": same, "v1/schema.unstable.json": gone, "v2/schema.json": same}
        two = {"v1/schema.json": same, "v2/schema.json": changed, "v2/schema.unstable.json": new}
        sources = [str(publishing.write(tmp_path / name, files)) for name, files in (("one", one), ("two", two))]

        assert main(sources) == 0

        printed = capsys.readouterr().out
        assert printed.startswith(
            "### v1/schema.json: unknown → unknown\n\n- No change at all\n\n"
            "### v1/schema.unstable.json: unknown → unknown\n\n- **Breaking:** gone: folder:two has no such file\n\n"
            "### v2/schema.json: unknown → unknown\n\n- 1 description changed\n"
        )
        assert printed.endswith(
            "\n\n### v2/schema.unstable.json: unknown → unknown\n\n- new: folder:one has no such file\n\n"
        )

    def test_an_unknown_source_is_an_error(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([str(tmp_path), "svn:acp"]) == 2
        assert capsys.readouterr().err.startswith("error: svn:acp: there is no such folder")

    def test_a_source_that_does_not_answer_in_time_is_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("PATH", str(publishing.install_hanging_npm(publishing.write(tmp_path / "bin", {}))))

        assert main(["--timeout", "0.2", f"npm:{publishing.PACKAGE}@2.4.0", str(tmp_path)]) == 2
        assert "no answer within 0.2 s" in capsys.readouterr().err

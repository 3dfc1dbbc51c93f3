import ast
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from codegen.build import PACKAGES
from codegen.methods import MODULE as METHODS
from codegen.partition import partition
from codegen.passes import normalise
from codegen.passes.tidy import open_booleans
from codegen.render import IMPORTED, RUNTIME_NAMES, Package, render
from codegen.tree import CodegenError, Definitions, Node
from codegen.verify import check_names, check_possible
from tests.codegen.small import META, TEXT, built, catch_all, listed, obj, published, ref, release, tagged

COMMITTED = Path(__file__).parents[2] / "src" / "acp_bindings"
COMMON = '"""ACP v1: common. From folder:small by `nox -s generate`; do not edit."""\n'


def module(defs: Definitions, folder: Path, name: str = "common") -> str:
    """One module of the package that *defs* give."""
    return (built(defs, folder) / f"{name}.py").read_text(encoding="utf-8")


class TestModules:
    def test_a_class_has_its_members_with_their_types_rules_defaults_and_docstrings(self, tmp_path: Path) -> None:
        lenient = {"x-deserialize-default-on-error": True}
        skipping = {"x-deserialize-skip-invalid-items": True}
        defs = {
            "Info": obj(
                "name tags size",
                name=TEXT | {"description": "Who it is.", "minLength": 1},
                tags=listed(TEXT) | lenient | skipping,
                size={"type": "integer", "format": "uint32", "minimum": 1},
                mimeType={"type": ["string", "null"], **lenient},
                readTextFile={"type": "boolean", "default": False},
                ratio={"type": "number", "minimum": 0, "maximum": 1},
                rawInput={"description": "Anything."},
                env={"type": "object", "additionalProperties": TEXT, "x-deserialize-default-on-null": True},
                _meta=META,
            )
            | {"description": "Information. " + "About this. " * 12},
        }

        assert module(defs, tmp_path) == COMMON + (
            "\n"
            "from typing import Annotated, Any\n"
            "\n"
            "from pydantic import Field\n"
            "\n"
            "from acp_bindings._model import Extensible\n"
            "from acp_bindings._types import Lenient, LenientList, NullAsEmpty, Omittable, Secret, Within\n"
            "\n"
            "\n"
            "class Info(Extensible):\n"
            '    """Information.\n'
            "\n"
            "    About this. About this. About this. About this. About this. About this. About this. About this."
            " About this. About\n"
            "    this. About this. About this.\n"
            '    """\n'
            "\n"
            "    name: Annotated[str, Field(min_length=1)]\n"
            '    """Who it is."""\n'
            "\n"
            "    tags: LenientList[list[str]]\n"
            "    size: Annotated[int, Field(ge=1, le=4294967295)]\n"
            "    mime_type: Lenient[str | None] = None\n"
            "    read_text_file: bool = False\n"
            "    ratio: Omittable[Annotated[float | None, Within(ge=0, le=1)]] = None\n"
            "    raw_input: Any = None\n"
            '    """Anything."""\n'
            "\n"
            "    env: NullAsEmpty[Secret[dict[str, str]]] = {}\n"
        )

    def test_a_union_is_an_alias_of_classes_that_are_told_apart_by_their_tag(self, tmp_path: Path) -> None:
        text = tagged("text") | {"allOf": [ref("TextContent")]}
        defs = {
            "Content": {"anyOf": [text, tagged("none"), catch_all("text", "none")], "description": "What is said."},
            "TextContent": obj("text", text=TEXT),
        }

        assert module(defs, tmp_path) == COMMON + (
            "\n"
            "from typing import Annotated, Literal, TypeAlias\n"
            "\n"
            "from acp_bindings._model import Model\n"
            "from acp_bindings._types import Tagged, Unlike\n"
            "\n"
            "\n"
            "class ContentNone(Model):\n"
            '    type: Literal["none"] = "none"\n'
            "\n"
            "\n"
            "class OtherContent(Model):\n"
            '    type: Annotated[str, Unlike("none", "text")]\n'
            "\n"
            "\n"
            "class TextContent(Model):\n"
            '    type: Literal["text"] = "text"\n'
            "    text: str\n"
            "\n"
            "\n"
            'Content: TypeAlias = Annotated[TextContent | ContentNone | OtherContent, Tagged("type")]\n'
            '"""What is said."""\n'
        )

    def test_a_member_says_what_it_owes_to_other_alternatives(self, tmp_path: Path) -> None:
        reasons = [tagged("a", by="reason"), tagged("b", by="reason") | {"allOf": [ref("B")]}]
        defs = {
            "Server": {"anyOf": [tagged("http"), ref("Stdio") | {"title": "stdio"}]},
            "Stdio": obj("command", command=TEXT),
            "Scope": {"oneOf": [ref("Stdio"), ref("Left")]},
            "Left": obj("l", l=TEXT),
            "Idle": obj(reason={"type": ["string", "null"]}) | {"anyOf": [*reasons, obj(reason={"type": "null"})]},
            "B": obj(more={"type": ["string", "null"]}),
            "Sub": obj(x=TEXT, _meta=META) | {"allOf": [ref("B")]},
        }

        assert module(defs, tmp_path) == COMMON + (
            "\n"
            "from typing import Annotated, Literal, TypeAlias\n"
            "\n"
            "from acp_bindings._model import Extensible, Model\n"
            "from acp_bindings._types import Absent, FirstMatch, Implied, Omittable, Tagged, When\n"
            "\n"
            "\n"
            "class B(Model):\n"
            "    more: str | None = None\n"
            "\n"
            "\n"
            "class Idle(Model):\n"
            '    reason: Literal["a", "b"] | None = None\n'
            '    more: Annotated[str | None, When("reason", "b")] = None\n'
            "\n"
            "\n"
            "class Left(Model):\n"
            "    l: str\n"
            "\n"
            "\n"
            "class ScopeLeft(Left):\n"
            "    command: Absent[None] = None\n"
            "\n"
            "\n"
            "class ServerHttp(Model):\n"
            '    type: Literal["http"] = "http"\n'
            "\n"
            "\n"
            "class Stdio(Model):\n"
            "    command: str\n"
            "\n"
            "\n"
            "class ScopeStdio(Stdio):\n"
            "    l: Absent[None] = None\n"
            "\n"
            "\n"
            "Scope: TypeAlias = Annotated[ScopeStdio | ScopeLeft, FirstMatch()]\n"
            "\n"
            "\n"
            "class ServerStdio(Stdio):\n"
            '    type: Annotated[Literal["stdio"], Implied("http")] = "stdio"\n'
            "\n"
            "\n"
            'Server: TypeAlias = Annotated[ServerHttp | ServerStdio, Tagged("type")]\n'
            "\n"
            "\n"
            "class Sub(B, Extensible):\n"
            "    x: Omittable[str | None] = None\n"
        )

    def test_aliases_stand_for_scalars_lists_enumerations_and_untagged_unions(self, tmp_path: Path) -> None:
        defs = {
            "Code": {"type": "integer", "format": "int32"},
            "Ids": listed(ref("Code")) | {"minItems": 1},
            "Kind": {"anyOf": [{"const": "a", "type": "string", "description": "First."}, TEXT]},
            "One": {"anyOf": [ref("Left"), ref("Right")]},
            "Left": obj("l", l=TEXT),
            "Loose": {"anyOf": [{"type": "integer"}, {"title": "other", "description": "Anything."}]},
            "Right": obj(left=ref("Empty") | {"default": {}}),
            "Empty": obj(),
            "Text": TEXT | {"description": "- One:\n- " + "And on. " * 16},
        }

        assert module(defs, tmp_path) == COMMON + (
            "\n"
            "from typing import Annotated, Any, Literal, TypeAlias\n"
            "\n"
            "from pydantic import Field\n"
            "\n"
            "from acp_bindings._model import Model\n"
            "from acp_bindings._types import FirstMatch, Int32\n"
            "\n"
            "Code: TypeAlias = Int32\n"
            "\n"
            "\n"
            "class Empty(Model):\n"
            "    pass\n"
            "\n"
            "\n"
            "Ids: TypeAlias = Annotated[list[Code], Field(min_length=1)]\n"
            "\n"
            "\n"
            'Kind: TypeAlias = Literal["a"] | str\n'
            '"""- `a`: First."""\n'
            "\n"
            "\n"
            "class Left(Model):\n"
            "    l: str\n"
            "\n"
            "\n"
            "Loose: TypeAlias = Annotated[int | Any, FirstMatch()]\n"
            "\n"
            "\n"
            "class Right(Model):\n"
            "    left: Empty = Field(default_factory=Empty)\n"
            "\n"
            "\n"
            "One: TypeAlias = Annotated[Left | Right, FirstMatch()]\n"
            "\n"
            "\n"
            "Text: TypeAlias = str\n"
            '"""- One:\n'
            "- " + "And on. " * 14 + "And\n"
            "  on. And on.\n"
            '"""\n'
        )

    def test_the_package_loads_each_module_when_it_is_used(self, tmp_path: Path) -> None:
        defs = {
            "PingRequest": obj(x=ref("Shared")) | {"x-method": "ping/it", "x-side": "agent"},
            "PongRequest": obj(x=ref("Shared")) | {"x-method": "pong/it", "x-side": "agent"},
            "Shared": TEXT,
        }

        assert module(defs, tmp_path, "__init__") == (
            '"""ACP v1. From folder:small by `nox -s generate`; do not edit."""\n'
            "\n"
            "from typing import TYPE_CHECKING\n"
            "\n"
            "if TYPE_CHECKING:\n"
            "    from .common import Shared as Shared\n"
            "    from .methods import METHODS as METHODS\n"
            "    from .ping import PingRequest as PingRequest\n"
            "    from .pong import PongRequest as PongRequest\n"
            "else:\n"
            "    from acp_bindings._lazy import lazy_names\n"
            "\n"
            "    # What each module holds; a module is loaded when one of its names is used.\n"
            "    __all__, __getattr__, __dir__ = lazy_names(\n"
            "        __name__,\n"
            "        {\n"
            '            "common": """\n'
            "            Shared\n"
            '        """,\n'
            '            "methods": """\n'
            "            METHODS\n"
            '        """,\n'
            '            "ping": """\n'
            "            PingRequest\n"
            '        """,\n'
            '            "pong": """\n'
            "            PongRequest\n"
            '        """,\n'
            "        },\n"
            "    )\n"
        )

    def test_two_builds_give_the_same_bytes(self, tmp_path: Path) -> None:
        defs = published("v1/schema.json")

        first, second = built(defs, tmp_path / "1"), built(defs, tmp_path / "2")

        names = sorted(path.name for path in first.iterdir())
        assert names == sorted(path.name for path in second.iterdir())
        assert [(first / name).read_bytes() for name in names] == [(second / name).read_bytes() for name in names]

    def test_what_the_generator_cannot_do_is_a_codegen_error(self, tmp_path: Path) -> None:
        with pytest.raises(CodegenError) as refused:
            render({}, {}, Package("v1", "v1", "folder:small"), tmp_path)

        assert str(refused.value) == "datamodel-code-generator failed: Models not found in the input data"

    def test_what_is_no_python_is_a_codegen_error(self, tmp_path: Path) -> None:
        with pytest.raises(CodegenError) as refused:
            render({"Foo": TEXT}, {"Foo": "common"}, Package("v1", "v1", 'folder:"""'), tmp_path)

        assert str(refused.value).startswith("ruff check failed on the generated code:\ninvalid-syntax: ")

    @pytest.mark.parametrize(
        "member",
        [
            listed(TEXT | {"minLength": 1}),
            listed(listed(TEXT) | {"minItems": 1}),
            listed({"type": "number", "minimum": 1}),
            {"type": "object", "additionalProperties": TEXT | {"minLength": 1}},
            {"anyOf": [TEXT | {"minLength": 1}, {"type": "integer"}]},
            {"anyOf": [TEXT | {"minLength": 1}, {"type": "integer"}, {"type": "null"}]},
        ],
    )
    def test_a_bound_inside_of_another_type_is_refused(self, tmp_path: Path, member: Node) -> None:
        with pytest.raises(CodegenError) as refused:
            built({"Foo": obj("x", x=member)}, tmp_path)
        with pytest.raises(CodegenError) as refused_as_alias:
            built({"Foo": member}, tmp_path)

        assert str(refused.value) == "Foo.x: no rule for a bound inside of another type"
        assert str(refused_as_alias.value) == "Foo: no rule for a bound inside of another type"


class TestGeneratedPackages:
    @pytest.fixture(params=PACKAGES.items(), ids=[package for package, _ in PACKAGES.values()])
    def file(self, request: pytest.FixtureRequest) -> str:
        return request.param[0]

    @pytest.fixture
    def modules(self, file: str) -> dict[str, ast.Module]:
        folder = COMMITTED / PACKAGES[file][0]
        return {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in folder.glob("*.py")}

    def test_every_module_begins_with_what_it_is_and_how_to_make_it_anew(
        self, file: str, modules: dict[str, ast.Module]
    ) -> None:
        protocol = PACKAGES[file][1]
        end = f"From {release(file)} by `nox -s generate`; do not edit."

        assert {name: ast.get_docstring(tree) for name, tree in modules.items()} == {
            name: f"ACP {protocol}. {end}" if name == "__init__" else f"ACP {protocol}: {name}. {end}"
            for name in modules
        }

    def test_no_module_is_longer_than_a_thousand_lines(self, file: str) -> None:
        folder = COMMITTED / PACKAGES[file][0]

        assert max(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.glob("*.py")) <= 1000

    def test_every_definition_has_one_class_or_alias_and_none_is_numbered(
        self, file: str, modules: dict[str, ast.Module]
    ) -> None:
        names = [
            name
            for tree in modules.values()
            for each in tree.body
            if (
                name := each.name
                if isinstance(each, ast.ClassDef)
                else getattr(getattr(each, "target", None), "id", None)
            )
        ]
        definitions = {name for name, node in published(file).items() if not node.get("x-docs-ignore")}

        assert len(names) == len(set(names))
        assert definitions <= set(names)
        assert [name for name in set(names) - definitions if name[-1].isdigit()] == []

    def test_no_definition_could_be_named_like_an_import(self, modules: dict[str, ast.Module]) -> None:
        imported = {
            alias.name
            for name, tree in modules.items()
            if name != METHODS
            for each in ast.walk(tree)
            if isinstance(each, ast.ImportFrom) and not each.level
            for alias in each.names
        }

        assert imported - {"lazy_names"} <= IMPORTED


@pytest.mark.parametrize("path", RUNTIME_NAMES)
def test_what_the_templates_import_exists(path: str) -> None:
    home, _, name = path.rpartition(".")

    assert hasattr(import_module(home), name)


PAIRS: Definitions = {
    "Left": obj("x", x=TEXT),
    "Right": obj("x", x=TEXT),
    "Pair": obj("left right", left=ref("Left"), right=ref("Right")),
    "Lefts": listed(ref("Left")),
}


class TestNames:
    @pytest.fixture
    def package(self, tmp_path: Path) -> Path:
        return built(PAIRS, tmp_path)

    def change(self, package: Path, old: str, new: str) -> str:
        """What is said after *old* became *new* in the generated code."""
        path = package / "common.py"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        defs = normalise(PAIRS)
        with pytest.raises(CodegenError) as refused:
            check_names(defs, partition(defs), package)
        return str(refused.value)

    def test_what_was_generated_is_accepted(self, package: Path) -> None:
        defs = normalise(PAIRS)

        check_names(defs, partition(defs), package)

    def test_a_member_of_another_class_is_found(self, package: Path) -> None:
        said = self.change(package, "    right: Right\n", "    right: Left\n")

        assert said == "Pair is made of ['Left'] where the schema says ['Left', 'Right']"

    def test_an_alias_of_another_class_is_found(self, package: Path) -> None:
        said = self.change(package, "list[Left]", "list[Right]")

        assert said == "Lefts is made of ['Right'] where the schema says ['Left']"

    def test_a_class_that_stands_in_quotes_counts(self, package: Path) -> None:
        said = self.change(package, "    right: Right\n", '    right: "Pair"\n    other: list["Lefts"]\n')

        assert said == "Pair is made of ['Left', 'Lefts', 'Pair'] where the schema says ['Left', 'Right']"

    def test_an_answer_that_is_another_is_found(self, tmp_path: Path) -> None:
        defs: Definitions = {
            name: obj() | {"x-method": method, "x-side": "agent"}
            for name, method in {"ARequest": "a", "AResponse": "a", "BRequest": "b", "BResponse": "b"}.items()
        }
        path = built(defs, tmp_path) / "connection.py"
        path.write_text(path.read_text(encoding="utf-8").replace('AnsweredBy["BResponse"]', 'AnsweredBy["AResponse"]'))

        with pytest.raises(CodegenError, match=r"^BRequest is made of \['AResponse'\] where the schema says"):
            check_names(normalise(defs), dict.fromkeys(defs, "connection"), path.parent)

    def test_a_class_of_another_name_is_found(self, package: Path) -> None:
        said = self.change(package, "class Right(", "class Right1(")

        assert said == "common.py defines Right1, which the schema puts in None"

    def test_a_class_that_is_missing_is_found(self, package: Path) -> None:
        assert self.change(package, "Lefts: TypeAlias = list[Left]", "") == "the generator left out Lefts"

    def test_a_class_in_another_module_is_found(self, package: Path) -> None:
        shutil.copy(package / "common.py", package / "a_session.py")

        said = self.change(package, "class", "class")

        assert said == "a_session.py defines Left, which the schema puts in common"

    def test_text_that_is_spelt_like_a_class_does_not_count(self, tmp_path: Path) -> None:
        """Constants, tags, aliases and docstrings hold text."""
        defs = {
            "Left": obj("x", x={"type": "string", "enum": ["Right", "Kind"]}) | {"description": "Right"},
            "Right": {"anyOf": [tagged("Left"), tagged("Kind"), catch_all("Left", "Kind")]},
            "Kind": {"type": "object", "properties": {"Left": TEXT | {"default": "Right"}}},
        }

        assert built(defs, tmp_path).is_dir()

    @pytest.mark.parametrize("tag", ["class", "copy", "_type"])
    def test_a_tag_that_cannot_be_an_attribute_of_its_name_is_refused(self, tmp_path: Path, tag: str) -> None:
        with pytest.raises(CodegenError) as refused:
            built({"Foo": {"anyOf": [tagged("a", by=tag), tagged("b", by=tag)]}}, tmp_path)

        said = f"FooA: its tag {tag} cannot be an attribute of that name, so no union would find it"
        assert str(refused.value) == said

    @pytest.mark.parametrize("twin", ["\ufb01", "\uff46\uff49"])
    def test_members_that_python_takes_for_one_are_refused(self, tmp_path: Path, twin: str) -> None:
        with pytest.raises(CodegenError) as refused:
            built({"Foo": {"type": "object", "properties": {"fi": TEXT, twin: TEXT}}}, tmp_path)

        assert str(refused.value) == "Foo: two of its members would both have the attribute fi"


EXTENSIBLE: Node = {"x-extensible": True}


class TestPossibleNames:
    def refusal(self, defs: Definitions) -> str:
        with pytest.raises(CodegenError) as refused:
            check_possible(defs, {"Literal"})
        return str(refused.value)

    @pytest.mark.parametrize("name", ["Exception", "Type", "Foo2", "URL", "A"])
    def test_a_class_may_have_any_other_name(self, name: str) -> None:
        check_possible({name: TEXT}, {"Literal"})

    @pytest.mark.parametrize(
        "name", ["list", "str", "class", "None", "True", "foo", "Foo_Bar", "Foo.Bar", "2nd", "É", ""]
    )
    def test_what_cannot_name_a_class_is_refused(self, name: str) -> None:
        assert self.refusal({name: TEXT}) == f"{name}: this is no name that a class of the package can have"

    def test_a_name_that_the_code_imports_is_refused(self) -> None:
        said = "Literal: the generated code needs this name itself, for what it imports"

        assert self.refusal({"Literal": TEXT}) == said

    @pytest.mark.parametrize(
        "defs",
        [
            {"Foo": ref("Foo")},
            {"Foo": listed(ref("Foo"))},
            {"Foo": {"type": "object", "additionalProperties": ref("Foo")}},
            {"Foo": {"anyOf": [ref("Bar")]}, "Bar": obj(foo=ref("Foo"))},
        ],
    )
    def test_an_alias_that_is_made_of_itself_is_refused(self, defs: Definitions) -> None:
        assert self.refusal(defs) == "Foo: it is made of itself; only an object may be, through a member"

    def test_an_object_may_hold_itself(self) -> None:
        check_possible({"Foo": obj(foo=ref("Foo"), bar=ref("Bar")), "Bar": obj(foo=ref("Foo"))}, set())

    @pytest.mark.parametrize("key", ["meta", "Meta"])
    def test_a_member_that_would_hide_meta_is_refused(self, key: str) -> None:
        said = f"Foo.{key}: _meta has the attribute meta already"
        named, extends = obj(**{key: TEXT}), {"allOf": [ref("Bar")]}

        assert self.refusal({"Foo": named | EXTENSIBLE}) == said
        assert self.refusal({"Foo": obj() | EXTENSIBLE | extends, "Bar": named}) == said
        assert self.refusal({"Foo": named | extends, "Bar": obj() | EXTENSIBLE}) == said

    @pytest.mark.parametrize("key", ["meta", "Meta"])
    def test_an_object_without_meta_may_have_a_member_of_that_name(self, key: str) -> None:
        check_possible({"Foo": obj(**{key: TEXT})}, set())

    def test_two_rules_for_meta_in_one_family_are_refused(self) -> None:
        own, extends = obj(_meta={}) | EXTENSIBLE, {"allOf": [ref("Bar")]}
        said = "Foo: _meta is not what it is in the object that Foo extends"

        assert self.refusal({"Foo": own | extends, "Bar": obj() | EXTENSIBLE}) == said
        assert self.refusal({"Foo": obj() | EXTENSIBLE | extends, "Bar": own}) == said

    @pytest.mark.parametrize("key", ["fooBar", "foo_bar"])
    def test_a_member_that_would_hide_an_inherited_one_is_refused(self, key: str) -> None:
        middle = obj(y=TEXT) | {"allOf": [ref("Base")]}
        defs = {"Foo": obj(foo_bar=TEXT) | {"allOf": [ref("Middle")]}, "Middle": middle, "Base": obj(**{key: TEXT})}

        assert self.refusal(defs) == f"Foo.foo_bar: its attribute is that of {key}, which Foo inherits"

    def test_a_base_that_is_no_object_is_refused(self) -> None:
        defs = {"Foo": obj(x=TEXT) | {"allOf": [ref("Id")]}, "Id": TEXT}

        assert self.refusal(defs) == "Foo: it extends Id, which is no object"

    @pytest.mark.parametrize("file", PACKAGES)
    def test_all_names_of_the_real_schemas_are_possible(self, file: str) -> None:
        check_possible(normalise(open_booleans(published(file))), IMPORTED)

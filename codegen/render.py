"""Write normalised definitions as a package of Python modules, with datamodel-code-generator and ruff."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datamodel_code_generator import Error, InputFileType, LiteralType, PythonVersion, generate
from datamodel_code_generator.enums import AliasGenerator, DataModelType
from jinja2 import TemplateError

from codegen import naming as runtime
from codegen.methods import MODULE, NAME, methods_source
from codegen.naming import snake
from codegen.passes.bases import ANYTHING
from codegen.passes.objects import META
from codegen.tree import CodegenError, Definitions, Node, arms, ref, target, walk, with_children, without
from codegen.verify import BASE_MEMBER, check_possible


def package_init(modules: dict[str, str]) -> str:
    """Return the source of `__init__.py` for definitions in *modules*."""
    homes: dict[str, list[str]] = {}
    for name, module in sorted(modules.items()):
        homes.setdefault(module, []).append(name)
    imports = [
        f"    from .{module} import {', '.join(f'{name} as {name}' for name in names)}"
        for module, names in sorted(homes.items())
    ]
    table = [f'            "{module}": {_text_of(names)},' for module, names in sorted(homes.items())]
    return "\n".join(
        [
            "from typing import TYPE_CHECKING",
            "",
            "if TYPE_CHECKING:",
            *imports,
            "else:",
            "    from acp_bindings._lazy import lazy_names",
            "",
            "    # The names of each module. A module is imported when one of its names is first used.",
            "    __all__, __getattr__, __dir__ = lazy_names(__name__, {",
            *table,
            "    })",
            "",
        ]
    )


def _text_of(names: list[str]) -> str:
    """Return a string literal of *names*: one line if they fit, else an indented block."""
    if len(text := " ".join(names)) <= 80:
        return f'"{text}"'
    margin = " " * 16
    return f'"""\n{textwrap.fill(text, 116, initial_indent=margin, subsequent_indent=margin)}\n            """'


WIDTH = 120
_ITEM = re.compile(r"(?P<indent>\s*)([-*]|\d+\.) ")
_ROW = re.compile(r"[|>#]")
"""The start of table rows, quotations and headings, which are not joined with other lines."""
_CODE = re.compile(r"^([ \t]*```.*?^[ \t]*```)[ \t]*$", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(r"([.:]) (?=[A-Z`])")


def docstring(text: str | None, *, indent: int) -> str:
    """Return *text* as a docstring literal for code at *indent* spaces; empty if there is no text."""
    if not text or not text.strip():
        return ""
    lines = _wrap(_with_summary(text.strip(), WIDTH - indent - 6), WIDTH - indent)
    escaped = [_escaped(line) for line in lines]
    if len(escaped) == 1 and len(escaped[0]) + indent + 6 <= WIDTH and not escaped[0].endswith('"'):
        return f'"""{escaped[0]}"""'
    margin = " " * indent
    body = "\n".join(f"{margin}{line}".rstrip() for line in escaped[1:])
    first = escaped[0]
    return f'"""{first}\n{body}\n{margin}"""' if body else f'"""{first}\n{margin}"""'


def _escaped(line: str) -> str:
    """Return *line* for a literal, with invisible characters such as text direction marks escaped."""
    quoted = line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in quoted)


def _with_summary(text: str, room: int) -> str:
    """Return *text* with its first sentence as a separate paragraph, unless the first paragraph fits on one line."""
    first, gap, rest = text.partition("\n\n")
    if "```" in first:
        return text
    first = " ".join(_blocks(first)) if not _ITEM.search(first) else first
    if len(first) > room and not _ITEM.match(first):
        first = _SENTENCE.sub(r"\1\n\n", first, count=1)
    if first[-1].isalnum() or first[-1] in "`)":
        first += "."
    return first + gap + rest


def _wrap(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for number, part in enumerate(_CODE.split(text)):
        is_code = number % 2 == 1
        for paragraph in [part.expandtabs(4)] if is_code else re.split(r"\n\s*\n", part.strip()):
            if lines and paragraph:
                lines.append("")
            lines += paragraph.splitlines() if is_code else _wrapped(paragraph, width, is_first=not lines)
    return lines


def _wrapped(paragraph: str, width: int, *, is_first: bool) -> list[str]:
    lines: list[str] = []
    for block in _blocks(paragraph):
        item = _ITEM.match(block)
        hang = f"{item['indent']}  " if item else ""
        room = width - 3 if is_first and not lines else width
        wrapped = textwrap.wrap(block, room, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)
        lines += [block] if _ROW.match(block) else wrapped
    return lines


def _blocks(paragraph: str) -> list[str]:
    """Return the blocks of a paragraph: each list item and row, and the running text as one."""
    blocks: list[str] = []
    for line in paragraph.splitlines():
        stripped = line.strip()
        if _ITEM.match(line):
            blocks.append(line.rstrip())
        elif not blocks or stripped.startswith("See protocol docs") or _ROW.match(stripped) or _ROW.match(blocks[-1]):
            blocks.append(stripped)
        else:
            blocks[-1] = f"{blocks[-1]} {stripped}"
    return blocks


TEMPLATES = Path(__file__).parent / "templates"
LINE_LENGTH = 120

RUNTIME_NAMES = [
    "typing.TYPE_CHECKING",
    "typing.TypeAlias",
    "typing.Annotated",
    "typing.Any",
    "typing.Literal",
    "pydantic.Field",
    *(runtime.TYPES + name for name in (*runtime.WRAPPERS, *runtime.MARKS)),
    *(runtime.BASES + name for name in (runtime.REQUEST_PARAMS, runtime.NOTIFICATION_PARAMS, runtime.EXTENSIBLE)),
]
"""The names that the templates may use. ruff removes the imports that a module does not need."""

IMPORTED = {
    *(path.rpartition(".")[2] for path in RUNTIME_NAMES),
    *(*runtime.INTEGERS.values(), runtime.NUMBER),
    *(runtime.MODEL, runtime.RESPONSE),
    NAME,
    *("BaseModel", "ConfigDict", "Optional", "TypeAliasType", "Union"),
}
"""The names that definitions cannot have, because generated modules import them."""

CONSTRAINTS = {
    "minItems": "min_length",
    "minLength": "min_length",
    "pattern": "pattern",
    "minimum": "ge",
    "maximum": "le",
}
BOUNDS = CONSTRAINTS.keys() | {"x-within"}


@dataclass(frozen=True)
class Package:
    """The name of a generated package and the source of its schema."""

    name: str
    protocol: str
    release: str

    def header(self, module: str) -> str:
        """Return the first line of a generated module.

        Only the line of the package, whose *module* is empty, contains the release, so that a new release with the same
        schema changes one line.
        """
        what, how = (f": {module}", "Generated") if module else ("", f"From {self.release}")
        return f'"""ACP {self.protocol}{what}. {how} by `nox -s generate`; do not edit."""\n'


def render(defs: Definitions, modules: dict[str, str], package: Package, output: Path) -> None:
    """Write *defs* as the package *output* and replace its modules.

    Raises:
        CodegenError: a name or a bound cannot be expressed in Python.
    """
    check_possible(defs, IMPORTED)
    if MODULE in modules.values():
        raise CodegenError(f"a module would have the name {MODULE}, which is that of the table of methods")
    document = {_path(name, modules): _for_generator(node, modules) for name, node in sorted(defs.items())}
    plans: dict[str, dict[str, Any]] = {_path(name, modules): {"plan": _plan(name, defs[name])} for name in defs}
    _generate(document, plans, output)
    for path in sorted(output.glob("*.py")):
        body = path.read_text(encoding="utf-8").removeprefix("#") + _foreign_answers(path.stem, defs, modules)
        path.write_text(package.header(path.stem) + body, encoding="utf-8")
    (output / f"{MODULE}.py").write_text(package.header(MODULE) + "\n" + methods_source(defs), encoding="utf-8")
    init = package_init({**modules, NAME: MODULE})
    (output / "__init__.py").write_text(package.header("") + init, encoding="utf-8")
    _format(output)


def _generate(document: Definitions, plans: dict[str, dict[str, Any]], output: Path) -> None:
    try:
        generate(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": document},
            input_file_type=InputFileType.JsonSchema,
            output=output,
            output_model_type=DataModelType.PydanticV2BaseModel,
            target_python_version=PythonVersion.PY_311,
            custom_template_dir=TEMPLATES,
            extra_template_data=defaultdict(dict, plans),
            additional_imports=RUNTIME_NAMES,
            alias_generator=AliasGenerator.ToCamel,
            aliases={META: BASE_MEMBER},
            snake_case_field=True,
            use_annotated=True,
            use_type_alias=True,
            use_standard_collections=True,
            use_union_operator=True,
            strict_nullable=True,
            enum_field_as_literal=LiteralType.All,
            skip_root_model=True,
            keep_model_order=True,
            use_exact_imports=True,
            strict_refs=True,
            disable_timestamp=True,
            disable_future_imports=True,
            allow_remote_refs=False,
            custom_file_header="#",
            formatters=[],
        )
    except (Error, TemplateError) as error:
        raise CodegenError(f"datamodel-code-generator failed: {error}") from error


def _path(name: str, modules: dict[str, str]) -> str:
    return f"{modules[name]}.{name}"


def _foreign_answers(module: str, defs: Definitions, modules: dict[str, str]) -> str:
    """Return the imports of response types from other modules, which only type checkers run, so there is no cycle."""
    named = {answer for name, node in defs.items() if modules[name] == module for answer in node.get("x-responses", [])}
    foreign = sorted((modules[name], name) for name in named & defs.keys() if modules[name] != module)
    # With an alias, ruff does not remove an import that only a quoted name needs.
    imports = [f"    from .{home} import {name} as {name}\n" for home, name in foreign]
    return "\n\nif TYPE_CHECKING:\n" + "".join(imports) if imports else ""


def _for_generator(node: Node, modules: dict[str, str]) -> Node:
    """Return *node* for the generator: all fields are required, so that a type contains None only if null is valid."""
    if "x-absent" in node:
        return {"type": "null"}
    if "x-default-tag" in node:
        return {"const": node["x-default-tag"]}
    node = {key: value for key, value in node.items() if not key.startswith("x-")}
    node = without(node, "description", "title", "default", *CONSTRAINTS)
    if (name := target(node)) is not None:
        return ref(_path(name, modules))
    if isinstance(node.get("type"), list):
        alone = node | {"type": next(each for each in node["type"] if each != "null")}
        return {"anyOf": [_for_generator(alone, modules), {"type": "null"}]}
    required = {"required": sorted(node["properties"])} if "properties" in node else {}
    return with_children(node, lambda child: _for_generator(child, modules)) | required


def _plan(name: str, node: Node) -> dict[str, Any]:
    """Return the parts that the templates add to the types of the generator, for one definition."""
    is_class = "properties" in node
    plan: dict[str, Any] = {"doc": docstring(node.get("description"), indent=4 if is_class else 0)}
    if is_class:
        required = node.get("required", [])
        members = node["properties"].items()
        plan["members"] = {key: _member(f"{name}.{key}", value, required=key in required) for key, value in members}
        plan["mixin"] = node.get("x-mixin")
        plan["request"] = _answered(node.get("x-responses", []))
        plan["notification"] = runtime.NOTIFICATION_PARAMS if node.get("x-notification") else ""
    else:
        plan["open"], plan["close"] = _annotated([*_constraints(name, node), *_choice(node)])
    return plan


def _answered(answers: list[str]) -> str:
    """Return the marker of a request. The response type is quoted, because it is usually defined later."""
    if not answers:
        return ""
    return f"RequestParams[{ANYTHING}]" if answers == [ANYTHING] else f'RequestParams["{" | ".join(answers)}"]'


def _member(where: str, node: Node, *, required: bool) -> dict[str, str]:
    wrappers = [
        node.get("x-reads"),
        "Absent" if node.get("x-absent") else None,
        "Omittable" if node.get("x-omittable") else None,
        "Secret" if node.get("x-secret") else None,
    ]
    names = [wrapper for wrapper in wrappers if wrapper]
    metadata = _constraints(where, node)
    if "x-not-enum" in node:
        mark = "UntaggedUnless" if node.get("x-untagged") else "DefaultUnless" if "x-default-tag" in node else "NotEnum"
        metadata.append(f"{mark}({', '.join(map(repr, node['x-not-enum']))})")
    if when := node.get("x-when"):
        metadata.append(f"When({', '.join(map(repr, [snake(when['member']), *when['values']]))})")
    opening, closing = _annotated(metadata)
    return {
        "open": "".join(f"{name}[" for name in names) + opening,
        "close": closing + "]" * len(names),
        "default": _default(node, required=required),
        "doc": docstring(node.get("description"), indent=4),
    }


def _annotated(metadata: list[str]) -> tuple[str, str]:
    """Return the two halves of an `Annotated` with *metadata*; empty if there is none."""
    return ("Annotated[", f", {', '.join(metadata)}]") if metadata else ("", "")


def _constraints(where: str, node: Node) -> list[str]:
    """Return the bounds of a value, which apply to the whole type. pydantic does not apply them to null.

    Raises:
        CodegenError: only a part of the type has bounds.
    """
    bounds = [part for part in walk(node) if part.keys() & BOUNDS]
    values = [arm for arm in arms(node) if arm != {"type": "null"}]
    if any(part is not node and [part] != values for part in bounds):
        raise CodegenError(f"{where}: no rule for a bound inside another type")
    limits = {CONSTRAINTS[key]: part[key] for part in bounds for key in CONSTRAINTS if key in part}
    within = {side: limit for part in bounds for side, limit in part.get("x-within", {}).items()}
    return [
        f"{mark}({', '.join(f'{key}={value!r}' for key, value in found.items())})"
        for mark, found in (("Field", limits), ("Within", within))
        if found
    ]


def _default(node: Node, *, required: bool) -> str:
    if "const" in node or "x-default-tag" in node:
        return repr(node.get("const", node.get("x-default-tag")))
    if required:
        return ""
    if "x-default-object" in node:
        return f"Field(default_factory={node['x-default-object']})"
    return repr(node.get("default"))


def _choice(node: Node) -> list[str]:
    """Return the metadata of a union alias, which decides between variants. Strings and numbers need none."""
    if tag := node.get("x-tag"):
        return [f"Tagged({tag!r})"]
    named = [arm for arm in arms(node) if target(arm) is not None or not arm.keys() - {"title", "description"}]
    held = [arm for arm in arms(node) if any(each in arm.get("type", ()) for each in ("array", "object"))]
    return ["FirstMatch()"] if len(arms(node)) > 1 and (named or len(held) > 1) else []


def _format(output: Path) -> None:
    """Sort imports, remove unused ones and format with ruff, independent of any configuration."""
    ruff = [sys.executable, "-m", "ruff"]
    common = ["--isolated", "--quiet", f"--line-length={LINE_LENGTH}", "--target-version=py311"]
    common += [
        "--config=format.skip-magic-trailing-comma=true",
        "--config=lint.isort.split-on-trailing-comma=false",
        "--config=lint.isort.combine-as-imports=true",
    ]
    rules = ["--select=F401,I", "--fix", '--config=lint.isort.known-first-party=["acp_bindings"]']
    for command in (["check", *common, *rules], ["format", *common]):
        result = subprocess.run([*ruff, *command, str(output)], capture_output=True, text=True, check=False)
        if result.returncode:
            raise CodegenError(f"ruff {command[0]} failed on the generated code:\n{result.stdout}{result.stderr}")

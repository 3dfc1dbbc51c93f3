"""Checks that every name means in Python what it means in the schema, before the generator runs and after."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import re
import sys
import traceback
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from keyword import iskeyword
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, TypeAdapter

from codegen.methods import MODULE as METHODS
from codegen.naming import snake
from codegen.passes.objects import META
from codegen.tree import CodegenError, Definitions, Node, is_class, reachable, target, targets, walk

CLASS_NAME = re.compile("[A-Z][A-Za-z0-9]*")
BASE_MEMBER = "meta"


def check_possible(defs: Definitions, taken: Iterable[str]) -> None:
    """Refuse names that would mean something else in Python, and definitions that Python cannot write down.

    Args:
        defs: the normalised definitions.
        taken: the names that generated modules import.

    Raises:
        CodegenError: names the definition.
    """
    for name, node in defs.items():
        if not CLASS_NAME.fullmatch(name) or iskeyword(name):
            raise CodegenError(f"{name}: this is no name that a class of the package can have")
        if name in taken:
            raise CodegenError(f"{name}: the generated code needs this name itself, for what it imports")
        if not is_class(node) and any(name in reachable(defs, {part}) for part in targets(node)):
            raise CodegenError(f"{name}: it is made of itself; only an object may be, through a member")
        if any("properties" in part for part in walk(node) if part is not node):
            raise CodegenError(f"{name}: an object is written out in it where it can get no name; make it a definition")
        _check_members(name, node, defs)


def _check_members(name: str, node: Node, defs: Definitions) -> None:
    attributes = {snake(key): key for key in node.get("properties", {})}
    parents = list(_parents(name, node, defs))
    for parent in parents:
        for key in parent.get("properties", {}):
            if own := attributes.get(snake(key)):
                raise CodegenError(f"{name}.{own}: its attribute is that of {key}, which {name} inherits")
    _check_meta(name, [node, *parents])


def _check_meta(name: str, family: list[Node]) -> None:
    """Refuse a member with the attribute of `_meta`, and a class that describes `_meta` otherwise than its base."""
    extensible = [node for node in family if "x-extensible" in node]
    for key in [key for node in family for key in node.get("properties", {}) if extensible]:
        if key == META and len(extensible) > 1:
            raise CodegenError(f"{name}: {META} is not what it is in the object that {name} extends")
        if key != META and snake(key) == BASE_MEMBER:
            raise CodegenError(f"{name}.{key}: {META} has the attribute {BASE_MEMBER} already")


def _parents(name: str, node: Node, defs: Definitions) -> Iterator[Node]:
    for part in node.get("allOf", []):
        parent = target(part) or ""
        if not is_class(defs[parent]):
            raise CodegenError(f"{name}: it extends {parent}, which is no object")
        yield defs[parent]
        yield from _parents(parent, defs[parent], defs)


def check_names(defs: Definitions, modules: dict[str, str], output: Path) -> None:
    """See that the generated names are exactly the definitions, each in its module, and refer to the same others.

    Raises:
        CodegenError: names what differs.
    """
    written: dict[str, set[str]] = {}
    for path in sorted(output.glob("*.py")):
        if path.stem == METHODS:
            continue
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            name = defined(statement)
            if name is None:
                continue
            if modules.get(name) != path.stem:
                raise CodegenError(f"{path.name} defines {name}, which the schema puts in {modules.get(name)}")
            written[name] = _used(statement) & defs.keys()
            _check_tags(name, defs[name], statement)
            _check_attributes(name, statement)
    if missing := sorted(defs.keys() - written.keys()):
        raise CodegenError(f"the generator left out {', '.join(missing)}")
    for name, node in defs.items():
        expected = targets(node).union(node.get("x-responses", [])) & defs.keys()
        if written[name] - {name} != expected - {name}:
            raise CodegenError(f"{name} is made of {sorted(written[name])} where the schema says {sorted(expected)}")


def _check_tags(name: str, node: Node, statement: ast.stmt) -> None:
    """See that tags, and members that decide on others, have their own attributes: unions find them by these."""
    members = node.get("properties", {})
    sought = {key for key, member in members.items() if member.keys() & {"const", "x-not-enum"}}
    sought |= {member["x-when"]["member"] for member in members.values() if "x-when" in member}
    attributes = {defined(each) for each in getattr(statement, "body", [])}
    if lost := sorted(key for key in sought if snake(key) not in attributes):
        raise CodegenError(f"{name}: its tag {lost[0]} cannot be an attribute of that name, so no union would find it")


def _check_attributes(name: str, statement: ast.stmt) -> None:
    """Refuse two members with one attribute: Python takes some names for the same, such as `ﬁ` and `fi`."""
    attributes = [defined(each) for each in getattr(statement, "body", []) if isinstance(each, ast.AnnAssign)]
    if twice := sorted(each for each in attributes if each and attributes.count(each) > 1):
        raise CodegenError(f"{name}: two of its members would both have the attribute {twice[0]}")


def defined(statement: ast.stmt) -> str | None:
    """The name that a *statement* of a generated module defines, if it does."""
    if isinstance(statement, ast.ClassDef):
        return statement.name
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    return None


def _used(statement: ast.stmt) -> set[str]:
    used = _Used()
    used.visit(statement)
    return used.names


class _Used(ast.NodeVisitor):
    """The names to which a statement refers, also those in quotes, which stand for classes further down."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        self.names.add(node.id)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.names.update(node.value.split(" | "))

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not (isinstance(node.value, ast.Name) and node.value.id == "Literal"):
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        """Not into marks and defaults, which name no definitions but that of the type."""

    def visit_Expr(self, node: ast.Expr) -> None:
        """Not into docstrings."""


_numbers = itertools.count()


def check_completes(defs: Definitions, modules: dict[str, str], package: Path) -> None:
    """Import the *package* and complete each of its definitions.

    Raises:
        CodegenError: names the definition that cannot be completed, the innermost when others are made of it.
    """
    failed: dict[str, Exception] = {}
    with _imported(package) as root:
        for module in sorted(set(modules.values())):
            try:
                import_module(f"{root.__name__}.{module}")
            except Exception as error:
                where = _definition_at(error, package)
                raise CodegenError(f"{where}: Python cannot run what is generated of it: {_said(error)}") from error
        for name, module in modules.items():
            try:
                _complete(getattr(sys.modules[f"{root.__name__}.{module}"], name))
            except Exception as error:  # noqa: BLE001 - whatever it is, it would meet whoever uses the definition
                failed[name] = error
    if failed:
        name = min(failed, key=lambda each: (len(reachable(defs, {each})), each))
        said = _said(failed[name])
        raise CodegenError(f"{name}: pydantic cannot read by what is generated of it: {said}") from failed[name]


def _said(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _definition_at(error: Exception, package: Path) -> str:
    """The definition in which a module of the *package* stopped with *error*."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).parent == package]
    path, line = (Path(frames[-1].filename), frames[-1].lineno or 0) if frames else (package / "__init__.py", 0)
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if statement.lineno <= line <= (statement.end_lineno or line):
            # What refers to something further down is completed at the end: `Foo.model_rebuild()`.
            names = [each.id for each in ast.walk(statement) if isinstance(each, ast.Name)]
            return defined(statement) or (names or [path.name])[0]
    return path.name


def _complete(definition: Any) -> None:
    if isinstance(definition, type(BaseModel)):
        definition.model_rebuild()
    else:
        TypeAdapter(definition).rebuild()


@contextmanager
def _imported(package: Path) -> Generator[ModuleType]:
    """The package in a folder, under a name of its own and without a trace when the block ends."""
    name = f"_completed_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, package / "__init__.py")
    if spec is None or spec.loader is None:
        raise CodegenError(f"{package}: this is no package that could be imported")
    module = importlib.util.module_from_spec(spec)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    invalidate_caches()
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.dont_write_bytecode = writes
        for each in [each for each in sys.modules if each.partition(".")[0] == name]:
            del sys.modules[each]

"""Checks of the generated code: before the generator runs, after it, and by importing the result."""

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
    """Refuse names that have another meaning in Python, and definitions that Python cannot express.

    Args:
        defs: the normalised definitions.
        taken: the names that generated modules import.

    Raises:
        CodegenError: names the definition.
    """
    for name, node in defs.items():
        if not CLASS_NAME.fullmatch(name) or iskeyword(name):
            raise CodegenError(f"{name}: not a valid name for a class of the package")
        if name in taken:
            raise CodegenError(f"{name}: the generated code imports something of this name")
        if not is_class(node) and any(name in reachable(defs, {part}) for part in targets(node)):
            raise CodegenError(f"{name}: refers to itself, which only an object may do, in a field")
        if any("properties" in part for part in walk(node) if part is not node):
            raise CodegenError(f"{name}: contains an inline object that cannot get a name; make it a definition")
        _check_members(name, node, defs)


def _check_members(name: str, node: Node, defs: Definitions) -> None:
    attributes = {snake(key): key for key in node.get("properties", {})}
    parents = list(_parents(name, node, defs))
    for parent in parents:
        for key in parent.get("properties", {}):
            if own := attributes.get(snake(key)):
                raise CodegenError(f"{name}.{own}: has the same attribute as {key}, which {name} inherits")
    _check_meta(name, [node, *parents])


def _check_meta(name: str, family: list[Node]) -> None:
    """Refuse a field with the attribute of `_meta`, and a class with another `_meta` than its base class."""
    extensible = [node for node in family if "x-extensible" in node]
    for key in [key for node in family for key in node.get("properties", {}) if extensible]:
        if key == META and len(extensible) > 1:
            raise CodegenError(f"{name}: {META} differs from that of the object that {name} extends")
        if key != META and snake(key) == BASE_MEMBER:
            raise CodegenError(f"{name}.{key}: the attribute {BASE_MEMBER} is that of {META}")


def _parents(name: str, node: Node, defs: Definitions) -> Iterator[Node]:
    for part in node.get("allOf", []):
        parent = target(part) or ""
        if not is_class(defs[parent]):
            raise CodegenError(f"{name}: extends {parent}, which is not an object")
        yield defs[parent]
        yield from _parents(parent, defs[parent], defs)


def check_names(defs: Definitions, modules: dict[str, str], output: Path) -> None:
    """Check that the generated names are exactly the definitions, in their modules and with the same references.

    Raises:
        CodegenError: they differ.
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
                raise CodegenError(f"{path.name} defines {name}, which belongs to {modules.get(name)}")
            written[name] = _used(statement) & defs.keys()
            _check_tags(name, defs[name], statement)
            _check_attributes(name, statement)
    if missing := sorted(defs.keys() - written.keys()):
        raise CodegenError(f"the generator omitted {', '.join(missing)}")
    for name, node in defs.items():
        expected = targets(node).union(node.get("x-responses", [])) & defs.keys()
        if written[name] - {name} != expected - {name}:
            raise CodegenError(f"{name} refers to {sorted(written[name])}, but in the schema to {sorted(expected)}")


def _check_tags(name: str, node: Node, statement: ast.stmt) -> None:
    """Check that tags, and fields that others depend on, have their own names as attributes, as unions require."""
    members = node.get("properties", {})
    sought = {key for key, member in members.items() if member.keys() & {"const", "x-not-enum"}}
    sought |= {member["x-when"]["member"] for member in members.values() if "x-when" in member}
    attributes = {defined(each) for each in getattr(statement, "body", [])}
    if lost := sorted(key for key in sought if snake(key) not in attributes):
        raise CodegenError(
            f"{name}: the tag {lost[0]} cannot be an attribute of that name, so a union would not find it"
        )


def _check_attributes(name: str, statement: ast.stmt) -> None:
    """Refuse two fields with one attribute. Some different names are equal in Python, such as `ﬁ` and `fi`."""
    attributes = [defined(each) for each in getattr(statement, "body", []) if isinstance(each, ast.AnnAssign)]
    if twice := sorted(each for each in attributes if each and attributes.count(each) > 1):
        raise CodegenError(f"{name}: two fields have the attribute {twice[0]}")


def defined(statement: ast.stmt) -> str | None:
    """Return the name that a *statement* of a generated module defines, or None."""
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
    """The names that a statement refers to, including quoted names of classes that are defined later."""

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
        """Skip markers and defaults, which refer to no other definitions."""

    def visit_Expr(self, node: ast.Expr) -> None:
        """Skip docstrings."""


_numbers = itertools.count()


def check_completes(defs: Definitions, modules: dict[str, str], package: Path) -> None:
    """Import the *package* and build the validator of each definition.

    Raises:
        CodegenError: names the innermost definition that failed.
    """
    failed: dict[str, Exception] = {}
    with _imported(package) as root:
        for module in sorted(set(modules.values())):
            try:
                import_module(f"{root.__name__}.{module}")
            except Exception as error:
                where = _definition_at(error, package)
                raise CodegenError(f"{where}: the generated code cannot be run: {_describe(error)}") from error
        for name, module in modules.items():
            try:
                _complete(getattr(sys.modules[f"{root.__name__}.{module}"], name))
            except Exception as error:  # noqa: BLE001 - any error would reach users of the definition
                failed[name] = error
    if failed:
        name = min(failed, key=lambda each: (len(reachable(defs, {each})), each))
        reason = _describe(failed[name])
        raise CodegenError(f"{name}: pydantic cannot build a validator for the generated code: {reason}") from failed[
            name
        ]


def _describe(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _definition_at(error: Exception, package: Path) -> str:
    """Return the definition at which a module of the *package* raised *error*."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).parent == package]
    path, line = (Path(frames[-1].filename), frames[-1].lineno or 0) if frames else (package / "__init__.py", 0)
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if statement.lineno <= line <= (statement.end_lineno or line):
            # Classes that refer to later ones are completed at the end of a module: `Foo.model_rebuild()`.
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
    """Import the package under a temporary name, and remove it when the block ends."""
    name = f"_completed_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, package / "__init__.py")
    if spec is None or spec.loader is None:
        raise CodegenError(f"{package}: not a package")
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

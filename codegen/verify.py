"""Checks of the generated code: before the generator runs, after it, and by importing the result."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType

from pydantic import BaseModel, TypeAdapter

from codegen.naming import snake
from codegen.passes.objects import META
from codegen.tree import CodegenError, Definitions, Node, lineage, walk

BASE_MEMBER = "meta"


def check_possible(defs: Definitions, taken: Iterable[str]) -> None:
    """Refuse names that generated modules import, and definitions that Python cannot express.

    *taken* are the names that generated modules import.

    Raises:
        CodegenError: names the definition.
    """
    for name, node in defs.items():
        if name in taken:
            raise CodegenError(f"{name}: the generated code imports something of this name")
        if any("properties" in part for part in walk(node) if part is not node):
            raise CodegenError(f"{name}: contains an inline object that cannot get a name; make it a definition")
        _check_members(name, node, defs)


def _check_members(name: str, node: Node, defs: Definitions) -> None:
    """Refuse a field with the attribute of an inherited field or of `_meta`."""
    attributes = {snake(key): key for key in node.get("properties", {})}
    family = [defs[each] for each in lineage(name, defs)]
    for key in [key for parent in family[1:] for key in parent.get("properties", {})]:
        if own := attributes.get(snake(key)):
            raise CodegenError(f"{name}.{own}: has the same attribute as {key}, which {name} inherits")
    if any("x-extensible" in each for each in family):
        for key in [key for each in family for key in each.get("properties", {})]:
            if key != META and snake(key) == BASE_MEMBER:
                raise CodegenError(f"{name}.{key}: the attribute {BASE_MEMBER} is that of {META}")


_numbers = itertools.count()


def check_completes(modules: dict[str, str], package: Path) -> None:
    """Import the *package* and build the validator of each definition.

    Raises:
        CodegenError: names the definition that failed, or the first one of a module that cannot be imported.
    """
    with imported(package) as root:
        for name, module in modules.items():
            try:
                definition = getattr(import_module(f"{root.__name__}.{module}"), name)
                if isinstance(definition, type(BaseModel)):
                    definition.model_rebuild()
                else:
                    TypeAdapter(definition).rebuild()
            except Exception as error:
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                raise CodegenError(f"{name}: the generated code cannot be used: {reason}") from error


@contextmanager
def imported(package: Path) -> Generator[ModuleType]:
    """Import the package under a temporary name, and remove it when the block ends."""
    name = f"_imported_{next(_numbers)}"
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

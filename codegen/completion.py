"""Checks that pydantic can build every generated class, which it otherwise does only when the class is first used."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, TypeAdapter

from codegen.tree import CodegenError, Definitions, reachable
from codegen.verify import defined

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

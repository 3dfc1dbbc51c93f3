"""The note of an update, file by file: what changed in meaning, and in the Python names that are made of it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from codegen.build import PACKAGES, build
from codegen.compare.meaning import compare
from codegen.compare.names import Names, compare_names, names_of
from codegen.compare.report import render
from codegen.tree import CodegenError

__all__ = ["note"]


def note(file: str, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What changed from one version of a schema *file* to another, as Markdown for the changelog."""
    lines = [*_meaning(old, new), "", f"Python names, `from acp_bindings.{PACKAGES[file][0]} import …`:", ""]
    names: list[Names] = []
    for which, schema in (("old", old), ("new", new)):
        try:
            names.append(_names(file, schema))
        except CodegenError as refusal:
            return [*lines, f"- They cannot be compared: the {which} schema cannot be built: {refusal}"]
        except ImportError:
            raise  # of what this environment lacks, which no schema can help
        except Exception as defect:  # noqa: BLE001 - what else changed is worth reading all the same
            return [*lines, f"- They cannot be compared: the {which} schema cannot be built: {_about(defect)}"]
    changes = compare_names(*names)
    return [*lines, *(render(changes) if changes else ["- No change"])]


def _meaning(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    try:
        return render(compare(old, new))
    except Exception as defect:  # noqa: BLE001 - the names may still be told
        return [f"- It cannot be compared: {_about(defect)}"]


def _about(defect: Exception) -> str:
    return f"{type(defect).__name__}: {defect}, which is a defect of the pipeline"


def _names(file: str, schema: dict[str, Any]) -> Names:
    with tempfile.TemporaryDirectory(prefix="acp-names-") as scratch:
        return names_of(Path(scratch) / build(file, schema, "this comparison", Path(scratch)).package)

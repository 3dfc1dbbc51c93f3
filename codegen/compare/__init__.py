"""What an update changes, for the changelog: in the meaning of a schema, and in the Python names made of it."""

from __future__ import annotations

from codegen.compare.meaning import compare
from codegen.compare.names import compare_names, names_of
from codegen.compare.note import note
from codegen.compare.report import Change, Kind, render

__all__ = ["Change", "Kind", "compare", "compare_names", "names_of", "note", "render"]

"""The pipeline from one schema to one package: check, normalise, partition, render, verify."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codegen.checks import check_vocabulary
from codegen.partition import partition
from codegen.passes import normalise
from codegen.passes.tidy import drop_envelopes, open_booleans
from codegen.render import Package, render
from codegen.verify import check_completes

PACKAGES = {
    "v1/schema.json": ("v1", "v1"),
    "v1/schema.unstable.json": ("v1_unstable", "v1 unstable"),
    "v2/schema.json": ("v2", "v2 draft"),
    "v2/schema.unstable.json": ("v2_unstable", "v2 unstable draft"),
}
"""The name of the package for each schema, and the protocol name in its docstrings."""


def build(file: str, schema: dict[str, Any], release: str, output: Path) -> str:
    """Write the package for the schema *file* into the folder *output*, and return a line with its size.

    The first line of the package has the source of the schema, *release*.

    Raises:
        CodegenError: the schema contains something for which the pipeline has no exact rule.
    """
    name, protocol = PACKAGES[file]
    published = open_booleans(schema["$defs"])
    check_vocabulary(drop_envelopes(published))
    definitions = normalise(published)
    modules = partition(definitions)
    render(definitions, modules, Package(name, protocol, release), output / name)
    check_completes(modules, output / name)
    return f"{name:12} {len(published)} definitions, {len(definitions)} names in {len(set(modules.values()))} modules"

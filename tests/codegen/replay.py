"""The result of building and testing one schema: it passes, is refused with a reason, or is wrong."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Literal

from codegen.build import PACKAGES, build
from codegen.lock import SourceError
from codegen.passes.tidy import open_booleans
from codegen.sources import parse_schema
from codegen.tree import CodegenError
from codegen.verify import imported
from tests.acp_bindings.agreement import disagreement
from tests.acp_bindings.damage import damage
from tests.acp_bindings.instances import Instances
from tests.acp_bindings.roundtrip import losses
from tests.acp_bindings.schemas import Schema


@dataclass(frozen=True, kw_only=True)
class Gates:
    """The number of instances of each definition to test."""

    valid: int
    """Instances that the round trip preserves, valid by the schema before and after."""
    damaged: int
    """Damaged instances that are tolerated or refused as by the reference reader."""


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """The result for a schema."""

    verdict: Literal["passed", "refused", "WRONG"]
    said: str
    definitions: int = 0


def replay(file: str, data: bytes, source: str, gates: Gates) -> Replayed:
    """Build, import and try the schema *file* of a release."""
    try:
        document = parse_schema(file, data)
        schema = Schema(PACKAGES[file][0], document | {"$defs": open_booleans(document["$defs"])})
        with tempfile.TemporaryDirectory(prefix="acp-replay-") as scratch:
            build(file, document, source, Path(scratch))
            with imported(Path(scratch) / schema.package) as module:
                fault = next(_faults(schema, module, gates), None)
    except (CodegenError, SourceError) as refusal:
        return Replayed(verdict="refused", said=str(refusal))
    except Exception as error:  # noqa: BLE001 - any exception is a defect
        return Replayed(verdict="WRONG", said=f"{type(error).__name__}: {error}")
    count = len(schema.definitions)
    if fault:
        return Replayed(verdict="WRONG", said=fault, definitions=count)
    said = f"{count * gates.valid} valid, {count * gates.damaged} damaged"
    return Replayed(verdict="passed", said=said, definitions=count)


def _faults(schema: Schema, module: ModuleType, gates: Gates) -> Iterator[str]:
    """Return the differences between the generated package and its schema."""
    for name in schema.definitions:
        model_type = getattr(module, name)
        yield from map(str, losses(schema, name, model_type, count=gates.valid))
        for index, instance in enumerate(Instances(schema).series(name, gates.damaged, seed=1)):
            damaged = damage(Random(f"{schema.package}/{name}/{index}"), schema, instance)
            if what := disagreement(schema, name, model_type, damaged.value, form=index):
                yield f"{name}: {'; '.join(damaged.wounds)}: {what}"

"""`mcp-launch check` with all servers of the catalogue at once, and its output."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.mcp_launch.failures.catalogue import CASES, Case
from tests.mcp_launch.failures.scene import Scene
from tests.mcp_launch.failures.secrets import Leak, Planted, leaks
from tests.mcp_launch.support import run_python

__all__ = ["Checked", "check_all"]

_TIMEOUT = 20.0
"""Seconds to import the SDK on a busy machine. Silent servers use all of it."""


@dataclass(slots=True, kw_only=True)
class Checked:
    """The result of one run of the command."""

    servers: int
    seconds: float
    planted: list[Planted]
    shown: dict[str, str]
    processes: int
    wrong: list[str] = field(default_factory=list[str])
    leaks: list[Leak] = field(default_factory=list[Leak])


def check_all(folder: Path, *, as_json: bool) -> Checked:
    """Run the command on a file with every single-server case. Each must have the same outcome as in the catalogue."""
    cases = [case for case in CASES if isinstance(case, Case)]
    planted = [Planted(f"{case}, checked") for case in cases]
    with Scene.of(Planted("nobody"), folder) as scene:
        scenes = [replace(scene, planted=each) for each in planted]
        servers = [case.server(each) | {"name": str(case)} for case, each in zip(cases, scenes, strict=True)]
        file = folder / "servers.json"
        file.write_text(json.dumps({"cwd": str(folder), "mcpServers": servers}))
        began = time.perf_counter()
        command = ["-m", "mcp_launch", "check", "--timeout", str(_TIMEOUT), str(file), *(["--json"] if as_json else [])]
        done = run_python(*command, NO_COLOR="1", PYTHONWARNINGS="always")
        outcome = Checked(
            servers=len(servers),
            seconds=time.perf_counter() - began,
            planted=planted,
            shown={"standard output": done.stdout, "standard error": done.stderr},
            processes=len(scene.marked.running()),
        )
    outcome.leaks = leaks(outcome.shown, planted)
    outcome.wrong += [f"secret: {leak}" for leak in outcome.leaks]
    if outcome.processes:
        outcome.wrong.append(f"{outcome.processes} processes left")
    if done.returncode != 1:
        outcome.wrong.append(f"the exit status is {done.returncode}")
    complaints = ("Traceback", "ResourceWarning", "Exception ignored")
    outcome.wrong += [f"standard error holds {each}" for each in complaints if each in done.stderr]
    outcome.wrong += _differing(cases, _told(done.stdout, as_json=as_json))
    return outcome


def _told(output: str, *, as_json: bool) -> dict[str, str]:
    """Return the outcome of each server, as a string that contains its code and its stage."""
    if as_json:
        try:
            report: dict[str, Any] = json.loads(output)
        except ValueError:
            return {}
        return {each["name"]: _outcome(each["failure"]) for each in report["servers"]}
    # Padded to the same width.
    width = max(len(str(case)) for case in CASES if isinstance(case, Case))
    told = [(line[:4].strip(), line[5:][:width].rstrip(), line[5:][width:]) for line in output.splitlines()]
    return {name: "works" if verdict == "ok" else rest for verdict, name, rest in told}


def _outcome(failure: dict[str, Any] | None) -> str:
    return f"{failure['code']} in {failure['stage']} after" if failure else "works"


def _differing(cases: list[Case], told: dict[str, str]) -> Iterator[str]:
    for case in cases:
        stage, _, code = case.must.partition(": ")
        # Nothing is called here.
        wanted = f"{code} in {stage} after" if code and stage != "call" else "works"
        found = told.get(str(case), "nothing")
        if found != wanted if wanted == "works" else wanted not in found:
            yield f"{case}: {found[:100]} instead of {wanted}"

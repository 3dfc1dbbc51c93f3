"""Play one case: its outcome, processes left running, and all output."""

from __future__ import annotations

import gc
import json
import os
import re
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio

import mcp_launch
from mcp_launch import Fleet, LaunchFailure, NotReady
from mcp_launch._spec import parse_server
from tests.mcp_launch.failures.catalogue import Case, Scenario
from tests.mcp_launch.failures.recording import everything_logged
from tests.mcp_launch.failures.scene import Entry, Scene
from tests.mcp_launch.failures.secrets import Leak, Planted, leaks

__all__ = ["Outcome", "play"]

_SETTLE = 2.0
"""Seconds for the system to release what was killed or closed."""
_DEPRECATED = "the SSE transport is deprecated by MCP"


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The measurements of one case."""

    measured: str = ""
    """The outcome in the form of the case's `must`."""
    seconds: float = 0.0
    """Seconds until the outcome was known and a working server had been used."""
    closing: float | None = None
    """Seconds from the end of the block until everything was closed."""
    processes: int = 0
    descriptors: int = 0
    tasks: int = 0
    said: list[str] = field(default_factory=list[str])
    """The failure's message and the warnings."""
    wrong: list[str] = field(default_factory=list[str])
    """Descriptions of everything that is not as expected."""
    shown: dict[str, str] = field(default_factory=dict[str, str])
    """Everything that a user, a log or a debugger could have seen, by channel."""
    planted: Planted
    leaks: list[Leak] = field(default_factory=list[Leak])


async def play(case: Case | Scenario, folder: Path, *, grace: float) -> Outcome:
    """Play the case in that folder. `grace` is the number of seconds by which a wait may exceed its budget."""
    outcome = Outcome(planted=Planted(str(case)))
    before, tasks = _descriptors(), len(anyio.get_running_tasks())
    with everything_logged() as logged:
        with Scene.of(outcome.planted, folder) as scene:
            with anyio.move_on_after(60) as scope:
                try:
                    if isinstance(case, Case):
                        await _one(case, scene, outcome, grace=grace)
                    else:
                        await _several(case, scene, outcome)
                except AssertionError as error:
                    outcome.wrong.append(f"not so: {error}" if str(error) else _where(error))
            if scope.cancelled_caught:
                outcome.wrong.append("hung for 60 s")
        await _settle(scene, before=before, tasks=tasks, outcome=outcome)
    if outcome.measured != case.must:
        outcome.wrong.append(f"{outcome.measured or 'nothing'} instead of {case.must}")
    if outcome.seconds > case.within + grace:
        outcome.wrong.append(f"took {outcome.seconds:.1f} s instead of {case.within:g} s")
    outcome.shown["log"] = log = logged.getvalue()
    outcome.wrong += [f"logged: {line[:200]}" for line in log.splitlines() if line.startswith("ERROR asyncio ")]
    outcome.leaks = leaks(outcome.shown, [outcome.planted])
    outcome.wrong += [f"secret: {leak}" for leak in outcome.leaks]
    return outcome


async def _one(case: Case, scene: Scene, outcome: Outcome, *, grace: float) -> None:
    entry = case.server(scene)
    began = time.perf_counter()
    async with mcp_launch.launch([entry], cwd=scene.folder, budgets=case.budgets, timeout=20) as fleet:
        _show(outcome, fleet, scene, entry, when="open")
        if case.then is not None:
            await case.then(scene, fleet)
        outcome.seconds = time.perf_counter() - began
        outcome.wrong += _other_members(fleet, case)
        began = time.perf_counter()
    outcome.closing = time.perf_counter() - began
    if outcome.closing > case.budgets.close + grace:
        outcome.wrong.append(f"closing took {outcome.closing:.1f} s instead of {case.budgets.close:g} s")
    _show(outcome, fleet, scene, entry, when="closed")
    outcome.shown["changes"] = repr([change async for change in fleet.changes()])
    server = fleet.servers[0]
    warnings = [warning for warning in server.warnings if _DEPRECATED not in warning]
    failure = server.failure
    if failure is None:
        outcome.measured = "works + warning" if warnings else "works"
        outcome.said = warnings
    else:
        outcome.measured = f"{failure.stage}: {failure.code}"
        outcome.said = [failure.message, *warnings]
        outcome.wrong += [*_ill_formed(failure, outcome.seconds), *_other_facts(failure, case)]
        [told] = fleet.report["servers"]
        if told["stage"] != failure.stage or failure.stage in told["seconds"]:
            outcome.wrong.append(f"the report says {told['stage']}, after {told['seconds']}")
    told = "\n".join(_redacted(outcome.said))
    outcome.wrong += [f"does not say {part!r}" for part in case.says if part not in told]
    if case.after is not None:
        case.after(scene)


async def _several(case: Scenario, scene: Scene, outcome: Outcome) -> None:
    began = time.perf_counter()
    outcome.measured, fleet = await case.play(scene)
    outcome.seconds = time.perf_counter() - began
    if fleet is None:
        return
    _show(outcome, fleet, scene, {}, when="closed")
    outcome.said = [failure.message for failure in fleet.failures]
    outcome.wrong += [flaw for failure in fleet.failures for flaw in _ill_formed(failure, outcome.seconds)]


def _redacted(said: list[str]) -> list[str]:
    # A string that was repeated in ten forms occurs ten times.
    return [re.sub(r"(\[redacted\]\W*){2,}", "[redacted] … ", text) for text in said]


def _other_members(fleet: Fleet, case: Case) -> Iterator[str]:
    """Yield the differences between the server's report and the expected one."""
    [found] = fleet.report["servers"]
    for name, wanted in case.report.items():
        if found.get(name) != wanted:
            yield f"report: {name} is {found.get(name)!r} instead of {wanted!r}"


def _other_facts(failure: LaunchFailure, case: Case) -> Iterator[str]:
    for name, wanted in case.facts.items():
        if name not in failure.facts:
            yield f"fact {name} is missing"
        elif not _holds(failure.facts[name], wanted):
            yield f"fact {name} is {failure.facts[name]!r}"


def _holds(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, re.Pattern):
        return re.search(cast("re.Pattern[str]", wanted), found if isinstance(found, str) else str(found)) is not None
    return isinstance(found, wanted) if isinstance(wanted, type) else found == wanted


def _ill_formed(failure: LaunchFailure, seconds: float) -> Iterator[str]:
    """Yield violations of the rules for all failures."""
    if str(failure) != f"{failure.server}: {failure.message}":
        yield "its text does not begin with the name of the server"
    if len(failure.message.splitlines()) != 1:
        yield "its message is not one line"
    if not 0 <= failure.elapsed <= seconds + 0.1:
        yield f"its elapsed seconds are {failure.elapsed}"
    if json.loads(json.dumps(failure.to_json())) != failure.to_json():
        yield "it is not JSON"


def _show(outcome: Outcome, fleet: Fleet, scene: Scene, entry: Entry, *, when: str) -> None:
    """Store everything that can be seen of the fleet and of our own process."""
    servers = list(fleet)
    texts: list[object] = [fleet, fleet.servers, fleet.report, *servers, *(server.warnings for server in servers)]
    texts += [server.session for server in servers if server.state == "ready"]
    texts += [NotReady(fleet.failures, fleet.report)]
    try:
        spec = parse_server(entry)
        texts += [spec, spec.redactor, spec.target]
    except LaunchFailure as failure:
        texts.append(failure)
    outcome.shown[f"repr ({when})"] = "\n".join(f"{text!r} {text!s}" for text in texts)
    outcome.shown[f"report ({when})"] = json.dumps(fleet.report, ensure_ascii=False)
    outcome.shown[f"failures ({when})"] = "\n".join(
        f"{failure!r} {failure!s} {failure.args!r} {vars(failure)!r}" for failure in fleet.failures
    )
    outcome.shown[f"tracebacks ({when})"] = "\n".join(
        line for failure in fleet.failures for line in traceback.format_exception(failure)
    )
    # As crash reporters send them.
    outcome.shown[f"variables in tracebacks ({when})"] = "\n".join(
        line
        for failure in fleet.failures
        for line in traceback.TracebackException.from_exception(failure, capture_locals=True).format()
    )
    outcome.shown[f"process titles ({when})"] = "\n".join(_titles(scene))


def _titles(scene: Scene) -> Iterator[str]:
    """Yield the titles of our process and of our servers, as tools like ps show them."""
    for pid in (os.getpid(), *scene.marked.running()):
        for path in (Path(f"/proc/{pid}/cmdline"), *Path(f"/proc/{pid}/task").glob("*/comm")):
            try:
                yield path.read_text(errors="replace")
            except OSError:
                continue


async def _settle(scene: Scene, *, before: int, tasks: int, outcome: Outcome) -> None:
    """Count what is left after the system has had time to release it."""
    with anyio.move_on_after(_SETTLE):
        while scene.marked.running() or _descriptors() > before or len(anyio.get_running_tasks()) > tasks:
            gc.collect()
            await anyio.sleep(0.01)
    outcome.processes = len(scene.marked.running())
    outcome.descriptors = max(0, _descriptors() - before)
    outcome.tasks = max(0, len(anyio.get_running_tasks()) - tasks)
    left = {"processes": outcome.processes, "descriptors": outcome.descriptors, "tasks": outcome.tasks}
    outcome.wrong += [f"{count} {what} left" for what, count in left.items() if count]


def _descriptors() -> int:
    return len(os.listdir("/dev/fd"))


def _where(error: AssertionError) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"not so: {last.line}"

"""The probe notices each thing that an agent can do wrong, and finds nothing wrong with an agent that does it right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from acp_bindings.probe import CHECKS, Report, probe
from tests.acp_bindings.probe.mutants import AGENT, MUTANTS, NAMES, SOURCE, WITH, WITHOUT, Mutant

TIMEOUT = 2.0
AT_ONCE = 12
UNNOTICED = "ending.children"
"""A broken agent whose MCP server ends by itself, as `docs/probe.md` says."""
SAMPLE = (
    "negotiation.version-zero",
    "messages.ids/zero",
    "sessions.load/late",
    "servers.stdio-environment",
    "prompts.cancel-at-once",
    "prompts.output/unknown",
    "permission.reject",
    "ending.stdin/status",
    "conversation.lifecycle",
)


async def probed(command: list[str], version: int, *, timeout: float = TIMEOUT, **options: Any) -> Report:
    return await probe(command, version=version, timeout=timeout, **options)


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_a_correct_agent_fails_no_check(version: int) -> None:
    # Ample time: on a busy machine, processes take long to end.
    report = await probed(AGENT, version, timeout=10)

    assert [each for each in report.results if each.status in ("fail", "warn")] == []
    assert report.count("ok") > 80


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["trio"])
@pytest.mark.parametrize(
    "mutant", [each for each in MUTANTS if each.name in SAMPLE], ids=lambda it: f"{it.name}-v{it.version}"
)
async def test_the_meant_check_catches_a_broken_agent_on_trio(anyio_backend: str, mutant: Mutant) -> None:
    (result,) = (await probed(mutant.command, mutant.version, only=[mutant.check])).results

    assert result.status == mutant.status, result
    assert result.cure


@pytest.mark.full
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_meant_check_catches_each_broken_agent(anyio_backend: str) -> None:
    missed = await _missed(MUTANTS, at_once=AT_ONCE)
    # Alone, because many at once may be too slow for the timeout.
    missed = await _missed(missed, at_once=1)

    assert {each.name for each in missed} <= {UNNOTICED}, f"of {len(MUTANTS)} broken agents"


async def _missed(mutants: Sequence[Mutant], *, at_once: int) -> list[Mutant]:
    missed: list[Mutant] = []
    limiter = anyio.CapacityLimiter(at_once)

    async def try_one(mutant: Mutant) -> None:
        async with limiter:
            options: dict[str, Any] = WITH.get(mutant.name, {})
            (result,) = (await probed(mutant.command, mutant.version, only=[mutant.check], **options)).results
            # A mistake of the probe itself looks like an unexpected message.
            if result.status != mutant.status or "expected form" in result.message:
                missed.append(mutant)

    async with anyio.create_task_group() as tasks:
        for each in mutants:
            tasks.start_soon(try_one, each)
    return missed


def test_each_check_has_a_broken_agent() -> None:
    assert {each.check for each in MUTANTS} | WITHOUT == {each.id for each in CHECKS}


def test_each_switch_of_the_agent_is_a_broken_agent() -> None:
    source = SOURCE.read_text(encoding="utf-8")
    switches = {name for name in re.findall(r'"([a-z-]+\.[a-z/-]+)"', source) if name.partition("/")[0] in _IDS}

    # The names of servers are put together, and what is not advertised has two forms.
    assert switches - set(NAMES) == set()
    assert {
        name for name in NAMES if name not in switches and not name.startswith(("servers.", "capabilities."))
    } == set()


_IDS = {each.id for each in CHECKS}

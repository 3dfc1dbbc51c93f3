"""Findings of the rules of `acp-bindings check` in all conversations of the probe, by their family."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from acp_bindings._json import members_of
from acp_bindings.check import RULES, Found, LiveCheck
from acp_bindings.errors import Path, format_path
from acp_bindings.probe._bench import Bench
from acp_bindings.probe._check import Check, Failed, Outcome, Warned, check
from acp_bindings.probe._checks.check_permission import worked
from acp_bindings.probe._probed_agent import Agent, Line, Message


@check(
    "protocol, Transports: stdio",
    "Write messages in UTF-8, and everything else to standard error: logs, `print`, the output of children.",
)
async def stdout(bench: Bench) -> None:
    """The agent writes only messages to standard output."""
    await talked(bench)
    stray = [each for agent in bench.agents for each in agent.lines if each.sender == "agent" and each.message is None]
    if stray:
        raise Failed("a line is not JSON", stray[:3])
    garbled = [each for agent in bench.agents for each in agent.lines if not each.is_utf8]
    if garbled:
        raise Failed("a line is not UTF-8", garbled[:3])


def _of_family(family: str) -> Check:
    async def run(bench: Bench) -> None:
        await talked(bench)
        found = [each for each in await bench.once(_findings) if each[0].rule.partition(".")[0] == family]
        if not found:
            return
        found.sort(key=lambda each: each[0].severity != "error")
        alike: dict[tuple[str, Path, str], list[Line]] = {}
        for each, line in found:
            alike.setdefault((each.rule, each.path, _LINE.sub("", each.message)), []).append(line)
        texts: list[str] = []
        shown: list[Line] = []
        at_place: Counter[tuple[str, Path]] = Counter()
        for (rule, path, message), lines in alike.items():
            at_place[rule, path] += 1
            if at_place[rule, path] <= _MOST:
                texts.append(f"{rule}: {format_path(path)}{message}{_times(len(lines))}")
                shown.append(lines[0])
        if len(alike) > len(texts):
            texts.append(f"and {len(alike) - len(texts)} more")
        outcome = Failed if found[0][0].severity == "error" else Warned
        raise outcome("; ".join(texts), dict.fromkeys(shown))

    return Check(
        id=f"conversation.{family}",
        requires=f"The agent's messages do not break the rules {family}.* of `acp-bindings check`.",
        source="acp-bindings rules",
        cure="`acp-bindings rules` explains each rule.",
        versions=(1, 2),
        over="any",
        run=run,
    )


async def talked(bench: Bench) -> None:
    """Have some conversation, in case no other check has had one."""
    await bench.shared()
    with suppress(Outcome):
        await bench.once(worked)


async def _findings(bench: Bench) -> list[tuple[Found, Line]]:
    # An agent that was not initialized first may send what it likes.
    initialized = [each for each in bench.agents if each.lines and not each.lines[0].is_wrong]
    return [each for agent in initialized for each in _of(agent)]


def _of(agent: Agent) -> Iterator[tuple[Found, Line]]:
    """Yield what the agent has done wrong, with its lines. What the probe does wrong on purpose is left out."""
    live = LiveCheck()
    # The session of a wrong `session/new` that was accepted; `probe-none` exists only in prompts that are wrong.
    opened = [(each.is_wrong, members_of(each.fields.get("result")).get("sessionId")) for each in agent.lines]
    named = ["probe-none", *(id_ for is_wrong, id_ in opened if is_wrong and id_ and (False, id_) not in opened)]
    # Another check reports lines without a message.
    lines = [
        each
        for each in agent.lines
        if each is agent.left
        or (not each.is_wrong and each.fields and members_of(each.fields.get("params")).get("sessionId") not in named)
    ]
    for line in lines:
        about: Message = {"closed": {}} if line is agent.left else {"message": line.message}
        for found in live.feed(json.dumps({"time": str(line.time), "from": line.sender, **about}).encode()):
            if found.sender == "agent" and found.severity != "info":
                yield found, lines[found.line - 1] if found.line else line


_LINE = re.compile(r" (?:in|of) line \d+| \(line \d+\)")
"""The number of a line for `LiveCheck`, which is not its number in the file of --record."""
_MOST = 3
"""The maximum number of messages of a rule at one path. They may differ only in an id."""


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


FAMILIES = tuple(
    # Only clients send what the family `secret` is about.
    _of_family(each)
    for each in sorted({rule.id.partition(".")[0] for rule in RULES} - {"secret"})
)
"""A check for each family of rules."""

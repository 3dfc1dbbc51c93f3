"""Connect to agents from npm and PyPI, in v1 and in whatever they choose, and hold what they say against the page.

    python -m tests.agents [--write]

Prints the page of docs/agents.md; fails when it is another, when an agent cannot be talked to, or leaves something
running.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable
from pathlib import Path

import anyio

from acp_bindings import v1_unstable, v2_unstable
from acp_bindings.jsonrpc import ProtocolPackage
from acp_bindings.setup import AgentPeer, AuthRequired
from acp_bindings.setup._peer import method_id
from acp_bindings.setup.capabilities import Capability
from tests.agents.meeting import Agent, Meeting, meet

AGENTS = [
    Agent("@agentclientprotocol/claude-agent-acp", ("claude-agent-acp",)),
    Agent("@agentclientprotocol/codex-acp", ("codex-acp",)),
    Agent("@google/gemini-cli", ("gemini", "--acp")),
    Agent("mistral-vibe", ("vibe-acp",), "PyPI"),
    Agent("fast-agent-mcp", ("fast-agent-acp", "--model", "sonnet"), "PyPI"),
    Agent("hermes-agent", ("hermes-acp",), "PyPI"),
]
OFFERS: dict[str, list[ProtocolPackage]] = {"v1": [v1_unstable], "v1 and v2": [v1_unstable, v2_unstable]}
PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
HEAD = """\
# Third-party agents

<!-- Written by `nox -s agents -- --write`, checked by `nox -s agents`. -->

Real agents from npm and PyPI, each started without an account by an `acp_bindings.client.Client` that offers v1, and
again by one that offers v1 and v2. Prompts need an account and are not tried. Afterwards, each agent and everything
that it started had ended.
"""
CAPABILITIES = """
## Capabilities

The names are those of `peer.supports(…)`. Each cell lists the versions of the protocol in which the agent advertises
the capability.
"""
LOGINS = """
## Authentication methods

Each agent offers these to a v1 client that advertises a terminal.
"""


def main() -> int:
    """Meet all agents, compare the page, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.agents", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page")
    write = parser.parse_args().write
    met = {agent: {offer: anyio.run(meet, agent, protocols) for offer, protocols in OFFERS.items()} for agent in AGENTS}
    page = page_of(met)
    print(page)
    if write:
        PAGE.write_text(page, encoding="utf-8")
    shown = PAGE.read_text(encoding="utf-8").splitlines(keepends=True) if PAGE.exists() else []
    wrong = list(difflib.unified_diff(shown, page.splitlines(keepends=True), "docs/agents.md", "now"))
    wrong += [
        f"{agent.package}, offered {offer}: {each}\n"
        for agent, of in met.items()
        for offer, meeting in of.items()
        for each in (*meeting.complaints, *(f"process {pid} is still there" for pid in meeting.left))
    ]
    sys.stdout.writelines(wrong)
    return 1 if wrong else 0


def page_of(met: dict[Agent, dict[str, Meeting]]) -> str:
    """Return the page docs/agents.md for these results."""
    columns = [list(of.values()) for of in met.values()]
    peers = [[each.peer for each in meetings if each.peer] for meetings in columns]
    names = [each[0].display_name for each in peers]
    facts = [
        ["package", *(f"`{agent.package}` {agent.version}, {agent.index}" for agent in met)],
        ["command", *(f"`{' '.join(agent.command)}`" for agent in met)],
        [
            "calls itself",
            *(_said(str(peer.info and f"{peer.info.name} {peer.info.version}") for peer in each) for each in peers),
        ],
    ]
    for index, offer in enumerate(OFFERS):
        facts.append([f"offered {offer}, speaks", *(_spoken(meetings[index]) for meetings in columns)])
    facts += [
        ["findings", *(_said(str(finding) for peer in each for finding in peer.findings) or "none" for each in peers)],
        ["`session/new`", *(_said(_outcome(each) for each in meetings if each.peer) for meetings in columns)],
    ]
    known = sorted(frozenset[Capability]().union(*(peer.names() for each in peers for peer in each)))
    capabilities = [[f"`{name}`", *(_versions(each, name) for each in peers)] for name in known]
    logins = [
        [name, f"`{method_id(method)}`", method.name, getattr(method, "type", None) or "agent"]
        for name, each in zip(names, peers, strict=True)
        for method in each[0].auth_methods
    ]
    return "\n".join(
        [
            HEAD,
            *table(["", *names], facts),
            CAPABILITIES,
            *table(["", *names], capabilities),
            LOGINS,
            *table(["agent", "id", "name", "done by"], logins),
            "",
        ]
    )


def _versions(peers: list[AgentPeer], capability: Capability) -> str:
    return ", ".join(dict.fromkeys(f"v{each.version}" for each in peers if each.supports(capability)))


def _spoken(meeting: Meeting) -> str:
    if meeting.peer:
        return f"v{meeting.peer.version}"
    return f"none: “{meeting.error and meeting.error.message}”"


def _outcome(meeting: Meeting) -> str:
    if meeting.error is None:
        closed = ", closed again" if meeting.peer and meeting.peer.supports("session.close") else ""
        return f"a session without an account{closed}"
    kind = "needs an account: " if isinstance(meeting.error, AuthRequired) else "refused: "
    match meeting.error.data:
        case {"details": str(reason)}:
            pass
        case _:
            reason = meeting.error.message
    return f"{kind}“{reason}” ({meeting.error.code})"


def _said(each: Iterable[str]) -> str:
    """Join the distinct complaints, so that one made in both meetings appears once."""
    return "; ".join(dict.fromkeys(each))


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


if __name__ == "__main__":
    raise SystemExit(main())

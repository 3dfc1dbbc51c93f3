"""The page with the outcome of every step of every pair: docs/interop.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from tests.programs.differences import DIFFERENCES, Difference
from tests.programs.pairs import Cell, Pair
from tests.programs.steps import FOLDER, STEPS

PAGE = FOLDER.parents[1] / "docs" / "interop.md"

_PAGE = """\
# Interop

Third-party programs talk to ours. Each pair goes through every step below, over standard input and output: a session
from beginning to end, messages out of order or with missing fields, and unknown methods. The programs are

- **TypeScript**: `@agentclientprotocol/sdk` {typescript}, with the MCP servers reached by `@modelcontextprotocol/sdk`;
- **official Python**: `agent-client-protocol` {official}, with the MCP servers reached by `mcp`;
- **ours**: the agent is `examples/agent.py`, with `acp_bindings.agent`; the client is `tests/programs/our_client.py`,
  with `acp_bindings.client`.

`nox -s programs` runs all steps and fails if a result differs from this page. `nox -s programs -- --write-page` writes
the page. The expected result of each step is in `tests/programs/steps.py`.

{table}
{differences}

## Over HTTP and WebSocket

`nox -s remote_peers` connects the TypeScript SDK and the official Python SDK with ours, in both directions, over both
transports, and with TypeScript in v1 and v2. Two sessions are open at once. One turn sends 300 updates and asks for
permission while the other is cancelled. A prompt of 20 MB, an unknown session, and a load with its history over a
second connection follow. The results are as expected, with two exceptions:

- **official Python agent, HTTP**: The SDK's server responds with 404 to a prompt in a session that was loaded, because
  it only accepts sessions that were created on the same connection. Its own client fails too. WebSocket works.
- **official Python client, WebSocket**: The SDK's client reads messages of at most 1 MiB, and offers no option for it.
  A larger one ends the connection.

Without options, the HTTP server of the TypeScript SDK accepts messages of up to 16 MB.
"""


def page(played: Mapping[Pair, Mapping[str, Cell]]) -> str:
    """Return the whole page."""
    sdk = Path(FOLDER, "node_modules", "@agentclientprotocol", "sdk", "package.json").read_text(encoding="utf-8")
    return _PAGE.format(
        typescript=json.loads(sdk)["version"],
        official=version("agent-client-protocol"),
        table=table(played),
        differences="\n".join(
            f"{number}. **{each.who}, {each.step}**: {each.why}" for number, each in enumerate(DIFFERENCES, 1)
        ),
    )


def table(played: Mapping[Pair, Mapping[str, Cell]]) -> str:
    """Return the outcomes of all steps: rows are steps, columns are pairs."""
    rows = [["", *map(str, played)], ["---"] * (1 + len(played))]
    rows += [
        [step.name, *(word(pair, step.name, cells[step.name]) for pair, cells in played.items())] for step in STEPS
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def word(pair: Pair, step: str, cell: Cell) -> str:
    """Return the outcome of one step."""
    if cell.is_right:
        return f"ok, v{cell.facts['version']}" if "version" in cell.facts else "ok"
    if not cell.is_offered:
        return "not offered"
    difference = difference_of(pair, step)
    return f"differs ({DIFFERENCES.index(difference) + 1})" if difference else "WRONG"


def difference_of(pair: Pair, step: str) -> Difference | None:
    """Return the known difference of a step of a pair."""
    whose = [each for each in DIFFERENCES if each.who in (pair.client, pair.agent)]
    return next((each for each in whose if (each.step, each.version) == (step, pair.version)), None)

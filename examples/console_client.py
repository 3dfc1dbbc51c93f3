"""A client in the console: the official SDK's `client.py`.

python examples/console_client.py python examples/agent.py
"""

import sys
from pathlib import Path

import anyio

from acp_bindings import AcpError, v1
from acp_bindings.client import Client


async def main() -> None:
    client = Client("example-client", title="Example Client", version="0.1.0")
    async with client.connect(sys.argv[1:] or sys.exit(__doc__)) as agent, agent.session(cwd=Path.cwd()) as session:
        while (line := await anyio.to_thread.run_sync(read, abandon_on_cancel=True)) is not None:
            try:
                async for update in session.prompt(line):
                    if isinstance(update, v1.AgentMessageChunk):
                        block = update.content
                        print("| Agent:", block.text if isinstance(block, v1.TextContent) else f"<{block.type}>")
            except AcpError as error:
                print("Prompt failed:", error, file=sys.stderr)


def read() -> str | None:
    """Return the next line of the user, or None at the end of the input."""
    try:
        return input("> ")
    except EOFError:
        return None


if __name__ == "__main__":
    anyio.run(main)

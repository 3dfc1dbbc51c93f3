"""A client in the console: the official SDK's `client.py`.

python examples/console_client.py python examples/agent.py
"""

import asyncio
import sys
import threading
from pathlib import Path

import anyio

from acp_bindings import v1
from acp_bindings.client import Client
from acp_bindings.setup import RequestError

lines: asyncio.Queue[str | None] = asyncio.Queue()
"""The lines of the user, and None at the end of the input."""


async def main() -> None:
    client = Client("example-client", title="Example Client", version="0.1.0")
    # A daemon, because the exit waits for other threads.
    threading.Thread(target=listen, args=[asyncio.get_running_loop()], daemon=True).start()
    async with client.connect(sys.argv[1:] or sys.exit(__doc__)) as agent, agent.session(cwd=Path.cwd()) as session:
        while (line := await read("> ")) is not None:
            try:
                async for update in session.prompt(line):
                    if isinstance(update, v1.AgentMessageChunk):
                        block = update.content
                        print("| Agent:", block.text if isinstance(block, v1.TextContent) else f"<{block.type}>")
            except RequestError as error:
                print("Prompt failed:", error, file=sys.stderr)


async def read(question: str) -> str | None:
    print(question, end="", flush=True)
    return await lines.get()


def listen(loop: asyncio.AbstractEventLoop) -> None:
    """Put what the user enters into `lines`."""
    with open(0, closefd=False) as stdin:  # `sys.stdin` would be locked at the exit
        for line in stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line.strip())
    loop.call_soon_threadsafe(lines.put_nowait, None)


if __name__ == "__main__":
    anyio.run(main)

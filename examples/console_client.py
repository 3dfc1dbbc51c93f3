"""A client in the console: the official SDK's `client.py`.

python examples/console_client.py python examples/agent.py
"""

import asyncio
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import anyio

from acp_bindings import v1
from acp_bindings.client import Client
from acp_bindings.setup import RequestError


async def main() -> None:
    client = Client("example-client", title="Example Client", version="0.1.0")
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
    """Return the next line of the user, or None at the end of the input."""
    print(question, end="", flush=True)
    line: Future[bytes] = Future()
    # The exit waits for the threads of AnyIO, but not for a daemon. That must not hold the lock of a buffer then.
    stdin = open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115 - open to the end
    threading.Thread(target=lambda: line.set_result(stdin.readline()), daemon=True).start()
    text = await asyncio.wrap_future(line)
    return text.decode().strip() if text else None


if __name__ == "__main__":
    anyio.run(main)

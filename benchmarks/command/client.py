"""A minimal script with the SDK that checks whether servers work: `client.py COMMAND...`."""

import sys

import anyio
from mcp import Client, StdioServerParameters, stdio_client


async def show(command: list[str]) -> None:
    async with Client(stdio_client(StdioServerParameters(command=command[0], args=command[1:]))) as client:
        print(*(tool.name for tool in (await client.list_tools()).tools))


async def main() -> None:
    async with anyio.create_task_group() as tasks:
        for command in sys.argv[1:]:
            tasks.start_soon(show, command.split())


anyio.run(main)

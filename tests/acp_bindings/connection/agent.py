"""An agent over its standard streams: it responds, prints in the wrong place, or dies."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import anyio

from acp_bindings import v1
from acp_bindings.connection import Connection, Handlers, connect_stdio

handlers = Handlers()


@handlers.on(v1.NewSessionRequest)
async def new_session(request: v1.NewSessionRequest, connection: Connection) -> v1.NewSessionResponse:
    return v1.NewSessionResponse(session_id="s")


@handlers.on("_test/print")
async def print_everywhere(params: Any, connection: Connection) -> None:
    print("from print")
    os.write(1, b"from C\n")
    subprocess.run([sys.executable, "-S", "-c", "print('from a child')"], check=True)


@handlers.on("_test/read")
async def read(params: Any, connection: Connection) -> str:
    return sys.stdin.read()


@handlers.on("_test/exit")
async def leave(params: list[Any], connection: Connection) -> None:
    print(*params[1:], file=sys.stderr, flush=True)
    os._exit(params[0])


@handlers.on("_test/where")
async def where(params: list[str], connection: Connection) -> list[Any]:
    return [os.getcwd(), {name: os.environ.get(name) for name in params}]


async def main() -> None:
    print("before the connection")
    async with connect_stdio(protocol=v1, handlers=handlers) as connection:
        await connection.wait_ended()
    if "--farewell" in sys.argv:
        print("after the connection")


anyio.run(main, backend=os.environ.get("BACKEND", "asyncio"))

"""Launch the three servers of one ACP `session/new` request and call a tool on each."""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from string import Template
from subprocess import PIPE, Popen
from typing import IO, Any, cast

import anyio

import mcp_launch

HERE = Path(__file__).resolve().parent

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "greeter": ("greet", {"name": "newcomer"}),
    "library": ("find_book", {"topic": "protocols"}),
    "clock": ("weekday", {"date": "2026-01-01"}),
}


async def demo(params: dict[str, Any]) -> None:
    """The heart of it: from the parameters of the request to what the tools return."""
    async with mcp_launch.launch(params["mcpServers"], cwd=params["cwd"]) as fleet:
        for server in fleet:
            tool, arguments = CALLS[server.name]
            result = await server.session.call_tool(tool, arguments)
            answer = " ".join(content.text for content in result.content if content.type == "text")
            shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
            print(f"  {server.name:<8} {server.transport:<6} {f'{tool}({shown})':<32} → {answer}")


def main() -> None:
    """Run the demo with the example servers."""
    with example_request() as request:
        print(f"{request['method']} asks for {len(request['params']['mcpServers'])} MCP servers")
        anyio.run(demo, request["params"])
        print("all of them are closed")


@contextmanager
def example_request() -> Generator[dict[str, Any]]:
    """A request for the example servers, of which the web servers run until the block ends."""
    with web_server("library_http.py") as library, web_server("clock_sse.py") as clock:
        # Each prints its URL once it listens on a free port.
        urls = {"LIBRARY_URL": library.readline().strip(), "CLOCK_URL": clock.readline().strip()}
        yield session_request({"CWD": str(HERE), "PYTHON": sys.executable, **urls})


def session_request(values: dict[str, str]) -> dict[str, Any]:
    """The request in `session_new.json` with its placeholders filled in."""
    quoted = {name: json.dumps(value)[1:-1] for name, value in values.items()}
    request: dict[str, Any] = json.loads(Template((HERE / "session_new.json").read_text()).substitute(quoted))
    return request


@contextmanager
def web_server(script: str) -> Generator[IO[str]]:
    """Run an example server, which stops when its standard input is closed, and give its standard output."""
    command = [sys.executable, str(HERE / script)]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        yield cast("IO[str]", process.stdout)


if __name__ == "__main__":
    main()

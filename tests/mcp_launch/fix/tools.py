"""Stand-ins for npx, uvx, npm, pip, uv and docker, which know a few packages and complain like the real ones.

`tools.py PROGRAM ARGUMENT...`
"""

import os
import re
import sys

PLAIN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "servers", "plain.py")
NPM = {"@modelcontextprotocol/server-memory", "chatty-mcp", "keyed-mcp", "mcp-remote", "weather-mcp"}
EMPTY = {"empty-mcp", "mcp-server-fetch"}
"""Names of npm whose packages were all removed."""
PYPI = {"mcp-server-fetch", "mcp-server-time", "new-python", "old-sdk", "toolbox", "weather-tool"}


def serve() -> None:
    """Become a server that works."""
    os.execv(sys.executable, [sys.executable, "-S", PLAIN])


def fail(*lines: str, status: int = 1) -> None:
    sys.exit("\n".join(lines)) if status == 1 else (print(*lines, sep="\n", file=sys.stderr), os._exit(status))


def npx(args: list[str]) -> None:
    name, *rest = [each for each in args if each not in ("-y", "--yes", "-p")]
    package, version = re.sub("(?<=.)@.*", "", name), name.rpartition("@")[2] if "@" in name[1:] else ""
    if package in EMPTY:
        fail("npm error code ENOVERSIONS", f"npm error No versions available for {package}")
    if package not in NPM:
        fail("npm error code E404", f"npm error 404  '{name}@*' is not in this registry.")
    if version not in ("", "latest"):
        fail("npm error code ETARGET", f"npm error notarget No matching version found for {name}.")
    if package == "chatty-mcp" and rest != ["--transport", "stdio"]:
        fail("error: the following are required: --transport", "usage: chatty-mcp --transport {stdio,http}", status=2)
    if package == "keyed-mcp" and not os.environ.get("WEATHER_KEY"):
        several = "WEATHER_KEYS" in os.environ
        fail(f"Error: {'WEATHER_KEYS and ' if several else ''}WEATHER_KEY must be set")
    serve()


def uvx(args: list[str]) -> None:
    options = dict(zip(args[::2], args[1::2], strict=False)) if args[0].startswith("--") else {}
    while args and args[0].startswith("--"):
        args = args[2:]
    name = options.get("--from", re.split("[=@<>]", args[0])[0])
    if args[0].startswith("@"):
        fail(f"error: Invalid version request: {args[0]}", status=2)
    if name not in PYPI:
        fail(f"  cause: Because {name} was not found in the package registry and you require {name}")
    if re.search("[=@]", args[0]):
        fail(f"  cause: Because there is no version of {args[0]} and you require {args[0]}, we can conclude")
    if name == "old-sdk" and options.get("--with") != "mcp<2":
        fail("Traceback (most recent call last):", "ModuleNotFoundError: No module named 'mcp.server.fastmcp'")
    if name == "new-python" and options.get("--python") != "3.12":
        fail("  cause: Because the current Python version (3.11.7) does not satisfy Python>=3.12 and all versions")
    if name == "toolbox" and args[0] != "toolbox-mcp":
        said = "An executable named `toolbox` is not provided by package `toolbox`."
        fail(said, "The following executables are available:", "- toolbox-mcp")
    serve()


def uv(args: list[str]) -> None:
    if args[:2] == ["tool", "run"]:
        uvx(args[2:])
    if args[0] == "run":
        uvx(args[1:])
    fail(f"error: unrecognized subcommand '{args[0]}'", "Usage: uv [OPTIONS] <COMMAND>", status=2)


def npm(args: list[str]) -> None:
    if args[0] == "view":
        found(args[1], NPM)
    fail(f'Unknown command: "{args[0]}"', "To see a list of supported npm commands, run:")


def pip(args: list[str]) -> None:
    found(args[-1], PYPI)


def found(name: str, known: set[str]) -> None:
    """Print the name of a known package, nothing for one without versions, and fail for others."""
    print(name if name in known else "")
    sys.exit(name not in known | EMPTY)


def docker(args: list[str]) -> None:
    if {"-t", "-it", "--tty"} & {*args}:
        fail("the input device is not a TTY")
    if "-i" in args:
        serve()


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2:])

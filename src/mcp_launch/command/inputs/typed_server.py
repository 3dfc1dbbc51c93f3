"""The server of a URL that was typed, or of the command behind --."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from mcp_launch.command.inputs import Session, Typed
from mcp_launch.command.inputs.given import source_of
from mcp_launch.config.entries import Entry
from mcp_launch.config.places import Place
from mcp_launch.failures import UnusableInput
from mcp_launch.wording import Wording

__all__ = ["of_command", "of_url"]


def of_url(url: str, typed: Typed) -> Session:
    """The server at a URL.

    Raises:
        UnusableInput: what was typed for a header has no colon.
    """
    try:
        name = urlsplit(url).hostname
    except ValueError:
        name = None
    headers = [_header(each, number) for number, each in enumerate(typed.headers, 1)]
    server = {"type": "sse" if typed.sse else "http", "name": name or "server", "url": url, "headers": headers}
    wording = Wording(http="leave out --sse", sse="add --sse")
    return Session(source=source_of(url), entries=[_entry(server)], cwd=typed.directory(), wording=wording)


def _entry(server: dict[str, Any]) -> Entry:
    return Entry(name=server["name"], server=server, place=Place(1, 1), written=server)


def _header(text: str, number: int) -> dict[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        # Not quoted: it may be the secret alone.
        raise UnusableInput(f"--header number {number} must be 'NAME: VALUE', and has no colon")
    return {"name": name.strip(), "value": value.strip()}


def of_command(words: Sequence[str], typed: Typed) -> Session:
    """The server that a command starts.

    Raises:
        UnusableInput: what was typed for a variable is neither NAME=VALUE nor the name of one that is set here.
    """
    server = {
        "name": _called(words),
        # Looked up as a shell does: people need not type the absolute path that ACP wants in a request.
        "command": _found(words[0]),
        "args": list(words[1:]),
        "env": [_variable(each, number) for number, each in enumerate(typed.env, 1)],
    }
    return Session(source="--", entries=[_entry(server)], cwd=typed.directory())


def _found(command: str) -> str:
    found = shutil.which(command)
    return os.path.abspath(found) if found else command


_RUNNERS = frozenset(("bun", "bunx", "deno", "node", "npx", "pipx", "python", "python3", "uv", "uvx"))
_CODE = frozenset(("-c", "-e", "--eval"))
"""Options behind which stands code to run, which makes no name."""
_SUFFIXES = frozenset((".cjs", ".cmd", ".exe", ".js", ".mjs", ".py", ".sh", ".ts"))


def _called(words: Sequence[str]) -> str:
    """A name for the server of a command: what is run, also if another program runs it."""
    program = _stem(words[0])
    if program not in _RUNNERS:
        return program
    verbs = ("run", "x", "tool")
    meant = next((word for word in words[1:] if word in _CODE or not (word.startswith("-") or word in verbs)), words[0])
    if meant in _CODE:
        return program
    # Without the version that was asked for; a scope begins with the same character.
    package, _, _ = _stem(meant).partition("@")
    return package or program


def _stem(path: str) -> str:
    name = os.path.basename(path)
    stem, suffix = os.path.splitext(name)
    return stem if suffix in _SUFFIXES else name or path


def _variable(text: str, number: int) -> dict[str, str]:
    name, given, value = text.partition("=")
    if not given:
        if not name.isidentifier():
            # Not quoted: it may be the secret alone.
            raise UnusableInput(f"--env number {number} must be NAME=VALUE, or the NAME of a variable")
        if name not in os.environ:
            raise UnusableInput(f"--env {name}: there is no such variable here; say {name}=VALUE")
        value = os.environ[name]
    return {"name": name, "value": value}

"""Which servers a file asks for: an `mcpServers` array, a whole session request, or a desktop client's map.

Entries are passed on as they are; only the map's are put into the form of ACP, whose `env` and `headers` are arrays.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from mcp_launch.failures import UnusableInput

__all__ = ["Config", "read_config"]

_ACCEPTED = (
    "an mcpServers array, a session/new or session/load request or its params, "
    'or {"mcpServers": {name: ...}} as desktop clients write it'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The raw entries, and the session's directory if the file names one."""

    servers: list[Any]
    cwd: str | None = None


def read_config(text: str, *, source: str) -> Config:
    """Read the servers that a JSON text asks for; `source` is what to call it in errors.

    Raises:
        UnusableInput: it is not JSON, or nothing that holds servers; with line and column where that helps.
    """
    try:
        value: Any = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        # "Extra data" behind a whole document: most likely a recording, with one message on each line.
        hint = "; give one request, not a whole conversation" if error.msg == "Extra data" else ""
        raise UnusableInput(f"{source}:{error.lineno}:{error.colno}: not JSON: {error.msg}{hint}") from None
    except _DuplicateKeyError as error:
        raise UnusableInput(f"{source}: the name {error.key!r} occurs twice in one object") from None
    except ValueError:
        raise UnusableInput(f"{source}: holds a number that is too long") from None
    except RecursionError:
        raise UnusableInput(f"{source}: nested too deep") from None
    match value:
        case [*servers]:
            return Config(servers=servers)
        case {"method": str(method), **envelope}:
            if not method.startswith("session/"):
                raise UnusableInput(f'{source}: a "{method}" request asks for no servers; expected {_ACCEPTED}')
            return _from_params(envelope.get("params"), source=source)
        case _:
            return _from_params(value, source=source)


def _from_params(params: Any, *, source: str) -> Config:
    if not isinstance(params, dict) or "mcpServers" not in params:
        raise UnusableInput(f"{source}: holds no mcpServers; expected {_ACCEPTED}")
    known = cast("dict[str, Any]", params)
    cwd = known.get("cwd")
    if cwd is not None and not isinstance(cwd, str):
        raise UnusableInput(f"{source}: cwd must be a string")
    servers = known["mcpServers"]
    match servers:
        case None:
            return Config(servers=[], cwd=cwd)
        case [*entries]:
            return Config(servers=entries, cwd=cwd)
        case dict():
            named = cast("dict[str, Any]", servers).items()
            return Config(servers=[_from_desktop(name, entry) for name, entry in named], cwd=cwd)
        case _:
            raise UnusableInput(f"{source}: mcpServers must be an array or a map of servers")


def _from_desktop(name: str, entry: Any) -> Any:
    """One entry of a desktop client's map, as ACP writes it; what ACP has no word for is left out."""
    if not isinstance(entry, dict):
        return {"name": name, "type": entry}
    known = cast("dict[str, Any]", entry)
    kind = known.get("type", known.get("transport"))
    if kind is None:
        kind = "http" if "url" in known else "stdio"
    elif isinstance(kind, str) and kind.lower().replace("-", "").replace("_", "") in ("streamablehttp", "http"):
        kind = "http"
    acp: dict[str, Any] = {"type": kind, "name": name}
    if kind == "sse":
        acp["headers"] = []  # which ACP requires, and these maps leave out
    for member in ("command", "args", "url"):
        if member in known:
            acp[member] = known[member]
    for member in ("env", "headers"):
        if member in known:
            acp[member] = _as_pairs(known[member])
    return acp


def _as_pairs(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return [{"name": name, "value": text} for name, text in cast("dict[str, Any]", value).items()]


class _DuplicateKeyError(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's members. A name that occurs twice would otherwise drop a server in silence."""
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise _DuplicateKeyError(key)
        members[key] = value
    return members

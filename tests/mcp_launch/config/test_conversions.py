"""The table in docs/config.md of what is lost from every format to every other."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from mcp_launch.config import FORMATS, Config, Entry, Finding, Place, read_config, write_config
from mcp_launch.config._references import Reference, Text, map_leaves
from tests.mcp_launch.config.test_round_trip import said

HERE = Place(1, 1)
TOKEN = Reference("", "env", "TOKEN", is_required=True)


def text(*parts: str | Reference) -> Text:
    return Text(parts, HERE)


def entry(kind: str, *, name: str = "", value: Any = "plain", at: Any = None, **more: Any) -> Entry:
    """Return a server with one variable or header, and with a last argument or a URL."""
    server: dict[str, Any] = {"type": kind, "name": "n"}
    if kind == "stdio":
        pairs = [{"name": name or "TOKEN", "value": value}]
        server |= {"command": "npx", "args": ["-y", "files-mcp@1.2.0", at or "/data"], "env": pairs}
    else:
        url = "https://h.example/sse" if kind == "sse" else "https://h.example/mcp"
        server |= {"url": at or url, "headers": [{"name": name or "Authorization", "value": value}]}
    return Entry(name="n", server=None, place=HERE, written=server, **more)


FEATURES = {
    "r": (entry("stdio"), "a program with arguments and a literal `env`"),
    "v": (entry("stdio", value=text(TOKEN)), "a variable in its `env` under its own name"),
    "a": (
        entry("stdio", name="KEY", value=text(TOKEN), at=text("--key=", TOKEN)),
        "a variable under another name in its `env`, or in its `args`",
    ),
    "d": (entry("stdio", written_cwd="/srv"), "its directory"),
    "t": (entry("stdio", timeout=90.0), "its timeout"),
    "o": (entry("stdio", disabled=True), "a server that is switched off"),
    "H": (entry("http"), "a server of Streamable HTTP with a header"),
    "V": (entry("http", value=text("Bearer ", TOKEN)), "a variable after `Bearer` in its header `Authorization`"),
    "A": (entry("http", name="X-Key", value=text("Key ", TOKEN)), "a variable after other text in a header"),
    "U": (entry("http", at=text("https://h.example/", TOKEN, "/mcp")), "a variable in its URL"),
    "D": (entry("http", value=text(TOKEN._replace(default="x"))), "the default of a variable"),
    "I": (entry("http", value=text(TOKEN._replace(kind="input"))), "a value that the user is asked for"),
    "S": (entry("sse"), "a server of SSE"),
}


def written(config: Config, name: str) -> tuple[Config, list[Finding]]:
    """Return the config in another format, and what it reports as lost about the server."""
    text, lost = write_config(config, name)
    again = read_config(text, source="f", format=name, env={})
    return again, [each for each in lost if each.server is not None]


@cache
def source(name: str, feature: str) -> Config | None:
    """Return a config in this format with this feature, or None if it does not have that."""
    config, lost = written(Config((FEATURES[feature][0],), format="none", source="f"), name)
    return None if lost else config


def losses(origin: str, to: str) -> str:
    """Return the letters of what is lost, after those of the whole servers that are."""
    found = ""
    for letter in FEATURES:
        if (config := source(origin, letter)) is None:
            continue
        again, lost = written(config, to)
        assert (meaning(again) != meaning(config)) == bool(lost), (origin, to, letter, lost)
        found += letter if lost else ""
    for whole, parts in (("r", "vadto"), ("H", "VAUDI")):
        found = found if whole not in found else "".join(each for each in found if each not in parts)
    return found


def meaning(config: Config) -> list[Any]:
    """Return the servers without names, with every variable as an input, as in a server.json.

    Defaults are left out: VS Code has them apart from the servers.
    """
    found = map_leaves(
        [rest for _, *rest in said(config)], lambda leaf, _: as_input(leaf) if isinstance(leaf, Text) else leaf
    )
    return cast("list[Any]", found)


def as_input(text: Text) -> Text:
    return Text(
        tuple(part if isinstance(part, str) else part._replace(kind="input", default=None) for part in text.parts), HERE
    )


def table() -> str:
    """Return the table for docs/config.md."""
    legend = "; ".join(f"`{letter}` {what}" for letter, (_, what) in FEATURES.items())
    names = [f"`{name}`" for name in FORMATS]
    rows = [f"| from \\ to | {' | '.join(names)} |", f"|---{'|---' * len(FORMATS)}|"]
    for origin in FORMATS:
        cells = [f"`{found}`" if (found := losses(origin, to)) else "=" for to in FORMATS]
        rows.append(f"| `{origin}` | {' | '.join(cells)} |")
    return f"Letters: {legend}.\n\n" + "\n".join(rows) + "\n"


def test_every_loss_is_reported_and_nothing_else_is() -> None:
    assert [losses("claude-code", "codex"), losses("cursor", "goose")] == ["aAUDS", "aS"]
    assert table().count("\n| `") == len(FORMATS)

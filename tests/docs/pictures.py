"""The pictures of docs/pictures: `mcp-launch check` on a terminal, its page, and the page of a conversation.

The command checks real servers, most of them from examples/. Its output becomes SVG, for light and dark; the page is
opened in Chromium, for light and dark, wide and narrow. So is the page of `acp-bindings view` for
examples/recording.ndjson, wide only. Chromium is that of the system (on Debian
`apt-get install chromium fonts-inter fonts-texgyre`); CHROMIUM names another.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from acp_bindings.view import page_of
from examples.demo import web_server

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
SHOWN = "/home/ada/project"
"""The name of the folder in the pictures, so that they do not depend on the machine."""
COLUMNS = 110


def _theme(*colours: str) -> TerminalTheme:
    """Background and foreground, then black, red, green, yellow, blue, magenta, cyan and white, as in `page.css`."""
    background, foreground, *normal = (tuple(bytes.fromhex(colour)) for colour in colours)
    return TerminalTheme(cast("Any", background), cast("Any", foreground), cast("Any", normal))


_THEMES: Mapping[Literal["light", "dark"], TerminalTheme] = {
    "light": _theme(
        *("fbfaf7", "1f1d1a", "1f1d1a", "a3232b", "2c6640", "80560a", "1f5673", "7a4a86", "2a6a76", "625c52"),
    ),
    "dark": _theme(
        *("171614", "ece7dd", "3a362f", "ff938c", "8ecb9d", "e3b15c", "8fc4de", "c9a3d4", "7fc4d0", "a9a193"),
    ),
}
_SIZES = {"report-wide": (1120, 1240), "report-narrow": (390, 1240)}
_VIEW = {"view": (1440, 900)}


def main() -> int:
    """Make all of them."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        with _project(folder):
            command = ["mcp-launch", "check", "servers.json", "--html", "report.html"]
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            env = os.environ | {"FORCE_COLOR": "1", "TERM": "xterm-256color", "PATH": path}
            done = subprocess.run(
                command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
        if done.returncode != 1:
            sys.stderr.write(done.stdout)
            return 1
        page = folder / "report.html"
        page.write_text(page.read_text(encoding="utf-8").replace(str(folder), SHOWN), encoding="utf-8")
        for scheme, theme in _THEMES.items():
            svg = _drawn(done.stdout.replace(str(folder), SHOWN), theme, title=" ".join(command))
            (PICTURES / f"check-{scheme}.svg").write_text(svg, encoding="utf-8")
        _photograph(page, _SIZES)
        conversation = folder / "conversation.html"
        with (ROOT / "examples" / "recording.ndjson").open("rb") as lines:
            conversation.write_text("".join(page_of(lines, name="recording.ndjson")), encoding="utf-8")
        _photograph(conversation, _VIEW)
    return 0


@contextmanager
def _project(folder: Path) -> Generator[None]:
    """A folder with a file of servers, of which the web servers run until the block ends."""
    python, examples = sys.executable, ROOT / "examples"
    bin_ = folder / "bin"
    bin_.mkdir()
    for name in ("greeter", "forgetful"):
        (bin_ / name).write_text(f'#!/bin/sh\nexec "{python}" "{examples / "greeter_stdio.py"}"\n')
        (bin_ / name).chmod(0o755)
    with web_server("library_http.py") as library, web_server("clock_sse.py") as clock:
        library_url, clock_url = library.readline().strip(), clock.readline().strip()
        servers: dict[str, Any] = {
            "greeter": {"command": str(bin_ / "greeter"), "env": {"GREETING": "Welcome aboard"}},
            "forgetful": {"command": str(bin_ / "forgetful")},
            "library": {"url": library_url, "headers": {"Authorization": "Bearer library-card"}},
            "visitor": {"url": library_url},
            "clock": {"type": "sse", "url": clock_url, "headers": {"X-API-Key": "tick-tock"}},
            "typo": {"command": str(bin_ / "greter")},
        }
        (folder / "servers.json").write_text(json.dumps({"mcpServers": servers}, indent=2))
        yield


def _drawn(printed: str, theme: TerminalTheme, *, title: str) -> str:
    """Return the output of a command as SVG that needs no other fonts."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    console.print(Text.from_ansi(printed.rstrip()))
    svg = console.export_svg(title=title, theme=theme, unique_id="check")
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


def _photograph(page: Path, sizes: Mapping[str, tuple[int, int]]) -> None:
    """The top of the page as each kind of reader sees it; it must ask for nothing but itself, and need nothing."""
    sync_api: Any = importlib.import_module("playwright.sync_api")  # of a group that only this needs
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for size, (width, height) in sizes.items():
            for scheme in _THEMES:
                viewport = {"width": width, "height": height}
                tab = browser.new_page(viewport=viewport, color_scheme=scheme, device_scale_factor=1.5)
                asked: list[str] = []
                complaints: list[str] = []
                tab.on("request", partial(_note, asked, "url"))
                tab.on("console", partial(_note, complaints, "text"))
                tab.goto(page.as_uri())
                tab.screenshot(path=PICTURES / f"{size}-{scheme}.png")
                assert asked == [page.as_uri()], asked
                assert complaints == [], complaints
                tab.close()
        browser.close()


def _note(notes: list[str], name: str, event: Any) -> None:
    notes.append(getattr(event, name))


if __name__ == "__main__":
    sys.exit(main())

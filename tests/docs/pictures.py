"""The pictures of docs/pictures: `mcp-launch check` on a terminal, and the page that its `--html` writes.

Real servers are checked, most of them from examples/, by the real command on a real pseudo-terminal. What that shows
becomes SVG, for light and dark; the page is opened in Chromium, for light and dark, wide and narrow. Chromium is that
of the system (on Debian `apt-get install chromium fonts-inter fonts-texgyre`); CHROMIUM names another.
"""

from __future__ import annotations

import fcntl
import importlib
import io
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, cast

from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from examples.demo import web_server

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
SHOWN = "/home/ada/project"
"""What the folder is called in the pictures, which are the same wherever they are made."""
COLUMNS, LINES = 110, 60


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
_SIZES = {"wide": (1120, 1240), "narrow": (390, 1240)}
_COLOURS = {"brown": "yellow"}
"""What pyte calls otherwise than rich."""


def main() -> int:
    """Make all of them anew."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        with _project(folder):
            command = ["mcp-launch", "check", "servers.json", "--html", "report.html"]
            status, screen = _on_a_terminal(command, folder)
        if status != 1:
            sys.stderr.write(screen.decode(errors="replace"))
            return 1
        page = folder / "report.html"
        page.write_text(page.read_text(encoding="utf-8").replace(str(folder), SHOWN), encoding="utf-8")
        for scheme, theme in _THEMES.items():
            svg = _drawn(screen.replace(str(folder).encode(), SHOWN.encode()), theme, title=" ".join(command))
            (PICTURES / f"check-{scheme}.svg").write_text(svg, encoding="utf-8")
        _photograph(page)
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


def _on_a_terminal(command: list[str], folder: Path) -> tuple[int, bytes]:
    """The exit status of a command, and all that it wrote to its terminal."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES", "CI")}
    env = {**kept, "TERM": "xterm-256color", "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"}
    written = bytearray()
    with subprocess.Popen(command, cwd=folder, env=env, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        # Linux ends a terminal that nobody else holds with an error.
        while chunk := _read(main):
            written += chunk
    os.close(main)
    return process.returncode, bytes(written)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def _drawn(written: bytes, theme: TerminalTheme, *, title: str) -> str:
    """What a terminal shows in the end, as SVG that needs no font of elsewhere."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    for line in _screen(written):
        console.print(line, soft_wrap=True)
    svg = console.export_svg(title=title, theme=theme, unique_id="check")
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


def _screen(written: bytes) -> list[Text]:
    """The lines of the screen, by a terminal in memory: progress is drawn over and over."""
    pyte: Any = importlib.import_module("pyte")  # it has no types
    screen = pyte.Screen(COLUMNS, LINES)
    pyte.ByteStream(screen).feed(written)
    lines: list[Text] = []
    for number in range(LINES):
        line = Text()
        cells = (screen.buffer[number][column] for column in range(COLUMNS))
        for (colour, bold, italic), run in groupby(cells, attrgetter("fg", "bold", "italics")):
            style = Style(color=_colour(colour), bold=bold, italic=italic)
            line.append("".join(cell.data for cell in run), style)
        line.rstrip()
        lines.append(line)
    while lines and not lines[-1].plain:
        lines.pop()
    return lines


def _colour(name: str) -> Color | None:
    if name == "default":
        return None
    if re.fullmatch("[0-9a-f]{6}", name):
        return Color.parse(f"#{name}")
    known = _COLOURS.get(name.removeprefix("bright"), name.removeprefix("bright"))
    return Color.parse(f"bright_{known}" if name.startswith("bright") else known)


def _photograph(page: Path) -> None:
    """The top of the page as each kind of reader sees it; it must ask for nothing but itself, and need nothing."""
    sync_api: Any = importlib.import_module("playwright.sync_api")  # of a group that only this needs
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for size, (width, height) in _SIZES.items():
            for scheme in _THEMES:
                viewport = {"width": width, "height": height}
                tab = browser.new_page(viewport=viewport, color_scheme=scheme, device_scale_factor=1.5)
                asked: list[str] = []
                complaints: list[str] = []
                tab.on("request", partial(_note, asked, "url"))
                tab.on("console", partial(_note, complaints, "text"))
                tab.goto(page.as_uri())
                tab.screenshot(path=PICTURES / f"report-{size}-{scheme}.png")
                assert asked == [page.as_uri()], asked
                assert complaints == [], complaints
                tab.close()
        browser.close()


def _note(notes: list[str], name: str, event: Any) -> None:
    notes.append(getattr(event, name))


if __name__ == "__main__":
    sys.exit(main())

"""Fill in the output of programs that the pages show: `python -m tests.docs.embed`; `--check` compares.

A page has a marker in a comment. The text from there to `<!-- end -->` is generated:

    <!-- run: COMMAND -->      the output of a command; `< FILE` after it is its input
    <!-- help: COMMAND -->     the `--help` of a command, with a section for each subcommand
    <!-- passes -->            the passes of the pipeline, in order
    <!-- conversions -->       what is lost between the config formats
    <!-- failures -->          the failure codes, each with the first paragraph of its page
    <!-- rules -->             the rules of `mcp-launch lint`, with their sources
    <!-- advice: CODE -->      the advice for a code in the reports of `mcp-launch check`

If a page builds a program step by step, `agent.py` is the program up to that place. Text that differs each time or
between machines, such as ports and paths, is replaced.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from functools import cache
from importlib import import_module
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from tests.docs.blocks import program

if TYPE_CHECKING:
    from mcp_launch.failures import Code

__all__ = ["MARKER", "PAGES", "ROOT", "filled", "fresh"]

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")))
MARKER = re.compile(
    r"^<!-- (run|help|passes|conversions|failures|advice|rules|checks)(?:: (.*?))? -->\n(.*?)^<!-- end -->\n",
    re.MULTILINE | re.DOTALL,
)
TIMEOUT = 60.0
"""Seconds for one command."""
WIDTH = 80
"""Characters in a line of help."""
PAGE_WIDTH = 120
"""Characters in a line of a page."""


def main() -> int:
    """Update the pages, or list those that are out of date."""
    parser = argparse.ArgumentParser(prog="python -m tests.docs.embed", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    check = parser.parse_args().check
    stale = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (now := filled(text)) == text:
            continue
        stale += 1
        print(f"{page.relative_to(ROOT)} {'is out of date' if check else 'is updated'}", file=sys.stderr)
        if not check:
            page.write_text(now, encoding="utf-8")
    return 1 if check and stale else 0


def filled(text: str) -> str:
    """Return a page with its markers filled in."""
    return MARKER.sub(lambda found: found[0].partition("\n")[0] + "\n" + fresh(text, found) + "<!-- end -->\n", text)


def fresh(text: str, found: re.Match[str]) -> str:  # noqa: PLR0911 - a table
    """Return the text for one marker of a page."""
    match found[1], found[2]:
        case "run", str(command):
            return _block("console", f"$ {command}\n{_run(command, page=text[: found.start()])}")
        case "help", str(command):
            return _help(command)
        case "advice", str(code):
            return _advice(code)
        case "passes", _:
            return _passes()
        case "rules", _:
            return _rules()
        case "checks", _:
            return _checks()
        case "conversions", _:
            from tests.mcp_launch.config.test_conversions import table

            return table()
        case _:
            return _codes()


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text}```\n"


def _run(command: str, *, page: str = "") -> str:
    words = shlex.split(command)
    given = os.devnull
    if words[-2:-1] == ["<"]:
        *words, _, given = words
    variables = {"COLUMNS": str(WIDTH), "TERMINAL_WIDTH": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb"}
    with tempfile.TemporaryDirectory() as folder:
        place = ROOT
        if "agent.py" in words:
            # The agent may write files.
            place = Path(folder, "clone")
            shutil.copytree(ROOT / "examples", place / "examples")
            (place / "agent.py").write_text(program(page), encoding="utf-8")
        with contextlib.chdir(place):
            text = _printed(words, Path(ROOT, given).read_text(encoding="utf-8"), **variables, HOME=folder)
    return _same(text)


def _printed(words: list[str], given: str, **variables: str) -> str:
    """Return the output of a command, run in this process if possible because a separate one spends time on imports."""
    from tests.examples.support import run_client
    from tests.mcp_launch.here import printed_here

    program, *arguments = [sys.executable if word == "python" else word for word in words]
    match program, arguments:
        case _, ["examples/failures.py", *rest]:
            return _failure(*rest)
        case _, ["examples/client.py", *rest]:
            done = run_client(*rest, env=variables)
            assert done.stderr == ""
        case _, [*_, "nox", "-s", "demo"]:
            # What the session runs in its own environment.
            return _run("python -m codegen --check") + _run("python -W error examples/demo.py")
        case "mcp-launch", _:
            return printed_here(*arguments, stdin=given, **variables)
        case _:
            command = [sys.executable, "-m", "acp_bindings"] if program == "acp-bindings" else [program]
            done = subprocess.run(
                [*command, *arguments],
                env=os.environ | variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=TIMEOUT,
            )
    return done.stdout


def _failure(*arguments: str) -> str:
    """Return the output of the example, run in this process because starting one for each code would be slow."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        _failures().main(*arguments)
    return printed.getvalue()


@cache
def _failures() -> Any:
    spec = importlib.util.spec_from_file_location("failures_example", ROOT / "examples" / "failures.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _same(text: str) -> str:
    """Return the text without what differs between machines."""
    for found, name in ((sys.executable, "/usr/bin/python3"), (str(ROOT), "/home/me/acp-bindings")):
        text = text.replace(found, name)
    text = re.sub(r"(version \d), [\d.]+ s\)", r"\1, 2.1 s)", text)  # of `acp-bindings probe`
    # As OpenSSL has called it since 3.2.
    text = text.replace("record layer failure", "wrong version number")
    ports = dict.fromkeys(re.findall(r"127\.0\.0\.1:(\d+)", text))
    for number, port in enumerate(ports, 8001):
        text = re.sub(rf"\b{port}\b", str(number), text)
    return "".join(f"{line.rstrip()}\n" for line in re.sub(r"\A\s*\n", "", text).rstrip().splitlines())


def _help(command: str) -> str:
    package = command.replace("-", "_")
    names = _commands(package)
    own, *others = _run(shlex.join(["python", "-c", _HELP, package, *names])).split(f"{_NEXT}\n")
    sections = zip(names, others, strict=True)
    return _block("text", own) + "".join(
        f"\n### `{command} {name}`\n\n{_block('text', text.lstrip())}" for name, text in sections
    )


_NEXT = "=== the next subcommand ==="
_HELP = f"""
import contextlib, importlib, sys

package, *names = sys.argv[1:]
main = importlib.import_module(package + ".__main__").main
for words in ([], *([name] for name in names)):
    if words:
        print({_NEXT!r})
    sys.argv = [package, *words, "--help"]
    with contextlib.suppress(SystemExit):
        main()
"""
"""Prints the help of a program and its subcommands, in one process because each takes a second to start."""


def _commands(package: str) -> list[str]:
    import typer

    group: Any = typer.main.get_command(import_module(f"{package}._command.cli").app)
    return [name for name in group.list_commands(None) if not group.commands[name].hidden]


def _passes() -> str:
    from codegen.passes import PASSES

    lines = [f"1. `{each.__name__}`: {_first_line(each)}" for each in PASSES]
    return "\n" + "".join(f"{line}\n" for line in lines) + "\n"


def _rules() -> str:
    from mcp_launch._lint import LIST_DOCS, LIST_SOURCES, RULES

    known = [(rule.id, rule.doc, rule.sources) for rule in RULES]
    known += [(name, LIST_DOCS[name], sources) for name, sources in LIST_SOURCES.items()]
    rows = [f"| `{name}` | {doc} | {', '.join(starmap(_source, sources.items()))} |" for name, doc, sources in known]
    return "\n".join(["", "| rule | what is found | for whom, with the source |", "|---|---|---|", *rows, "", ""])


def _checks() -> str:
    from acp_bindings.probe import CHECKS

    rows: list[str] = []
    for each in CHECKS:
        only = "" if len(each.versions) == 2 else f" (v{each.versions[0]})"
        rows.append(f"| `{each.id}`{only} | {each.requires} | {each.source} |")
    return "\n".join(["", "| check | what is required | source |", "|---|---|---|", *rows, "", ""])


def _source(target: str, source: str) -> str:
    name = "all" if target == "mcp" else target
    return f"[{name}]({source})" if source.startswith("https:") else f"{name} ({source})"


def _codes() -> str:
    from mcp_launch.failures import Code

    rows = [f"| [`{code}`]({code}.md) | {_summary(code)} |" for code in get_args(Code)]
    return "\n".join(["", "| code | what happened |", "|---|---|", *rows, "", ""])


def _advice(code: str) -> str:
    from mcp_launch._advice import ADVICE

    return "".join(f"{line}\n" for line in ["", *textwrap.wrap(ADVICE[cast("Code", code)], PAGE_WIDTH), ""])


def _summary(code: str) -> str:
    page = (ROOT / "docs" / "failures" / f"{code}.md").read_text(encoding="utf-8")
    return " ".join(page.split("\n\n")[1].split())


def _first_line(function: object) -> str:
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())


if __name__ == "__main__":
    sys.exit(main())

"""Do everything in README and tutorial as a new user would, in order.

`nox -s walk` creates a new environment, installs the wheel in it, and runs `python -m tests.docs.walk` there, in a copy
of the repository. The output must be what the page shows, except for seconds:

    ```console              each command is run; its standard output is compared, and its status must be 0
    ```console exit-1       the same, with status 1
    ```sh                   each line is run, and its status must be 0
    ```python               is saved as example.py and run; the text block below is its output
    ```python step          is added to agent.py, which the page builds step by step
    <!-- walk: REASON -->   before a block: it is skipped, and the log has the reason

A block of any other kind is an error.
"""

from __future__ import annotations

import difflib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.docs.blocks import SECONDS, Block, blocks, program

__all__ = ["PAGES", "Step", "steps", "take"]

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/tutorial.md")
STATUS = {"": 0, "exit-1": 1}
"""The expected exit status of a command, by the mark of its block."""
PATIENCE = 300.0
"""Seconds for one command; the longest installs the dependencies of `nox -s demo`."""


@dataclass(frozen=True)
class Step:
    """One action of a reader: save files, run a command, or neither."""

    line: int
    command: str = ""
    output: str | None = None
    """The output that the page shows, or None."""
    status: int = 0
    saved: Mapping[str, str] = field(default_factory=dict[str, str])
    left_out: str = ""
    wrong: str = ""
    """The error in the page that makes the action impossible."""


def main() -> int:
    """Do all steps of the pages and print a log; return 1 if something differs."""
    began, wrong, left_out = time.monotonic(), list[str](), list[str]()
    with tempfile.TemporaryDirectory(prefix="newcomer-") as name:
        clone, environment = Path(name, "acp-bindings"), _environment(Path(name, "tmp"))
        _copy(clone)
        for page in PAGES:
            for step in steps((clone / page).read_text(encoding="utf-8")):
                where = f"{page}:{step.line}"
                print(f"\n{where}", flush=True)
                if step.left_out:
                    left_out.append(f"{where}: {step.left_out}")
                if complaint := take(step, clone, environment):
                    wrong.append(f"{where}: {complaint}")
    print(f"\n{time.monotonic() - began:.0f} s in all")
    print(*(f"left out  {each}" for each in left_out), sep="\n")
    print(*(f"WRONG     {each}" for each in wrong), sep="\n")
    print(f"{len(wrong)} blocks are wrong" if wrong else "All happens as the pages say.")
    return 1 if wrong else 0


def steps(page: str) -> Iterator[Step]:
    """Return the actions of a reader of a Markdown page."""
    rest = iter(blocks(page))
    for block in rest:
        if block.left_out:
            yield Step(block.line, left_out=block.left_out)
            continue
        match block.language, block.mark:
            case "console", mark if mark in STATUS:
                yield from (Step(block.line, command, output, STATUS[mark]) for command, output in block.commands())
            case "sh", "":
                yield from (Step(block.line, command) for command in block.body.splitlines())
            case "python", "file":
                continue  # It is in the examples.
            case "python", "":
                yield _pasted(block, next(rest, None))
            case "python", "step":
                until = "".join(page.splitlines(keepends=True)[: block.line + block.body.count("\n")])
                yield Step(block.line, saved={"agent.py": program(until)})
            case _:
                yield Step(block.line, wrong=f"there is no rule for a block of {block.language} {block.mark}")


def _pasted(block: Block, below: Block | None) -> Step:
    if below is None or below.language != "text":
        return Step(block.line, wrong="the page does not show what this prints")
    return Step(block.line, "python example.py", below.body, saved={"example.py": block.body})


def take(step: Step, folder: Path, environment: Mapping[str, str]) -> str:
    """Do a step in a folder and print a log; return what is wrong, or an empty string."""
    if step.left_out:
        print(f"  left out: {step.left_out}")
    for name, text in step.saved.items():
        (folder / name).write_text(text, encoding="utf-8")
        print(f"  {name} is saved, {len(text.splitlines())} lines")
    complaint = step.wrong or (_typed(step, folder, environment) if step.command else "")
    if complaint:
        print(f"  WRONG: {complaint}", flush=True)
    return complaint


def _typed(step: Step, folder: Path, environment: Mapping[str, str]) -> str:
    print(f"  $ {step.command}", flush=True)
    began = time.monotonic()
    with subprocess.Popen(
        ["bash", "-c", step.command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as started:
        try:
            printed, said = started.communicate(timeout=PATIENCE)
        except BaseException as error:
            os.killpg(started.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return f"not done after {PATIENCE:.0f} s"
            raise
    print("".join(f"  | {line}\n" for line in printed.splitlines()), end="")
    print("".join(f"  ! {line}\n" for line in said.splitlines()), end="")
    print(f"  {time.monotonic() - began:.1f} s", flush=True)
    if started.returncode != step.status:
        return f"ended with status {started.returncode}, not {step.status}"
    return "" if step.output is None else _difference(step.output, printed)


def _difference(shown: str, printed: str) -> str:
    before, after = (SECONDS.sub("? s", text).splitlines(keepends=True) for text in (shown, printed))
    found = "".join(difflib.unified_diff(before, after, "shown", "printed", n=0))
    return f"the page shows something else:\n{found}" if found else ""


def _environment(temporary: Path) -> dict[str, str]:
    """Return the environment without the variables of nox, tests and CI, with temporary folders inside the walk's."""
    temporary.mkdir()
    theirs = ("NOX_", "PYTHON", "PYTEST", "GITHUB_")
    own = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    for name in ("CI", "FORCE_COLOR", "VIRTUAL_ENV"):
        own.pop(name, None)
    # Otherwise pip prints a line for each package.
    return own | {
        "ACP_SESSIONS": str(temporary / "sessions"),
        "TMPDIR": str(temporary),
        "PIP_QUIET": "1",
        "NO_COLOR": "1",
    }


def _copy(clone: Path) -> None:
    """Copy the files that git lists, in their present state."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in names:
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)


if __name__ == "__main__":
    sys.exit(main())

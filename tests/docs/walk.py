"""A newcomer's walk through README and tutorial: all that stands there is typed or pasted as it stands, in its order.

`nox -s walk` makes a new environment, installs the wheel in it, and runs `python -m tests.docs.walk` there. The walk is
in a copy of the repository, in a folder that was empty, as a reader's clone is. What is printed must be what the page
shows below, seconds aside:

    ```console              each command is typed; what it prints on standard output is compared, and it ends well
    ```console exit-1       the same, and it ends with status 1
    ```sh                   each line is typed, and ends well
    ```python               is saved as example.py and run; the block of text below is what that prints
    ```python step          is worked into agent.py, which the page builds step by step
    <!-- walk: REASON -->   before a block: it is left out, and the log of the walk says so, with the reason

A block of any other kind ends the walk badly: nobody knows what a reader does with it.
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

from tests.docs.blocks import SECONDS, Block, blocks
from tests.docs.steps import program

__all__ = ["PAGES", "Step", "steps", "take"]

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/tutorial.md")
STATUS = {"": 0, "exit-1": 1}
"""What a command ends with, by the mark of its block."""
PATIENCE = 300.0
"""Seconds for one command; the longest installs all that `nox -s demo` needs."""


@dataclass(frozen=True)
class Step:
    """One thing that a reader does: save files, type a command, or neither."""

    line: int
    command: str = ""
    output: str | None = None
    """What the page shows that it prints; None where it shows nothing."""
    status: int = 0
    saved: Mapping[str, str] = field(default_factory=dict[str, str])
    left_out: str = ""
    wrong: str = ""
    """What is wrong with the page, so that nobody can do it."""


def main() -> int:
    """Walk through the pages, and print what happens; 1 when something else does than they say."""
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
    """What a reader of the page, which is Markdown, does."""
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
            case "python", "":
                yield _pasted(block, next(rest, None))
            case "python", "step":
                until = "".join(page.splitlines(keepends=True)[: block.line + block.body.count("\n")])
                yield Step(block.line, saved={"agent.py": program(until)})
            case _:
                yield Step(block.line, wrong=f"nobody knows what to do with a block of {block.language} {block.mark}")


def _pasted(block: Block, below: Block | None) -> Step:
    if below is None or below.language != "text":
        return Step(block.line, wrong="the page does not show what this prints")
    return Step(block.line, "python example.py", below.body, saved={"example.py": block.body})


def take(step: Step, folder: Path, environment: Mapping[str, str]) -> str:
    """Do it in a folder, and print a log of it; what is wrong, or nothing."""
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
    """What a reader's shell has, without what is of nox, of tests or of CI; what it writes goes with the walk."""
    temporary.mkdir()
    theirs = ("NOX_", "PYTHON", "PYTEST", "GITHUB_")
    own = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    for name in ("CI", "FORCE_COLOR", "VIRTUAL_ENV"):
        own.pop(name, None)
    # pip tells of each package, on standard output.
    return own | {
        "ACP_SESSIONS": str(temporary / "sessions"),
        "TMPDIR": str(temporary),
        "PIP_QUIET": "1",
        "NO_COLOR": "1",
    }


def _copy(clone: Path) -> None:
    """What git knows of the repository, as it is now."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in names:
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m codegen.watch OUT`: if npm has newer schemas, write a pull request that updates to them.

The change is made in a separate working tree, as a branch of two commits: the schemas, and the generated packages. OUT
gets `branch.bundle` with both commits, and `branch`, `title` and `body.md` for the pull request. Nothing is pushed:
another job does that, which may write to the repository and does not run anything that was fetched.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from codegen import lock
from codegen.lock import SourceError
from codegen.sources import newest_version, published_versions
from codegen.update import Update, update

PACKAGE = "@agentclientprotocol/sdk"

Gate: TypeAlias = tuple[str, tuple[str, ...]]
Gates: TypeAlias = tuple[Gate, ...]


ROOT = Path(__file__).resolve().parents[1]

BODY_LIMIT = 60_000
"""The maximum number of characters. GitHub refuses a body of more than 65,536."""

OUTPUT_LINES = 40
"""The number of output lines that the body shows of a failed command."""


GENERATE: Gate = ("The pipeline has a rule for everything in the schemas", ("codegen",))
GATES: Gates = (
    ("Generating again gives the same packages", ("codegen", "--check")),
    ("Random instances of every definition survive a round trip", ("tests.acp_bindings.roundtrip_report",)),
)
"""The conditions for the new packages, and the module with arguments that checks each in the new working tree."""


def main(argv: Sequence[str] | None = None, *, root: Path = ROOT, gates: Gates = GATES) -> int:
    """Run the command. Return 0 if nothing is newer or the change was written, 2 if npm or git failed."""
    parser = argparse.ArgumentParser(prog="nox -s watch_schema --", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "out", metavar="OUT", type=Path, help="the folder for the pull request; not created if nothing is newer"
    )
    options = parser.parse_args(argv)
    try:
        version = _newer(root / "schema")
        if version is None:
            return 0
        source = f"npm:{PACKAGE}@{version}"
        changes = update(source, folder=root / "schema", dry_run=True)
        if changes.old == changes.new:
            print(f"{version} has the same schemas. Nothing to do.")
            return 0
        _propose(root, options.out, version, changes, gates)
    except SourceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"error: {' '.join(error.cmd)}: exit status {error.returncode}\n{error.stderr}", file=sys.stderr)
        return 2
    print(f"Wrote {options.out}: the schemas of {version} and the packages generated from them.")
    return 0


def _newer(schemas: Path) -> str | None:
    """Return the latest version of npm, or None if every schema is from it or from a later one."""
    newest = newest_version(PACKAGE)
    have = {entry.source.removeprefix(f"npm:{PACKAGE}@") for entry in lock.read(schemas).values()}
    # npm lists versions in order, so they need not be compared here.
    listed = published_versions(PACKAGE)
    later = listed[listed.index(newest) :] if newest in listed else (newest,)
    if have <= set(later):
        print(f"The schemas are from {', '.join(sorted(have))}. The latest version on npm is {newest}.")
        return None
    return newest


def _propose(root: Path, out: Path, version: str, changes: Update, gates: Gates) -> None:
    branch, title = f"schema-{version}", f"Update to the schemas of {version}"
    with _worktree(root, branch) as tree:
        update(f"npm:{PACKAGE}@{version}", folder=tree / "schema")
        _commit(tree, f"Update the schemas to {version}", "schema")
        outcomes = {GENERATE: _run(*GENERATE, tree)}
        if not outcomes[GENERATE]:
            _commit(tree, f"Regenerate for schema {version}", "src/acp_bindings")
            outcomes |= {gate: _run(*gate, tree) for gate in gates}
        out.mkdir(parents=True, exist_ok=True)
        _git(root, "bundle", "create", "--quiet", str((out / "branch.bundle").resolve()), f"HEAD..{branch}")
    for name, text in (("branch", branch), ("title", title), ("body.md", _body(version, changes, outcomes))):
        (out / name).write_text(text + "\n", encoding="utf-8")


@contextmanager
def _worktree(root: Path, branch: str) -> Generator[Path]:
    """Create a working tree of the last commit on a new branch. Both are removed when the block ends."""
    with tempfile.TemporaryDirectory(prefix="acp-watch-") as scratch:
        tree = Path(scratch) / "tree"
        _git(root, "worktree", "add", "--quiet", "-b", branch, str(tree))
        try:
            yield tree
        finally:
            _git(root, "worktree", "remove", "--force", str(tree))
            _git(root, "branch", "--quiet", "-D", branch)


def _commit(tree: Path, subject: str, folder: str) -> None:
    _git(tree, "add", "--all", folder)
    _git(tree, "commit", "--quiet", "-m", subject)


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)  # noqa: S607 - as PATH has it


def _run(claim: str, command: tuple[str, ...], tree: Path) -> str:
    """Run *command* in *tree*, with the packages of that tree. Return the end of its output if it failed."""
    print(f"{claim}: python -m {' '.join(command)}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    print(done.stdout)
    if done.returncode == 0:
        return ""
    output = done.stdout.replace(str(tree), ".").splitlines()[-OUTPUT_LINES:]
    return "\n".join([*output, f"exit status {done.returncode}"])


def _body(version: str, changes: Update, outcomes: Mapping[Gate, str]) -> str:
    """Return the text of the pull request as Markdown, truncated to the limit of GitHub."""
    before = ", ".join(sorted({entry.version for entry in changes.previous.values()}))
    lines = [f"npm has `{PACKAGE}` {version}. The schemas here are from {before}.", ""]
    lines += [f"- [{' ' if failed else 'x'}] {claim}" for (claim, _), failed in outcomes.items()]
    lines += ["", 'For the remaining steps see CONTRIBUTING, "A new schema".']
    for (_, command), failed in outcomes.items():
        if failed:
            lines += ["", f"### python -m {' '.join(command)}", "", "~~~text", failed, "~~~"]
    text = "\n".join([*lines, *changes.differences()])
    if len(text) <= BODY_LIMIT:
        return text
    start = text[:BODY_LIMIT].rpartition("\n")[0]
    return f"{start}\n\nTruncated. To see all: `nox -s update_schema -- npm:{PACKAGE}@{version} --dry-run`"


if __name__ == "__main__":
    sys.exit(main())

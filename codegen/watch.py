"""`python -m codegen.watch OUT`: when npm has schemas newer than those here, the change that takes them.

It is made in a working tree of its own, as a branch of two commits: the schemas, and what is generated from them. Into
OUT go `branch.bundle`, which has both, and `branch`, `title` and `body.md` for the pull request. Nothing is pushed:
that is left to what may write to the repository, and runs nothing of what was fetched.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codegen import lock
from codegen.errors import LockError, SourceError
from codegen.lock import LOCK, LockedFile
from codegen.replace import replace_together
from codegen.sources import Delivery, from_npm, newest_version, published_versions
from codegen.update import Update, update

PACKAGE = "@agentclientprotocol/sdk"


def deliveries(kept: Path, *, versions: Sequence[str] = (), timeout: float = 120.0) -> Iterator[Delivery]:
    """Yield what each version of the package ships, oldest first.

    Args:
        kept: the folder in which every version has a folder of its own, so that it is fetched once only.
        versions: those that are wanted; all that npm has, when empty.
        timeout: the seconds that npm may take for each of its answers.

    Raises:
        SourceError: npm cannot say which versions there are, or has one no longer.
    """
    for version in versions or published_versions(PACKAGE, timeout=timeout):
        yield _kept(kept / version, version) or _fetched(kept / version, version, timeout=timeout)


def _kept(folder: Path, version: str) -> Delivery | None:
    """What an earlier run has fetched, unless it is not what was fetched any more."""
    try:
        files = {file: lock.verified_bytes(folder, file) for file in lock.read(folder)}
    except LockError:
        return None
    return Delivery(source=f"npm:{PACKAGE}@{version}", version=version, files=files)


def _fetched(folder: Path, version: str, *, timeout: float) -> Delivery:
    delivery = from_npm(f"{PACKAGE}@{version}", timeout=timeout)
    records = {
        file: LockedFile.of(data, source=delivery.source, version=version) for file, data in delivery.files.items()
    }
    replace_together(folder, {**delivery.files, LOCK: lock.render(records).encode()})
    return delivery


ROOT = Path(__file__).resolve().parents[1]

BODY_LIMIT = 60_000
"""Characters: GitHub refuses a body of more than 65,536."""

SAID_LIMIT = 40
"""The lines of a command that failed which the body shows, its last."""


@dataclass(frozen=True)
class Gate:
    """What must hold for the new bindings, and the module that tells, run in the new working tree."""

    says: str
    command: tuple[str, ...]


GENERATE = Gate("The pipeline has a rule for everything in them", ("codegen",))
GATES = (
    Gate("Generated once more, the bindings are the same", ("codegen", "--check")),
    Gate("Random instances of every definition come back whole", ("tests.acp_bindings.roundtrip_report",)),
)


@dataclass(frozen=True)
class Outcome:
    """How a gate went, and the end of what was said when it failed."""

    gate: Gate
    failed: str = ""


def main(argv: Sequence[str] | None = None, *, root: Path = ROOT, gates: Sequence[Gate] = GATES) -> int:
    """Run the command; 0 when there is nothing newer or the change is made, 2 when npm or git refuses."""
    parser = argparse.ArgumentParser(prog="nox -s watch_schema --", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", metavar="OUT", type=Path, help="the folder for the proposal; left alone without one")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=120.0, help="for each answer of npm (120)")
    options = parser.parse_args(argv)
    try:
        version = _newer(root / "schema", timeout=options.timeout)
        if version is None:
            return 0
        source = f"npm:{PACKAGE}@{version}"
        changes = update(source, folder=root / "schema", timeout=options.timeout, dry_run=True)
        if changes.old == changes.new:
            print(f"{version} ships the same schemas; there is nothing to take.")
            return 0
        _propose(root, options.out, version, changes, gates, timeout=options.timeout)
    except SourceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"error: {' '.join(error.cmd)}: exit status {error.returncode}\n{error.stderr}", file=sys.stderr)
        return 2
    print(f"Wrote {options.out}: the schemas of {version}, and what is generated from them.")
    return 0


def _newer(schemas: Path, *, timeout: float) -> str | None:
    """The version that npm calls its latest, unless every schema is from it, or from one that npm lists behind it."""
    newest = newest_version(PACKAGE, timeout=timeout)
    have = {entry.source.removeprefix(f"npm:{PACKAGE}@") for entry in lock.read(schemas).values()}
    # npm lists them in the order of their versions, so that none need be compared here.
    listed = published_versions(PACKAGE, timeout=timeout)
    later = listed[listed.index(newest) :] if newest in listed else (newest,)
    if have <= set(later):
        print(f"The schemas are of {', '.join(sorted(have))}; npm's latest is {newest}.")
        return None
    return newest


def _propose(root: Path, out: Path, version: str, changes: Update, gates: Sequence[Gate], *, timeout: float) -> None:
    branch, title = f"schema-{version}", f"Take the schemas of {version}"
    with _worktree(root, branch) as tree:
        update(f"npm:{PACKAGE}@{version}", folder=tree / "schema", timeout=timeout)
        _commit(tree, f"Update the schemas to {version}", "schema")
        outcomes = [_run(GENERATE, tree)]
        if not outcomes[0].failed:
            _commit(tree, f"Regenerate for schema {version}", "src/acp_bindings")
            outcomes += [_run(gate, tree) for gate in gates]
        out.mkdir(parents=True, exist_ok=True)
        _git(root, "bundle", "create", "--quiet", str((out / "branch.bundle").resolve()), f"HEAD..{branch}")
    for name, text in (("branch", branch), ("title", title), ("body.md", _body(version, changes, outcomes))):
        (out / name).write_text(text + "\n", encoding="utf-8")


@contextmanager
def _worktree(root: Path, branch: str) -> Generator[Path]:
    """A working tree of the last commit on a new branch; both are gone when the block ends."""
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


def _run(gate: Gate, tree: Path) -> Outcome:
    """Run it in *tree*, with the bindings that are there."""
    print(f"{gate.says}: python -m {' '.join(gate.command)}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", *gate.command],
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
        return Outcome(gate)
    said = done.stdout.replace(str(tree), ".").splitlines()[-SAID_LIMIT:]
    return Outcome(gate, "\n".join([*said, f"exit status {done.returncode}"]))


def _body(version: str, changes: Update, outcomes: Sequence[Outcome]) -> str:
    """What a reviewer has to know, as Markdown; cut where GitHub would refuse it."""
    before = ", ".join(sorted({entry.version for entry in changes.previous.values()}))
    lines = [f"npm has `{PACKAGE}` {version}; the schemas here are of {before}.", ""]
    lines += [f"- [{' ' if each.failed else 'x'}] {each.gate.says}" for each in outcomes]
    lines += ["", 'What is left to do stands in CONTRIBUTING, "A new schema came out".']
    for each in outcomes:
        if each.failed:
            lines += ["", f"### python -m {' '.join(each.gate.command)}", "", "~~~text", each.failed, "~~~"]
    text = "\n".join([*lines, *changes.differences()])
    if len(text) <= BODY_LIMIT:
        return text
    kept = text[:BODY_LIMIT].rpartition("\n")[0]
    return f"{kept}\n\nTruncated. To see all: `nox -s update_schema -- npm:{PACKAGE}@{version} --dry-run`"


if __name__ == "__main__":
    sys.exit(main())

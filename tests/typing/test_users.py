"""Run each type checker on the installed packages as a user would, and compare its errors with `users/*.py`.

`# refused` at the end of a line: every checker reports an error there. `# refused by mypy, pyright`: only these do. On
all other lines, no checker reports an error. The tests compare lines, because an `ignore` comment for one checker does
not show what the others report.
"""

import importlib.util
import re
import shutil
from pathlib import Path

import pytest

from tests.typing.checkers import CHECKERS

USERS = Path(__file__).parent / "users"
MARK = re.compile(r"# refused(?: by (?P<checkers>[\w, ]+))?$")
Lines = set[tuple[str, int]]


def wanted(checker: str) -> Lines:
    return {
        (path.name, number)
        for path in USERS.glob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := MARK.search(line)) and (not match["checkers"] or checker in match["checkers"].split(", "))
    }


def shown(lines: Lines) -> list[str]:
    sources = {path.name: path.read_text(encoding="utf-8").splitlines() for path in USERS.glob("*.py")}
    return [f"{file}:{line}: {sources[file][line - 1].strip()}" for file, line in sorted(lines)]


@pytest.mark.parametrize("version", ["3.11", "3.14"])
@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_reports_exactly_the_marked_lines(checker: str, version: str, tmp_path: Path) -> None:
    # Elsewhere, where no settings of this repository apply.
    shutil.copytree(USERS, tmp_path, dirs_exist_ok=True)
    found = {(file, line) for file, line, _ in CHECKERS[checker](tmp_path, version)}
    marked = wanted(checker.partition(" ")[0])
    assert {
        "accepted": shown(marked - found),
        "refused": shown(found - marked),
    } == {"accepted": [], "refused": []}


@pytest.mark.parametrize("package", ["acp_bindings", "mcp_launch"])
def test_the_checked_package_is_the_installed_one(package: str) -> None:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    assert folder.parent.name == "site-packages", f"{folder} is no installed package: run `nox -s types`"
    assert (folder / "py.typed").exists()

"""Run each type checker on the installed packages as a user would, and compare its errors with `users/*.py`.

`# refused` at the end of a line: every checker reports an error there. `# refused by mypy, pyright`: only these do. On
all other lines, no checker reports an error. The tests compare lines, because an `ignore` comment for one checker does
not show what the others report.
"""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

USERS = Path(__file__).parent / "users"
MARK = re.compile(r"# refused(?: by (?P<checkers>[\w, ]+))?$")
ERROR = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):(?:\d+:)? (?:error|warning)\b")

Found = set[tuple[str, int]]


def pyright(folder: Path, version: str) -> Found:
    settings = {"typeCheckingMode": "strict", "pythonVersion": version}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    reported = json.loads(run(folder, "pyright", "--outputjson", "--pythonpath", sys.executable))["generalDiagnostics"]
    return {(Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in reported}


def mypy(folder: Path, version: str) -> Found:
    return errors(run(folder, "mypy", "--strict", "--config-file=", "--python-version", version, "."))


def mypy_with_pydantics_plugin(folder: Path, version: str) -> Found:
    (folder / "plugin.ini").write_text("[mypy]\nplugins = pydantic.mypy\n", encoding="utf-8")
    return errors(run(folder, "mypy", "--strict", "--config-file=plugin.ini", "--python-version", version, "."))


def ty(folder: Path, version: str) -> Found:
    options = ["--output-format", "concise", "--python", sys.executable, "--python-version", version]
    return errors(run(folder, "ty", "check", *options, "."))


def run(folder: Path, checker: str, *arguments: str) -> str:
    command = [sys.executable, "-m", checker, *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    return result.stdout


def errors(printed: str) -> Found:
    return {(match["file"], int(match["line"])) for line in printed.splitlines() if (match := ERROR.match(line))}


def wanted(checker: str) -> Found:
    return {
        (path.name, number)
        for path in USERS.glob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := MARK.search(line)) and (not match["checkers"] or checker in match["checkers"].split(", "))
    }


def shown(lines: Found) -> list[str]:
    sources = {path.name: path.read_text(encoding="utf-8").splitlines() for path in USERS.glob("*.py")}
    return [f"{file}:{line}: {sources[file][line - 1].strip()}" for file, line in sorted(lines)]


@pytest.mark.parametrize("version", ["3.11", "3.14"])
@pytest.mark.parametrize(
    ("name", "checker"),
    [("pyright", pyright), ("mypy", mypy), ("mypy", mypy_with_pydantics_plugin), ("ty", ty)],
    ids=["pyright", "mypy", "mypy with pydantic's plugin", "ty"],
)
def test_a_checker_refuses_what_is_marked_and_nothing_else(
    name: str, checker: Callable[[Path, str], Found], version: str, tmp_path: Path
) -> None:
    # Elsewhere, where no settings of this repository apply.
    shutil.copytree(USERS, tmp_path, dirs_exist_ok=True)
    found = checker(tmp_path, version)
    assert {
        "accepted": shown(wanted(name) - found),
        "refused": shown(found - wanted(name)),
    } == {"accepted": [], "refused": []}


@pytest.mark.parametrize("package", ["acp_bindings", "mcp_launch"])
def test_what_is_checked_is_what_gets_installed(package: str) -> None:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    assert folder.parent.name == "site-packages", f"{folder} is no installed package: run `nox -s types`"
    assert (folder / "py.typed").exists()

"""The type checkers in strict mode, on a folder of files where no settings of this repository apply."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["CHECKERS", "Checker", "Found"]

ERROR = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):(?:\d+:)? (?:error|warning)\b:? ?(?P<message>.*)")

Found = set[tuple[str, int, str]]
"""The name of the file, the number of the line and the message of each error."""

Checker = Callable[[Path, str], Found]
"""Takes the folder and the version of Python."""


def pyright(folder: Path, version: str) -> Found:
    settings = {"typeCheckingMode": "strict", "pythonVersion": version}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    reported = json.loads(run(folder, "pyright", "--outputjson", "--pythonpath", sys.executable))["generalDiagnostics"]
    return {(Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"]) for each in reported}


def mypy(folder: Path, version: str) -> Found:
    return errors(run(folder, "mypy", "--strict", "--config-file=", "--python-version", version, "."))


def mypy_with_pydantics_plugin(folder: Path, version: str) -> Found:
    (folder / "plugin.ini").write_text("[mypy]\nplugins = pydantic.mypy\n", encoding="utf-8")
    # A cache that was written without the plugin would be discarded.
    options = ["--config-file=plugin.ini", "--cache-dir=plugin", "--python-version", version]
    return errors(run(folder, "mypy", "--strict", *options, "."))


def ty(folder: Path, version: str) -> Found:
    options = ["--output-format", "concise", "--python", sys.executable, "--python-version", version]
    return errors(run(folder, "ty", "check", *options, "."))


def run(folder: Path, checker: str, *arguments: str) -> str:
    command = [sys.executable, "-m", checker, *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    return result.stdout


def errors(printed: str) -> Found:
    return {
        (match["file"], int(match["line"]), match["message"])
        for line in printed.splitlines()
        if (match := ERROR.match(line))
    }


CHECKERS: dict[str, Checker] = {
    "pyright": pyright,
    "mypy": mypy,
    "mypy with pydantic's plugin": mypy_with_pydantics_plugin,
    "ty": ty,
}

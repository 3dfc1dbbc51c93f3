"""The tests on the page of the pytest plugin pass, and its command prints the output on the page."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
TESTS = re.findall(r"^```python pytest\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^```console\n\$ pytest (.*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CHANGES = re.compile(r"\d+\.\d+ ?s\b|(?<=on PATH as )\S+(?=;)|=+ | =+| {9,}")
"""Text that differs in each run or with another pytest: seconds, the path of Python, the width of lines."""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder with the examples; with CI set, it does not truncate lines."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    environment = {name: value for name, value in os.environ.items() if name not in {"CI", "BUILD_NUMBER"}} | {
        "COLUMNS": "99",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTEST_ADDOPTS": "-p no:cacheprovider -p no:asyncio -W error::pytest.PytestUnraisableExceptionWarning",
    }
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_the_tests_of_the_page_pass(tmp_path: Path) -> None:
    files = [f"test_page_{number}.py" for number in range(len(TESTS))]
    for file, code in zip(files, TESTS, strict=True):
        (tmp_path / file).write_text(code, encoding="utf-8")

    result = run(tmp_path, "-o", "mcp_config=examples/servers.json", *files)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(("arguments", "output"), COMMANDS)
def test_a_command_prints_the_output_on_the_page(arguments: str, output: str, tmp_path: Path) -> None:
    result = run(tmp_path, *arguments.split())

    assert CHANGES.sub("…", result.stdout) == CHANGES.sub("…", output)


def test_the_page_has_tests_and_a_command() -> None:
    assert (len(TESTS), len(COMMANDS)) == (3, 1)

"""What the README shows is what happens: its Python runs, and prints what stands below it."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)( [\w-]+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str, str]]:
    return [(language, mark.strip(), body) for language, mark, body in BLOCK.findall(README)]


def examples() -> list[tuple[str, str]]:
    """Every Python block that can run by itself, with the output that the next block shows."""
    found = blocks()
    return [
        (body, found[index + 1][2])
        for index, (language, mark, body) in enumerate(found)
        if (language, mark) == ("python", "")
    ]


@pytest.mark.parametrize(("code", "output"), examples())
def test_an_example_prints_what_the_readme_says(code: str, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.StringIO()
    monkeypatch.chdir(ROOT)
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == output


def test_the_demo_prints_what_the_readme_says() -> None:
    (shown,) = [body for language, _, body in blocks() if language == "console" and "nox -s demo" in body]
    commands = [[sys.executable, "-m", "codegen", "--check"], [sys.executable, "examples/demo.py"]]
    printed = [subprocess.run(each, cwd=ROOT, capture_output=True, text=True, check=True).stdout for each in commands]
    assert "".join(printed) == shown.split("\n", 1)[1]


def test_the_check_prints_what_the_readme_says() -> None:
    (shown,) = [body for language, _, body in blocks() if language == "console" and "mcp-launch check" in body]
    command, expected = shown.split("\n", 1)
    here = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [here / "mcp-launch", *command.split()[2:]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert SECONDS.sub("? s", done.stdout) == SECONDS.sub("? s", expected)


SECONDS = re.compile(r"\d+\.\d s")


def test_the_sessions_that_the_documents_name_exist() -> None:
    listed = subprocess.run([sys.executable, "-c", LIST_SESSIONS], cwd=ROOT, capture_output=True, text=True, check=True)
    named = {
        name
        for document in ("README.md", "CONTRIBUTING.md")
        for name in re.findall(r"nox -s (\w+)", (ROOT / document).read_text(encoding="utf-8"))
    }
    assert named <= set(listed.stdout.split())


LIST_SESSIONS = """
import ast
tree = ast.parse(open("noxfile.py").read())
print(*(each.name for each in tree.body if isinstance(each, ast.FunctionDef) and each.decorator_list))
"""

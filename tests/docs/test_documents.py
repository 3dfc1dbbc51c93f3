"""What the documents show is what happens: their Python runs, and prints what stands below it."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import acp_bindings.connection
import acp_bindings.setup
import mcp_launch
from acp_bindings import AcpError
from mcp_launch import LaunchError
from tests.codegen.test_command import EQUAL as CODEGEN_EQUAL
from tests.docs.blocks import SECONDS, Block, blocks
from tests.docs.embed import MARKER

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("**/*.md"))]


def of(document: str) -> list[Block]:
    return blocks((ROOT / document).read_text(encoding="utf-8"))


def examples() -> list[Any]:
    """Every Python block that can run, after what its document marks as shared, with the output that the next shows."""
    found: list[Any] = []
    for document in DOCUMENTS:
        shared = ""
        listed = of(document)
        for index, block in enumerate(listed):
            if (block.language, block.mark) == ("python", "shared"):
                shared += block.body
            elif (block.language, block.mark) == ("python", ""):
                number = f"{document}-{len(found)}"
                found.append(pytest.param(document, shared + block.body, listed[index + 1].body, id=number))
    return found


@pytest.mark.parametrize(("document", "code", "output"), examples())
def test_an_example_prints_what_its_document_says(
    document: str, code: str, output: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    printed = io.StringIO()
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("ACP_SESSIONS", str(tmp_path))
    with contextlib.redirect_stdout(printed):
        exec(compile(code, document, "exec"), {})
    assert printed.getvalue() == output


def test_every_block_of_a_document_is_run_or_cannot_be() -> None:
    left: list[str] = []
    for document in DOCUMENTS:
        text = MARKER.sub("", (ROOT / document).read_text(encoding="utf-8"))
        previous = ""
        for found in re.finditer(r"^```(\w*)[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            language, first = found[1], found[2].partition("\n")[0]
            is_output = language == "text" and previous == "python"
            if not (language == "python" or is_output or first.startswith("$ acp-bindings ")):
                left.append(f"{document}: {first[:40].strip()}")
            previous = language
    assert set(left) == RUN_OTHERWISE | NOT_RUN


RUN_OTHERWISE = {
    "README.md: $ mcp-launch check examples/servers.json",
    "README.md: $ python -m pip install nox && python -m",
    "README.md: $ python examples/client.py --version 1",
    "docs/conversation.md: agent    The Example Agent 1.0 (ACP v1)",
    'docs/conversation.md: client initialize 0                 {"pr',
    "docs/testing.md: $ pytest -q --mcp-config examples/server",
}
"""By tests of their own, here, in test_conversation.py and in test_testing.py; what a block begins with."""

NOT_RUN = {
    "README.md: schema/  ──►  codegen/  ──►  src/acp_bin",  # a drawing
    "docs/commands.md: mcp-launch check .mcp.json",  # with servers of the reader's
    "docs/check.md: $ sh -c 'tee -a talk.ndjson | my-agent -",  # it has an agent of the reader's
    'docs/check.md: {"direction": "client", "message": {"jso',  # a line of a recording
    "docs/connection.md: initialize: no response within 30 s; the",  # it would take that long
    "docs/generation.md: published schema → vocabulary check → pa",  # a drawing
    "docs/launching.md: mcp servers:",  # for the reader's CI
    "docs/tutorial.md: pip install '.[launch]'",  # whoever runs the tests has done it
}
"""With the reason."""


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_file_that_a_document_shows_is_in_the_examples(document: str) -> None:
    files = {path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")}
    assert {block.body for block in of(document) if block.mark == "file"} <= files


@pytest.mark.parametrize("root", [AcpError, LaunchError])
def test_the_page_of_errors_has_all_of_them(root: type[Exception]) -> None:
    for package in (acp_bindings.setup, acp_bindings.connection, mcp_launch):
        for name in package.__all__:
            getattr(package, name)  # which loads it
    waiting, names = [root], set[str]()
    while waiting:
        error = waiting.pop()
        if error.__module__.startswith(("acp_bindings.", "mcp_launch.")):
            names.add(error.__name__)
        waiting += error.__subclasses__()
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    public = {name for name in names if not name.startswith("_")}
    assert {root.__name__} < public <= set(re.findall(r"`(\w+)`", page))


def shown(program: str, document: str) -> list[tuple[str, str]]:
    """Every call of a program that a document shows, with what it shows below."""
    console = [block for block in of(document) if block.language == "console"]
    return [each for block in console for each in block.commands() if program in each[0]]


def commands() -> list[Any]:
    """Every call of `acp-bindings` that a document shows."""
    return [
        pytest.param(command, output, id=f"{document}-{command}")
        for document in DOCUMENTS
        for command, output in shown("acp-bindings ", document)
        if command.startswith("acp-bindings ")
    ]


@pytest.mark.parametrize(("command", "output"), commands())
def test_a_command_prints_what_its_document_says(command: str, output: str) -> None:
    run = [sys.executable, "-W", "error", "-m", "acp_bindings", *shlex.split(command)[1:]]
    done = subprocess.run(run, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.stdout == output


def test_the_help_of_every_subcommand_is_in_a_document() -> None:
    from mcp_launch._command.cli import app

    subcommands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert subcommands == set(re.findall(r"^### `mcp-launch (\S+)`$", page, re.MULTILINE))


def test_the_demo_prints_what_the_readme_says() -> None:
    ((_, expected),) = shown("nox -s demo", "README.md")
    command = [sys.executable, "-W", "error", "examples/demo.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    # What stands before it is the generator's, which tests/codegen/test_command.py runs anyway.
    assert done.stdout == expected.partition(CODEGEN_EQUAL)[2]


def test_the_programs_print_what_the_readme_says(tmp_path: Path) -> None:
    ((command, expected),) = shown("examples/client.py", "README.md")
    python = shlex.quote(sys.executable)
    done = subprocess.run(
        shlex.split(re.sub(r"\bpython\b", lambda _: python, command)),
        cwd=ROOT,
        env=os.environ | {"ACP_SESSIONS": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == expected


def test_the_check_prints_what_the_readme_says() -> None:
    ((command, expected),) = shown("mcp-launch check", "README.md")
    here = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [here / "mcp-launch", *command.split()[1:]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert SECONDS.sub("? s", done.stdout) == SECONDS.sub("? s", expected)


def test_the_sessions_that_the_documents_name_exist() -> None:
    listed = subprocess.run([sys.executable, "-c", LIST_SESSIONS], cwd=ROOT, capture_output=True, text=True, check=True)
    named = {
        name
        for document in (*DOCUMENTS, "CONTRIBUTING.md")
        for name in re.findall(r"nox -s (\w+)", (ROOT / document).read_text(encoding="utf-8"))
    }
    assert named <= set(listed.stdout.split())


LIST_SESSIONS = """
import ast
tree = ast.parse(open("noxfile.py").read())
print(*(each.name for each in tree.body if isinstance(each, ast.FunctionDef) and each.decorator_list))
"""

"""The code blocks on the pages run and print the output below them."""

import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import acp_bindings.agent
import acp_bindings.client
import acp_bindings.connection
import acp_bindings.play
import acp_bindings.remote
import acp_bindings.setup
import mcp_launch
from acp_bindings import AcpError
from mcp_launch import LaunchError
from tests.docs.blocks import SECONDS, Block, blocks
from tests.docs.embed import MARKER
from tests.examples.support import run_client
from tests.mcp_launch.here import run_here

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("**/*.md"))]
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def of(document: str) -> list[Block]:
    return blocks((ROOT / document).read_text(encoding="utf-8"))


def examples() -> list[Any]:
    """Return every Python block that can run, with the shared blocks of its page before it, and its output."""
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
def test_an_example_prints_the_output_on_its_page(
    document: str, code: str, output: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    printed = io.StringIO()
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("ACP_SESSIONS", str(tmp_path))
    monkeypatch.setenv("PATH", PATH)
    with contextlib.redirect_stdout(printed):
        exec(compile(code, document, "exec"), {})
    assert printed.getvalue() == output


def test_every_block_is_run_or_listed_with_a_reason() -> None:
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
    "docs/tutorial.md: $ python examples/client.py --version 1",
    "docs/conversation.md: agent    The Example Agent 1.0 (ACP v1)",
    'docs/conversation.md: client initialize 0                 {"pr',
    "docs/testing.md: $ pytest -q --mcp-config examples/server",
}
"""Run by separate tests, here, in test_conversation.py and in test_testing.py; the beginning of each block."""

NOT_RUN = {
    "docs/lock.md: mcp-launch lock .mcp.json",
    "docs/lock.md: FAIL files stdio changed in list after 0",
    "README.md: pip install 'acp-bindings[launch]'",  # the package index may not have this version yet
    "docs/explore.md: {",  # a file of answers; tests/mcp_launch/explore/test_asking.py sends such answers
    "docs/commands.md: mcp-launch check .mcp.json",  # the servers are the reader's
    "docs/check.md: acp-bindings tap -o talk.ndjson -- my-ag",  # the agent is the reader's
    'docs/check.md: {"direction": "client", "message": {"jso',  # a line of a recording
    "docs/connection.md: initialize: no response within 30 s; the",  # it would take that long
    "docs/generation.md: published schema → vocabulary check → pa",  # a drawing
    "docs/launching.md: mcp servers:",  # for the reader's CI
    "docs/login.md: mcp-launch login https://example.com/mcp",  # it requires a browser
    "docs/login.md: https://example.com/mcp: client WWL4eYcr",  # the logins are the reader's
    "docs/probe.md: - run: pip install 'acp-bindings[tools]'",  # for the reader's CI
    'docs/probe.md: $ pytest --acp-agent "python my_agent.py',  # the agent is the reader's
    "docs/models.md: pip install 'acp-bindings[openai-agents]",  # already done where the tests run
    "docs/models.md: pip install 'acp-bindings[pydantic-ai]'",
    'docs/play.md: {"agent_servers": {"play": {"type": "cus',  # the settings of an editor
    'docs/play.md: {"prompt": null}',  # tests/acp_bindings/play/test_script.py reads it
    "docs/remote.md: pip install 'acp-bindings[remote]'",  # already done where the tests run
    "docs/tap.md: acp-bindings tap -o talk.ndjson -- my-ag",  # the agent is the reader's
    "docs/tap.md: {",  # the settings of an editor
    'docs/tap.md: {"time": "2026-11-27T11:45:49.123456Z",',  # lines of a recording
    "docs/view.md: acp-bindings view talk.ndjson",  # it opens a browser
    "docs/view.md: acp-bindings view talk.ndjson --serve --",
    "docs/tutorial.md: {",  # the settings of an editor
    "docs/tutorial.md: pip install '.[launch]'",  # already done where the tests run
}
"""The beginning of each block, with the reason."""


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_file_on_a_page_equals_the_one_in_the_examples(document: str) -> None:
    files = {path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")}
    assert {block.body for block in of(document) if block.mark == "file"} <= files


@pytest.mark.parametrize("root", [AcpError, LaunchError])
def test_the_page_of_errors_lists_every_public_error(root: type[Exception]) -> None:
    for package in (
        acp_bindings.setup,
        acp_bindings.connection,
        acp_bindings.agent,
        acp_bindings.client,
        acp_bindings.play,
        acp_bindings.remote,
        mcp_launch,
    ):
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
    named = re.findall(r"`([a-z_.]+)`", page.partition("## Class hierarchies")[2])
    assert public <= {name for module in named for name in dir(import_module(module))}


def shown(program: str, document: str) -> list[tuple[str, str]]:
    """Return every call of a program on a page, with its output."""
    console = [block for block in of(document) if block.language == "console"]
    return [each for block in console for each in block.commands() if program in each[0]]


def commands() -> list[Any]:
    """Return every call of `acp-bindings` on the pages."""
    return [
        pytest.param(command, output, id=f"{document}-{command}")
        for document in DOCUMENTS
        for command, output in shown("acp-bindings ", document)
        # test_embedded.py compares the others, whose durations differ.
        if command.startswith("acp-bindings ") and not command.startswith("acp-bindings probe ")
    ]


@pytest.mark.parametrize(("command", "output"), commands())
def test_a_command_prints_the_output_on_its_page(command: str, output: str) -> None:
    run = [sys.executable, "-W", "error", "-m", "acp_bindings", *shlex.split(command)[1:]]
    done = subprocess.run(run, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.stdout == output


def test_the_help_of_every_subcommand_is_on_the_page_of_commands() -> None:
    from mcp_launch._command.cli import app

    subcommands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert subcommands == set(re.findall(r"^### `mcp-launch (\S+)`$", page, re.MULTILINE))


def test_the_example_programs_print_the_output_in_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ((command, expected),) = shown("-- python examples/agent.py", "docs/tutorial.md")
    _, program, *options = (sys.executable if word == "python" else word for word in shlex.split(command))
    done = run_client(*options, env={"ACP_SESSIONS": str(tmp_path)})
    assert (program, done.returncode, done.stderr) == ("examples/client.py", 0, "")
    assert done.stdout == expected


def test_the_check_prints_the_output_in_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ((command, expected),) = shown("mcp-launch check", "README.md")
    done = run_here(*shlex.split(command)[1:], PATH=PATH)
    assert done.returncode == 1
    assert SECONDS.sub("? s", done.stdout) == SECONDS.sub("? s", expected)


@pytest.mark.parametrize("document", [*DOCUMENTS, "CHANGELOG.md"])
def test_the_names_of_models_on_a_page_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    named = set(re.findall(r"\b(v[12](?:_unstable)?)\.([A-Z]\w*)", text)) - {("v1", "AllowedOutcome")}
    assert [each for each in named if not hasattr(import_module(f"acp_bindings.{each[0]}"), each[1])] == []


def test_the_nox_sessions_on_the_pages_exist() -> None:
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    named = {
        name
        for document in (*DOCUMENTS, "CONTRIBUTING.md")
        for name in re.findall(r"nox -s (\w+)", (ROOT / document).read_text(encoding="utf-8"))
    }
    assert named <= {each.name for each in tree.body if isinstance(each, ast.FunctionDef) and each.decorator_list}

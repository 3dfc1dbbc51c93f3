"""`mcp-launch shell` with commands from a pipe; test_terminal.py types them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import pytest
from mcp_types import Prompt, PromptArgument, Resource, Tool

from mcp_launch import Budgets
from mcp_launch._command import run
from mcp_launch._command.explore.terminal import candidates, piped_lines
from mcp_launch._servers.record import Offer
from tests.mcp_launch.explore.here import ODD, Command
from tests.mcp_launch.servers.offers import TYPED
from tests.mcp_launch.support import SECRET

LINES = """\
# what it has
tool hang
call typed path="a b" filter={"since": 2026, "names": ["x y"]} lines=3

read memo://today
get greet name=Ada
prompts
quit
call typed path=never
"""
USAGE = "usage: greet(name: string, tone?: string)"


def test_lines_are_executed_in_order(file: str, command: Command) -> None:
    done = command("shell", file, "odd", stdin=LINES)

    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        "hang()",
        '{"path": "a b", "filter": {"since": 2026, "names": ["x y"]}, "lines": 3}',
        "nothing",
        "user:",
        "Greet Ada.",
        "greet(name, tone?)",
        "    Ask for a greeting.",
        "      name  Whom.",
        "      tone  string",
    ]


@pytest.mark.parametrize(
    ("lines", "status", "out", "err"),
    [
        ("read memo://today\nread memo://today", 0, "nothing\nnothing\n", ""),
        ("exit\nread memo://today\n", 0, "", ""),
        ("call grow quietly=yes\ntool grown\n", 0, "grew\ngrown()\n", ""),
        (
            "call grow alone=yes\ncall typed path=a\n",
            2,
            "grew\n",
            'mcp-launch: odd: no tool is called "typed"; choose from grown\n',
        ),
    ],
    ids=["last line without end", "exit", "new tool", "removed tool"],
)
def test_lines_are_done_until_the_end(
    *, lines: str, status: int, out: str, err: str, odd_file: str, command: Command
) -> None:
    done = command("shell", odd_file, stdin=lines)

    assert (done.status, done.out, done.err) == (status, out, err)


@pytest.mark.anyio
async def test_the_lines_of_a_file_are_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never_readable(_: object) -> None:
        """As on macOS, where a file at its end never becomes readable."""
        await anyio.sleep_forever()

    file = tmp_path / "commands"
    file.write_text("tools\nquit")
    monkeypatch.setattr(anyio, "wait_readable", never_readable)
    with file.open() as opened, anyio.fail_after(5):
        monkeypatch.setattr(sys, "stdin", opened)
        assert [line async for line in piped_lines()] == ["tools", "quit"]


def test_lists_are_current_even_without_a_notification(file: str, command: Command) -> None:
    done = command("shell", file, "odd", stdin="call grow quietly=yes\ntools\ntool grown\n")

    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("grew\ntyped(")
    assert done.out.endswith("\ngrown()\ngrown()\n")


def test_a_changed_list_is_listed_again_once(file: str, command: Command) -> None:
    done = command("shell", file, "odd", "--verbose", stdin="call grow\ntool grown\ntool grown\n")

    assert (done.status, done.out) == (0, "grew\ngrown()\ngrown()\n")
    # At the start, and before the first use after the change.
    assert done.err.count('"method":"resources/list"') == 2


def test_progress_is_not_shown_without_a_terminal(file: str, command: Command) -> None:
    done = [command("call", file, "odd", "structured"), command("shell", file, "odd", stdin="call structured")]

    assert [(each.status, each.err) for each in done] == [(0, "")] * 2


def test_a_tool_is_shown_with_its_output_schema(file: str, command: Command) -> None:
    done = command("shell", file, "odd", stdin="tool structured\ntool typed\nresources\nhelp call\ntools")

    assert done.out.startswith("structured() -> {n?: integer}\ntyped(path: string")
    assert "    annotations: read-only, not destructive\n" in done.out
    assert "memo://{day}  a day\n" in done.out
    assert "call NAME key=value ...  call a tool" in done.out
    assert "\nshow()\n" in done.out


@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        ("cal typed", 2, 'mcp-launch: unknown command "cal"; did you mean "call"?'),
        ("typed path=a", 2, 'mcp-launch: unknown command "typed"; it is a tool: call typed key=value ...'),
        ("call", 2, "mcp-launch: usage: call NAME key=value ..."),
        ("call tpyed", 2, 'mcp-launch: odd: no tool is called "tpyed"; did you mean "typed"?'),
        ("read", 2, "mcp-launch: usage: read URI"),
        ("read memo://no", 1, "mcp-launch: odd: no resources/read"),
        ("quit now", 2, "mcp-launch: usage: quit"),
        ("get greet", 2, f"mcp-launch: greet: name: is missing; must be string: Whom.\n{USAGE}"),
        ("get greet Ada", 2, f"mcp-launch: greet: Ada: must be name=value, or name:=JSON\n{USAGE}"),
        ("get greet nmae=Ada", 2, f'mcp-launch: greet: nmae: unknown argument; did you mean "name"?\n{USAGE}'),
        ("get greet name=Ada zz:=1", 2, f"mcp-launch: greet: zz: unknown argument\n{USAGE}"),
        ("get great", 2, 'mcp-launch: odd: no prompt is called "great"; did you mean "greet"?'),
        ("get zzz", 2, 'mcp-launch: odd: no prompt is called "zzz"; choose from greet'),
        ("call typed 'a", 2, "mcp-launch: no closing quotation"),
        ("call fail", 1, "401 for [redacted]"),
        ("call refuse", 1, "mcp-launch: odd: not with [redacted]"),
    ],
)
def test_a_failing_line_is_reported_and_the_next_is_executed(
    line: str, status: int, says: str, file: str, command: Command
) -> None:
    done = command("shell", file, "odd", stdin=f"{line}\nread memo://today\n")

    assert (done.status, done.out, done.err) == (status, "nothing\n", f"{says}\n")


def test_the_status_is_that_of_the_first_line_that_did_not_work(file: str, command: Command) -> None:
    assert command("shell", file, "odd", stdin="read memo://today\ncal\ncall fail\nread memo://today\n").status == 2


def test_a_request_that_takes_too_long_is_reported(
    file: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = Budgets(call=0.5)
    monkeypatch.setattr(run, "Budgets", lambda: short)
    done = command("shell", file, "odd", stdin="read memo://never\n")

    assert done.status == 1
    assert "mcp-launch: odd: resources/read: did not respond within 0.5 s" in done.err.splitlines()


def test_a_dead_server_is_reported_at_every_line(file: str, command: Command) -> None:
    done = command("shell", file, "odd", stdin="call leave\nread memo://today\n")

    assert (done.status, done.out) == (1, "")
    first, second = (line.partition(": it said")[0] for line in done.err.splitlines())
    assert first == second
    assert first.startswith("mcp-launch: odd: exited with status 9")
    assert SECRET not in done.err


def test_what_a_tool_prints_to_stdout_is_a_warning_once(printing: list[str], command: Command) -> None:
    done = command("shell", "--env", "TOKEN=working", "--", *printing, stdin="call log\ncall log\nnonsense\n")

    assert (done.status, len(done.out.splitlines())) == (2, 2)
    warning, unknown = done.err.splitlines()
    assert warning.startswith('warning: odd: wrote "[redacted]" on stdout')
    assert "nonsense" in unknown


def test_content_other_than_text_is_saved(file: str, tmp_path: Path, command: Command) -> None:
    done = command("shell", file, "odd", "--save", str(tmp_path / "kept"), stdin="read memo://pixel\n")

    assert (done.status, done.out) == (0, "")
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["resource-1-pixel.png"]


def test_standard_input_cannot_be_two_things(command: Command) -> None:
    done = command("shell", "-", stdin="[]")

    assert (done.status, done.out) == (2, "")
    assert done.err == "mcp-launch: standard input is used for the commands of the shell; pass a FILE\n"


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("", ["tools", "call"]),
        ("c", ["call"]),
        ("call ", ["typed"]),
        ("tool t", ["typed"]),
        ("call other ", []),
        ("call typed l", ["lines=", "limit="]),
        ("call typed lines=3 l", ["limit="]),
        ("call typed lines:=3 l", ["limit="]),
        ("call typed tags=a t", ["tags="]),
        ("call typed mode=", ["mode=fast", "mode=thorough", "mode=3"]),
        ("call typed deep=t", ["deep=true"]),
        ("call typed path=", []),
        ("call typed nothing=", []),
        ("read ", ["memo://today"]),
        ("get ", ["greet", "other"]),
        ("get greet ", ["name=", "tone="]),
        ("get greet name=a ", ["tone="]),
        ("get greet name=", []),
        ("help ", []),
        ("quit ", []),
    ],
)
def test_completion_offers_commands_names_and_arguments(line: str, texts: list[str]) -> None:
    offer = Offer(
        tools=[Tool(name="typed", description="\n  Tell.\n  More.", input_schema=TYPED)],
        resources=[Resource(name="today", uri="memo://today")],
        prompts=[
            Prompt(name="greet", arguments=[PromptArgument(name="name"), PromptArgument(name="tone")]),
            Prompt(name="other", arguments=[PromptArgument(name="never")]),
        ],
    )

    found = candidates(line, offer, {"tools": ("tools", "list them"), "call": ("call NAME", "call one")})

    assert [each.text for each in found] == texts


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("call ", "Tell."),
        ("call typed p", "string, Where to look."),
        ("get greet ", "string, Whom."),
        ("", "list them"),
    ],
)
def test_completion_describes_its_offers(line: str, about: str) -> None:
    greet = Prompt(name="greet", arguments=[PromptArgument(name="name", description="Whom.\nMore.")])
    tool = Tool(name="typed", description="\n  Tell.\n  More.", input_schema=TYPED)
    offer = Offer(tools=[tool], prompts=[greet])

    assert [each.about for each in candidates(line, offer, {"tools": ("tools", "list them")})] == [about]


@pytest.mark.parametrize("line", ["call ", "tool ", "call typed ", "read ", "get ", "get greet "])
def test_completion_offers_nothing_that_the_server_lacks(line: str) -> None:
    assert candidates(line, Offer(), {}) == []


def test_an_invalid_schema_has_no_completions() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": 5}, "b": {"enum": {"c": 1}}}}
    offer = Offer(tools=[Tool(name="t", input_schema=schema)])

    assert candidates("call t a=", offer, {}) == candidates("call t b=", offer, {}) == []


def test_a_list_that_fails_is_a_warning_and_an_error(command: Command) -> None:
    config = f"OFFERS={json.dumps({'tools': 1, 'resources': None})}"

    done = command("shell", "-e", config, "--", sys.executable, *ODD["args"], stdin="resources\nprompts\n")

    assert done.out == "could not list its resources\ndoes not offer prompts\n"
    assert (
        done.err.count('warning: offers: could not list its resources: "no idea"\n') == 3
    )  # at the start, and by each command


@pytest.mark.parametrize("words", [["tools"], ["call", "structured"]])
def test_a_list_that_is_not_requested_cannot_fail(words: list[str], command: Command) -> None:
    name, *rest = words
    config = f"OFFERS={json.dumps({'tools': 1, 'resources': None})}"

    done = command(name, "-e", config, *rest, "--", sys.executable, *ODD["args"])

    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize("line", ["tool \udcff\n", "tool \udcff"])
def test_a_line_with_invalid_utf_8_is_read_with_replacements(line: str, odd_file: str, command: Command) -> None:
    done = command("shell", odd_file, stdin=line)

    assert (done.status, 'no tool is called "\ufffd"' in done.err) == (2, True)

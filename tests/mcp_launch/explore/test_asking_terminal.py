"""A person answers what servers ask."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.mcp_launch.support import SERVERS

if sys.platform == "win32":
    pytest.skip("there is no pty on Windows", allow_module_level=True)

from tests.mcp_launch.terminal import Terminal, terminal

OLDER = ("--", sys.executable, str(SERVERS / "asks.py"), "stdio", "legacy")


def answer(shown: Terminal, *pairs: tuple[str, str]) -> None:
    for question, keys in pairs:
        shown.see(question)
        shown.type(keys.encode())


FIELDS = (
    ("name: string; Name; Your name; at least 2 characters", "A\n"),
    ("name: ", "Ada\n"),
    ("size?: integer = 3", "\n"),
    ("ink: ", "green\n"),
    ('must be "red" | "blue", not "green"', "red\n"),
    ("sure: ", "yes\n"),
    ("note: ", "\n"),
)


ANSWERS: tuple[tuple[str, tuple[tuple[str, str], ...], str], ...] = (
    ("fill", (*FIELDS, ("Send this to asks? [Y/n]", "\n")), '{"name":"Ada","size":3,"ink":"red","sure":true'),
    ("fill", (*FIELDS, ("Send this to asks? [Y/n]", "n\n")), "decline"),
    ("fill", (("name: ", "\x04"),), "decline"),
    ("visit", (("https://login.example/start?state=1", ""), ("open this URL? [y/N]", "y\n")), "accept"),
    ("visit", (("open this URL? [y/N]", "\n"),), "decline"),
    ("locked", (("open this URL? [y/N]", "y\n"), ("Call again", "y\n")), "call 2"),
    ("complete", (("user: 2 + 2?", ""), ("> ", "it is\n"), ("> ", "four\n"), ("> ", "\n")), "user says it is"),
)


def test_a_person_answers(tmp_path: Path) -> None:
    with terminal("shell", *OLDER, columns=150, XDG_STATE_HOME=str(tmp_path)) as shown:
        for tool, pairs, result in ANSWERS:
            answer(shown, ("asks>", f"call {tool}\r"), *pairs)
            shown.see(result)
        answer(shown, ("asks>", "\x04"))
        assert shown.status() == 0


def test_a_person_answers_a_single_call() -> None:
    tool, pairs, result = ANSWERS[0]
    with terminal("call", tool, *OLDER, columns=150) as shown:
        answer(shown, *pairs)
        shown.see(result)
        assert shown.status() == 0


def test_ctrl_c_at_a_question_ends_the_call_but_not_the_shell(tmp_path: Path) -> None:
    with terminal("shell", *OLDER, columns=150, XDG_STATE_HOME=str(tmp_path)) as shown:
        answer(shown, ("asks>", "call fill\r"), ("name: ", "\x03"), ("cancelled", ""), ("asks>", "call fill\r"))
        answer(shown, *FIELDS, ("Send this", "y\n"), ('"name":"Ada"', ""), ("asks>", "\x04"))
        assert shown.status() == 0

"""Small recordings for the tests of the page."""

import json
from typing import Any

SESSION = "s1"


def line(milliseconds: int, sender: str, **message: Any) -> bytes:
    """A message in a recording, at a time after noon."""
    return as_line(time=at(milliseconds), **{"from": sender}, message={"jsonrpc": "2.0", **message})


def event(milliseconds: int, **about: Any) -> bytes:
    return as_line(time=at(milliseconds), **about)


def at(milliseconds: int) -> str:
    return f"2026-11-27T12:{milliseconds // 60000:02}:{milliseconds // 1000 % 60:02}.{milliseconds % 1000:03}000Z"


def as_line(**members: Any) -> bytes:
    return json.dumps(members, ensure_ascii=False).encode() + b"\n"


def update(milliseconds: int, kind: str, /, *, session: str = SESSION, **rest: Any) -> bytes:
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **rest}}
    return line(milliseconds, "agent", method="session/update", params=params)


def chunk(milliseconds: int, text: str, *, session: str = SESSION) -> bytes:
    return update(milliseconds, "agent_message_chunk", session=session, content={"type": "text", "text": text})


def opening(*, servers: list[Any] | None = None, title: str = "Aria", session: str = SESSION) -> list[bytes]:
    """Initialize, and create a session."""
    client, agent = {"name": "editor", "version": "1"}, {"name": "aria", "title": title, "version": "2"}
    new = {"cwd": "/home/ada", "mcpServers": servers or []}
    return [
        line(0, "client", id=0, method="initialize", params={"protocolVersion": 1, "clientInfo": client}),
        line(20, "agent", id=0, result={"protocolVersion": 1, "agentInfo": agent, "agentCapabilities": {}}),
        line(30, "client", id=1, method="session/new", params=new),
        line(1530, "agent", id=1, result={"sessionId": session}),
    ]


def prompt(milliseconds: int, id_: int, text: str, *, session: str = SESSION) -> bytes:
    params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    return line(milliseconds, "client", id=id_, method="session/prompt", params=params)


def end_of_turn(milliseconds: int, id_: int) -> bytes:
    return line(milliseconds, "agent", id=id_, result={"stopReason": "end_turn"})


TURN = [
    *opening(),
    prompt(2000, 2, "Who are you?"),
    chunk(2100, "I am "),
    chunk(2200, "the "),
    chunk(2300, "engine."),
    end_of_turn(5000, 2),
]

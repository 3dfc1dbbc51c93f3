"""How fast messages are read and written, and modules imported, against the official SDK and against bare JSON parsing.

    python benchmarks/bindings.py                      # ours against `pydantic_core.from_json`
    python benchmarks/bindings.py --peer PYTHON        # also against `agent-client-protocol` in that interpreter

Each contestant runs in a process of its own; they take turns in short rounds and the best round counts, so that a busy
machine hurts all alike. Only the ratios mean something: above 1, ours is faster. `json` is JSON parsed without any
types, which is the limit. `peer` is pydantic's own methods on the peer's models, the fastest that can be had of them.
`peer's way` is what its connection does with a message: to and from dictionaries, and `json` for the text. Our figures
are of `decode` and `encode`, with all that they check.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

SERVERS = [
    {"name": "files", "command": "/bin/files", "args": ["--stdio"], "env": [{"name": "KEY", "value": "v"}]},
    {"type": "http", "name": "web", "url": "https://mcp.example", "headers": [{"name": "X-Key", "value": "v"}]},
]
CAPABILITIES = {"loadSession": True, "mcpCapabilities": {"http": True}, "promptCapabilities": {"image": True}}
CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "A chunk of what it says."}}
TOOL_CALL = {
    "sessionUpdate": "tool_call_update",
    "toolCallId": "call-1",
    "status": "completed",
    "content": [{"type": "content", "content": {"type": "text", "text": "Three files."}}],
    "rawOutput": {"files": ["a", "b", "c"]},
}
MESSAGES: dict[str, tuple[str, Any]] = {
    "session/new request": ("NewSessionRequest", {"cwd": "/project", "mcpServers": SERVERS}),
    "initialize response": (
        "InitializeResponse",
        {
            "protocolVersion": 1,
            "agentCapabilities": CAPABILITIES,
            "agentInfo": {"name": "a", "version": "1"},
            "authMethods": [],
        },
    ),
    "agent_message_chunk": ("SessionNotification", {"sessionId": "session-1", "update": CHUNK}),
    "tool_call_update": ("SessionNotification", {"sessionId": "session-1", "update": TOOL_CALL}),
}
ROUND = 0.02
"""Seconds that one round takes, about."""

IMPORTS = {
    "pydantic and one model": "from pydantic import BaseModel\nclass M(BaseModel):\n  a: str\nM(a='')",
    "ours": "from acp_bindings.v1 import NewSessionRequest",
    "ours, and a first message": (
        "from acp_bindings import decode, v1\n"
        'decode(v1.SessionNotification, \'{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}\')'
    ),
}
PEER_IMPORT = {"peer": "import acp.schema"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--peer", metavar="PYTHON", help="an interpreter that has agent-client-protocol")
    options.add_argument("--rounds", type=int, default=60, help="turns that each contestant takes at each thing")
    options.add_argument("--contestant", choices=CONTESTANTS, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.contestant:
        compete(CONTESTANTS[chosen.contestant]())
        return
    report_messages(chosen.peer, chosen.rounds)
    report_imports(chosen.peer, max(chosen.rounds // 4, 1))


def report_messages(peer: str | None, rounds: int) -> None:
    pythons = {"ours": sys.executable, "json": sys.executable} | ({"peer": peer, "peer's way": peer} if peer else {})
    running = {name: start(python, name) for name, python in pythons.items()}
    best: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        for task in tasks():
            for name, process in running.items():
                if (seconds := ask(process, task)) is not None:
                    best[task, name] = min(seconds, best.get((task, name), seconds))
    for process in running.values():
        process.communicate(timeout=10)
    others = [name for name in running if name != "ours"]
    print(f"{'':32}{'ours, µs':>10}" + "".join(f"{name + ' / ours':>20}" for name in others))
    for task in tasks():
        ours = best[task, "ours"]
        theirs = (best.get((task, name)) for name in others)
        shown = "".join(f"{other / ours:>20.2f}" if other else f"{'-':>20}" for other in theirs)
        print(f"{task:32}{ours * 1e6:>10.2f}{shown}")


def report_imports(peer: str | None, rounds: int) -> None:
    pythons = dict.fromkeys(IMPORTS, sys.executable) | (dict.fromkeys(PEER_IMPORT, peer) if peer else {})
    best = dict.fromkeys(pythons, float("inf"))
    for _ in range(rounds):
        for name, python in pythons.items():
            best[name] = min(best[name], import_seconds(str(python), (IMPORTS | PEER_IMPORT)[name]))
    base = next(iter(best.values()))
    print(f"\n{'import':32}{'ms':>10}{'against the first':>20}")
    for name, seconds in best.items():
        print(f"{name:32}{seconds * 1e3:>10.1f}{seconds / base:>20.2f}")


def tasks() -> list[str]:
    return [f"{doing} {message}" for doing in ("read", "write") for message in MESSAGES]


def start(python: str, contestant: str) -> subprocess.Popen[str]:
    command = [python, __file__, "--contestant", contestant]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(process: subprocess.Popen[str], task: str) -> float | None:
    """The seconds that one *task* takes in the other process, or None where it has no part in it."""
    assert process.stdin
    assert process.stdout
    print(task, file=process.stdin, flush=True)
    answer: float | None = json.loads(process.stdout.readline())
    return answer


def compete(work: dict[str, Callable[[], object]]) -> None:
    """Answer each task that comes in by the seconds it took, in JSON."""
    for line in sys.stdin:
        task = work.get(line.strip())
        print(json.dumps(task and seconds_of(task)), flush=True)


def seconds_of(work: Callable[[], object]) -> float:
    work()
    count, started = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - started) < ROUND:
        for _ in range(100):
            work()
        count += 100
    return elapsed / count


def ours() -> dict[str, Callable[[], object]]:
    from acp_bindings import decode, encode, v1  # noqa: PLC0415

    work: dict[str, Callable[[], object]] = {}
    for name, (type_name, value) in MESSAGES.items():
        type_, text = getattr(v1, type_name), json.dumps(value).encode()
        model = decode(type_, text)
        work[f"read {name}"] = lambda type_=type_, text=text: decode(type_, text)
        work[f"write {name}"] = lambda model=model: encode(model)
    return work


def bare_json() -> dict[str, Callable[[], object]]:
    from pydantic_core import from_json  # noqa: PLC0415

    texts = {name: json.dumps(value).encode() for name, (_, value) in MESSAGES.items()}
    return {f"read {name}": lambda text=text: from_json(text) for name, text in texts.items()}


def peer() -> dict[str, Callable[[], object]]:
    work: dict[str, Callable[[], object]] = {}
    for name, type_, text, model in peer_messages():
        work[f"read {name}"] = lambda type_=type_, text=text: type_.model_validate_json(text)
        work[f"write {name}"] = lambda model=model: model.model_dump_json(by_alias=True, exclude_unset=True)
    return work


def peer_connection() -> dict[str, Callable[[], object]]:
    def write(model: Any) -> bytes:
        plain = model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        return json.dumps(plain, separators=(",", ":")).encode()

    work: dict[str, Callable[[], object]] = {}
    for name, type_, text, model in peer_messages():
        work[f"read {name}"] = lambda type_=type_, text=text: type_.model_validate(json.loads(text))
        work[f"write {name}"] = lambda model=model: write(model)
    return work


def peer_messages() -> Iterator[tuple[str, Any, bytes, Any]]:
    schema: Any = importlib.import_module("acp.schema")
    for name, (type_name, value) in MESSAGES.items():
        type_, text = getattr(schema, type_name), json.dumps(value).encode()
        yield name, type_, text, type_.model_validate_json(text)


def import_seconds(python: str, code: str) -> float:
    timed = f"import time\nstarted = time.perf_counter()\n{code}\nprint(time.perf_counter() - started)"
    done = subprocess.run([python, "-c", timed], capture_output=True, text=True, check=True, timeout=60)
    return float(done.stdout)


CONTESTANTS = {"ours": ours, "json": bare_json, "peer": peer, "peer's way": peer_connection}

if __name__ == "__main__":
    main()

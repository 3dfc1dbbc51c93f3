"""Runs `acp-bindings play`."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from typing import Any

from acp_bindings.play import SCENES, Play, Replay, Script, ScriptError


def run_play(
    script: str | None,
    *,
    replay: str | None,
    version: Any,
    without: Collection[Any],
    auth: bool,
    rude: Collection[str],
    http: str | None,
    show: str | None,
) -> int:
    """Be the agent, and return the exit status."""
    try:
        if show:
            return _show(show, version)
        others = {"SCRIPT": script, "--version": version, "--without": without, "--auth": auth}
        if replay:
            _refuse_together("--replay", {**others, "--rude": rude, "--http": http})
            return _run(_replayed(replay))
        if http:
            _refuse_together("--http", {"--rude": rude})
        read = _read(script) if script else None
        play = Play(read, version=version, without=without, auth=auth, rude=rude)
        return _serve(play, http) if http else _run(play)
    except OSError as error:
        if error.filename is None:
            raise
        sys.stderr.write(f"acp-bindings play: {error.filename}: {error.strerror}\n")
        return 2
    except ValueError as error:
        sys.stderr.write(f"acp-bindings play: {error}\n")
        return 2
    except KeyboardInterrupt:
        return 130


def _run(agent: Play | Replay) -> int:
    if sys.stdin and sys.stdin.isatty():
        sys.stderr.write("This is an agent: a client starts it. Press Ctrl-D to end.\n")
    return agent.run()


def _refuse_together(option: str, others: dict[str, Any]) -> None:
    if given := [name for name, value in others.items() if value]:
        raise ValueError(f"{option} cannot be combined with {', '.join(given)}")


def _read(path: str) -> Script:
    try:
        return Script.read(path)
    except ScriptError as error:
        try:
            _replayed(path)
        except ValueError:
            raise error from None
        raise ValueError(f"{path} is a recording; use --replay {path}") from None


def _replayed(path: str) -> Replay:
    with open(path, "rb") as recording:
        try:
            return Replay(recording)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def _serve(play: Play, address: str) -> int:
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise ValueError(f'--http needs a host and a port, such as 127.0.0.1:8000, not "{address}"')
    try:
        play.agent.asgi().run(host.strip("[]") or "127.0.0.1", int(port))
    except ImportError as error:
        raise ValueError(f"--http needs {error.name}: pip install 'acp-bindings[remote]'") from None
    except SystemExit:
        return 2  # uvicorn has logged why it cannot listen
    return 0


def _show(name: str, version: int | None) -> int:
    if (scene := SCENES.get(name)) is None:
        raise ValueError(f"unknown scene {name!r}; choose from {', '.join(SCENES)}")
    version = version or scene.versions[0]
    if version not in scene.versions:
        raise ValueError(f"v{version} does not have the scene {name}")
    steps = [{"version": version}, {"prompt": None}, *scene.steps(version)]
    sys.stdout.write("".join(f"{json.dumps(each)}\n" for each in steps))
    return 0

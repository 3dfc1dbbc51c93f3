"""Runs `acp-bindings play`."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from typing import Any

from acp_bindings.play import SCENES, Play, Replay, Script


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
            return _show(show, version or 1)
        if replay:
            return _replayed(replay).run()
        read = Script.read(script) if script else None
        play = Play(read, version=version, without=without, auth=auth, rude=rude)
        return _serve(play, http) if http else play.run()
    except OSError as error:
        sys.stderr.write(f"acp-bindings play: {error.filename}: {error.strerror}\n")
        return 2
    except ValueError as error:
        sys.stderr.write(f"acp-bindings play: {error}\n")
        return 2
    except KeyboardInterrupt:
        return 130


def _replayed(path: str) -> Replay:
    with open(path, "rb") as recording:
        try:
            return Replay(recording)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def _serve(play: Play, address: str) -> int:
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        raise ValueError(f'--http needs a host and a port, such as 127.0.0.1:8000, not "{address}"')
    play.agent.asgi().run(host, int(port))
    return 0


def _show(name: str, version: int) -> int:
    if (scene := SCENES.get(name)) is None:
        raise ValueError(f"there is no scene {name}; there are {', '.join(SCENES)}")
    steps = [{"version": version}, {"prompt": None}, *scene.steps(version)]
    sys.stdout.write("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in steps))
    return 0

"""Performs the steps of a script or a scene in a session."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, cast

import anyio
from pydantic_core import from_json, to_json

from acp_bindings import v1
from acp_bindings._envelope import Line
from acp_bindings._json import members_of
from acp_bindings._to_v1 import to_v1
from acp_bindings.agent import Session, Turn
from acp_bindings.agent._session import StopReason
from acp_bindings.connection import ConnectionClosed, RequestFailed, TimedOut
from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError
from acp_bindings.jsonrpc import INTERNAL_ERROR
from acp_bindings.play._rude import EXIT
from acp_bindings.play._script import Step, as_text, checked, filled, fits, looked_up
from acp_bindings.setup import InvalidParams, RequestError

_FILE = "acp-bindings-play.txt"
_HELLO = ["-c", "print('Hello from the terminal')"]
_BY_USER = frozenset({"elicitation/create", "session/request_permission"})
"""The requests that the user answers. In v2 the state shows that the turn waits."""


class Performance:
    """The steps of a turn, or of the opening of a session, with the values that they use."""

    def __init__(
        self,
        session: Session,
        turn: Turn | None,
        *,
        arguments: str,
        raw: bool,
        name: str,
        failed: Callable[[str], object],
        until: Callable[[str, str], Awaitable[object]],
    ) -> None:
        """Prepare to perform in *session*.

        Args:
            session: the session.
            turn: the turn; None while the session is being opened.
            arguments: the text after the slash command.
            raw: True if the connection has lines, which can be written as they are.
            name: the name of the script, for errors.
            until: waits until the client has sent a request, given by its method, for a session.
            failed: called with each expectation that the client has not met.
        """
        self._session = session
        self._turn: Any = turn
        self._has_lines = raw
        self._name = name
        self._failed = failed
        self._until = until
        self._names: dict[str, Any] = {
            "arguments": arguments,
            "cwd": session.cwd,
            "path": os.path.join(session.cwd, arguments or _FILE),
            "prompt": turn.text if turn else "",
            "session": session.id,
            "turn": session.data.get("turns", 0),
        }

    def _look_up(self, path: str) -> Any:
        if path in ("args", "command") and path not in self._names:
            command, *args = words_of(self._names["arguments"]) or [sys.executable, *_HELLO]
            self._names |= {"args": args, "command": command}
        return looked_up(self._names, path)

    async def perform(self, steps: Iterable[Step]) -> StopReason | None:
        """Perform *steps*, and return the stop reason if one of them has it.

        Raises:
            RequestError: a step of the kind `error`, or the client has not met an expectation.
            ValueError: the arguments of a slash command do not fit.
        """
        for step in steps:
            if any(not _is_one_of(self._look_up(path), wanted) for path, wanted in step.condition.items()):
                continue
            try:
                for _ in range(checked("times", filled(step.times, self._look_up))):
                    value: Any = filled(step.value, self._look_up)
                    value = checked(step.kind, as_text(value) if isinstance(step.value, str) else value)
                    if step.kind == "stop":
                        return cast("StopReason", value)
                    if step.kind == "needs" and not self._session.client.supports(value):
                        await self._turn.say(f"Left out, because the client has not advertised {value}.\n")
                        return None
                    await self._do(step, value)
            except ValueError as error:
                if not step.line:
                    raise
                raise InvalidParams(f"line {step.line}: {step.kind}: {error}") from None
        return None

    async def _do(self, step: Step, value: Any) -> None:  # noqa: PLR0912 - a case for each kind of step
        session = self._session
        match step.kind:
            case "say":
                await self._turn.say(value)
            case "think":
                await self._turn.think(value)
            case "update":
                await self._update(value)
            case "request":
                await self._request(step, value)
            case "notify":
                params = value.get("params")
                if not value["method"].startswith("_"):
                    params = decode(self._type(value["method"], "notification"), self._params(value))
                await session.connection.notify(params, method=value["method"])
            case "mode":
                await session.set_mode(value)
            case "option":
                for id_, chosen in value.items():
                    await session.set_option(id_, chosen)
            case "title":
                await session.set_title(value)
            case "wait":
                await (anyio.sleep_forever() if value is None else anyio.sleep(value))
            case "until":
                await self._until(session.id, value)
            case "error":
                raise RequestError(value["code"], value["message"], data=value.get("data"))
            case "raw":
                await self._raw(value.encode())
            case "stderr":
                sys.stderr.write(f"{value}\n")
                sys.stderr.flush()
            case "exit":
                await self._raw(EXIT + str(value).encode())
                await anyio.sleep_forever()
            case _:
                pass

    async def _raw(self, text: bytes) -> None:
        if not self._has_lines:
            raise RequestError(INTERNAL_ERROR, "raw and exit are only possible over standard streams")
        line: Any = Line(text + b"\n")
        await self._session.connection.notify(line)

    async def _update(self, value: dict[str, Any]) -> None:
        package: Any = self._session.connection.protocol
        update = decode(package.SessionUpdate, to_json(value))
        if self._turn is None:
            await self._session.show(update)
        elif self._session.client.version == 1:
            await self._turn.send(update)
        else:
            # The history has updates of v1.
            kept = encode(to_v1(update))
            with suppress(DecodeError):
                decode(v1.SessionUpdate, kept)
                self._session.keep(kept)
            await self._session.show(update)

    async def _request(self, step: Step, value: dict[str, Any]) -> None:
        method, params = value["method"], value.get("params")
        if not method.startswith("_"):
            params = decode(self._type(method, "request"), self._params(value))
        send = self._session.ask_user if method in _BY_USER else self._session.request
        result: Any
        try:
            # Also after a cancellation, the client has to respond as expected.
            with anyio.fail_after(step.timeout, shield=step.expect is not None):
                result = from_json(encode(await send(params, method=method)))
        except TimeoutError:
            result = {"timeout": step.timeout}
        except (RequestFailed, TimedOut) as error:
            result = {"error": {"code": getattr(error, "code", 0), "message": getattr(error, "message", str(error))}}
        except ConnectionClosed:
            if step.expect is None:
                raise
            result = ...
        if step.result:
            self._names[step.result] = result
        expected = filled(step.expect, self._look_up)
        problem = ""
        if expected is not None and not fits(expected, result):
            got = "no response" if result is ... else to_json(result).decode()
            problem = f"{method}: expected {to_json(expected).decode()}, got {got}"
            self._failed(f"{self._name}:{step.line}: {problem}")
        await anyio.lowlevel.checkpoint_if_cancelled()  # the shield may have delayed it
        if problem:
            raise RequestError(INTERNAL_ERROR, f"line {step.line}: {problem}")

    def _type(self, method: str, kind: str) -> Any:
        protocol: Any = self._session.connection.protocol
        return getattr(protocol.METHODS[method], kind).params

    def _params(self, value: dict[str, Any]) -> bytes:
        params = members_of(value.get("params"))
        is_of_session = value["method"] != "elicitation/complete" and "requestId" not in params
        return to_json({"sessionId": self._session.id, **params} if is_of_session else params)


def words_of(arguments: str, *, escape: str = "" if os.name == "nt" else "\\") -> list[str]:
    """Return the words of a command line without their quotes. On Windows a backslash separates folders.

    Raises:
        ValueError: a quotation has no end.
    """
    lexer = shlex.shlex(arguments, posix=True)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", escape
    try:
        return [*lexer]
    except ValueError as error:
        raise ValueError(f"cannot be split: {error}") from None


def _is_one_of(value: Any, wanted: Any) -> bool:
    return value in wanted if isinstance(wanted, list) else value == wanted

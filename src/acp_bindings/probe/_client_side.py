"""The client side of the probe: what it answers to the requests of the agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias

from acp_bindings._condition import Condition
from acp_bindings._json import members_of
from acp_bindings.probe._probed_agent import Message

Policy: TypeAlias = Literal["allow", "reject", "cancel", "error", "wait"]
"""The answer to a permission request. `wait` leaves it open until `Client.release` is called."""

_KINDS = {"allow": "allow_once allow_always", "reject": "reject_once reject_always"}


class Client:
    """Answers requests. It runs no command and writes no file: both are only pretended."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.policy: Policy = "allow"
        self.refuses = False
        """True to answer each request for a file or a terminal with an error."""
        self._written: dict[str, str] = {}
        self._terminals = 0
        self._released = Condition()

    def release(self) -> None:
        """Answer the permission requests that are open with `cancelled`."""
        self._released.notify_all()

    async def serve(self, request: Message) -> Message | None:
        """Return the `result` or the `error` for a request of the agent."""
        method, params = request["method"], members_of(request.get("params"))
        if method == "session/request_permission":
            return await self._permission(params)
        if method not in _SERVED:
            return _error(-32601, "Method not found")
        if self.refuses:
            return _error(-32603, "The probe refuses this on purpose")
        if method == "fs/read_text_file":
            return self._read(params)
        if method == "fs/write_text_file":
            self._written[str(params.get("path"))] = str(params.get("content"))
        if method == "terminal/create":
            self._terminals += 1
            return {"result": {"terminalId": f"term_{self._terminals}"}}
        return {"result": _SERVED[method]}

    async def _permission(self, params: Message) -> Message | None:
        policy = self.policy
        if policy == "error":
            return _error(-32603, "The probe answers with an error on purpose")
        if policy == "wait":
            await self._released.wait()
        options: list[Any] = params.get("options") or []
        kinds = _KINDS.get(policy, "").split()
        chosen = next((each["optionId"] for kind in kinds for each in options if each.get("kind") == kind), None)
        if chosen is None:
            return {"result": {"outcome": {"outcome": "cancelled"}}}
        return {"result": {"outcome": {"outcome": "selected", "optionId": chosen}}}

    def _read(self, params: Message) -> Message:
        path = str(params.get("path"))
        text = self._written.get(path)
        if text is None:
            file = Path(path)
            if not (file.is_relative_to(self.cwd) and file.is_file()):
                return _error(-32002, "Resource not found")
            text = file.read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines(keepends=True)
        first = max(int(params.get("line") or 1), 1) - 1
        limit = params.get("limit")
        return {"result": {"content": "".join(lines[first : None if limit is None else first + int(limit)])}}


_SERVED: dict[Any, Message] = {
    "fs/read_text_file": {},
    "fs/write_text_file": {},
    "terminal/create": {},
    "terminal/output": {"output": "", "truncated": False, "exitStatus": {"exitCode": 0}},
    "terminal/wait_for_exit": {"exitCode": 0},
    "terminal/kill": {},
    "terminal/release": {},
}
"""The methods that are served, with the results that are always the same."""


def _error(code: int, message: str) -> Message:
    return {"error": {"code": code, "message": message}}

"""An agent for v1 and v2 that does everything right, except what its argument names: `python agent.py CHECK`.

It is written without this package, in plain JSON, so that a mistake of the package cannot hide in both.
"""

# pyright: basic

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from queue import Queue

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` takes a tenth of the time of a short conversation
    from typing import Any, TypeAlias

    Json: TypeAlias = dict[str, Any]

BROKEN = sys.argv[1] if len(sys.argv) > 1 else ""
"""The id of the check that must notice, and a slash and a variant if there are several."""

TOOL = {"toolCallId": "call-1", "title": "Write a file", "kind": "edit", "status": "pending"}
REQUIRED = {
    "session/prompt": {"sessionId", "prompt"},
    "session/set_mode": {"sessionId", "modeId"},
    "session/set_config_option": {"sessionId", "configId", "value"},
}
"""The required fields of some params."""
OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def broken(*names: str) -> bool:
    """Return True if this is to be done wrong."""
    return BROKEN in names


class RpcError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Mcp:
    """A client of one MCP server: it initializes the server and lists its tools."""

    def __init__(self, entry: Json) -> None:
        self.entry = entry
        self.kind = entry.get("type", "stdio")
        self.process: Any = None
        self.stream: Any = None
        self.next_id = 0
        if self.kind == "stdio":
            env = os.environ | {each["name"]: each["value"] for each in entry["env"]}
            args = entry["args"]
            if broken("servers.stdio-environment"):
                env = dict(os.environ)
            if broken("servers.stdio-environment/args"):
                args = [word for each in args for word in each.split()]
            is_apart = broken("ending.killed/server")
            self.process = subprocess.Popen(
                [entry["command"], *args],
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=is_apart,
            )
            if is_apart:
                # In a session of its own too, and it keeps the input of the server open.
                held = self.process.stdin.fileno()
                subprocess.Popen(["sleep", "8"], stdin=subprocess.DEVNULL, pass_fds=[held], start_new_session=True)
            if broken("ending.killed"):
                # A child that does not notice the end of the agent, which stops it only on SIGTERM.
                child = subprocess.Popen(["sleep", "20"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                signal.signal(signal.SIGTERM, lambda *_: (child.kill(), os._exit(0)))
        elif self.kind == "sse":
            self.connect()
        if broken("servers.stdio/uninitialized") or (
            self.kind != "stdio" and broken(f"servers.{self.kind}/uninitialized")
        ):
            return
        self.request(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
        )
        if not broken("servers.listed"):
            self.request("tools/list", {})

    def headers(self) -> Json:
        own = (
            {}
            if broken(f"servers.{self.kind}-headers")
            or (broken(f"servers.{self.kind}-headers/later") and self.next_id > 1)
            else {each["name"]: each["value"] for each in self.entry["headers"]}
        )
        return {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **own}

    def connect(self) -> None:
        from http.client import HTTPConnection
        from urllib.parse import urlsplit

        url = urlsplit(self.entry["url"])
        connection = HTTPConnection(url.hostname, url.port)
        connection.request("GET", url.path, headers=self.headers())
        self.stream = connection.getresponse()
        self.connection = connection
        self.path = self.event()

    def event(self) -> str:
        while not (line := self.stream.readline().decode().strip()).startswith("data:"):
            pass
        self.stream.readline()
        return line.removeprefix("data:").strip()

    def request(self, method: str, params: Json) -> Json:
        self.next_id += 1
        text = json.dumps({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
        if self.process:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        from http.client import HTTPConnection
        from urllib.parse import urlsplit

        url = urlsplit(self.entry["url"])
        connection = HTTPConnection(url.hostname, url.port)
        connection.request("POST", self.path if self.stream else url.path, text, self.headers())
        response = connection.getresponse()
        if self.stream:
            response.read()
            return json.loads(self.event())
        return json.loads(response.read())

    def close(self) -> None:
        if self.process and not broken("ending.children"):
            self.process.stdin.close()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.kill()


class Turn:
    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.is_inserted = False


class Session:
    def __init__(self, agent: Agent, params: Json, number: int) -> None:
        self.id = "sess-0" if broken("sessions.unique") else f"sess-{number}"
        self.agent = agent
        self.cwd = params["cwd"]
        self.history: list[Json] = []
        self.turns: list[Turn] = []
        self.mode = "ask"
        self.model = "small"
        self.lock = threading.Lock()
        self.is_open = True
        self.is_listed = True
        self.stale_cancel = False
        self.messages = 0
        self.params = params
        self.servers = [] if broken("allowed.only-server-tools/late") else self.connect(params)

    def connect(self, params: Json) -> list[Mcp]:
        found: list[Mcp] = []
        for entry in params.get("mcpServers") or []:
            kind = entry.get("type", "stdio")
            if kind not in ("stdio", "http", "sse"):
                if not broken("servers.unadvertised"):
                    code = -32603 if broken("servers.unadvertised/code") else -32602
                    raise RpcError(code, "unknown transport")
                continue
            if broken(f"servers.{kind}"):
                continue
            try:
                found.append(Mcp(entry))
            except (OSError, ValueError) as error:
                print(f"{entry['name']}: {error}", file=sys.stderr)
                if broken("servers.broken"):
                    break
                if broken("servers.broken/refused"):
                    raise RpcError(-32603, "a server is broken") from None
        return found

    def update(self, update: Json, *, is_replay: bool = False, session_id: str = "") -> None:
        if not is_replay and update["sessionUpdate"].startswith(("agent_message", "user_message")):
            self.history.append(update)
        self.agent.notify("session/update", {"sessionId": session_id or self.id, "update": update})

    def say(self, text: str) -> None:
        session_id = ""
        if broken("prompts.two-sessions"):
            session_id = [*self.agent.sessions][-1]
        if broken("prompts.two-sessions/other"):
            session_id = next(iter(self.agent.sessions))
        content = {"type": "text", "text": text}
        if broken("conversation.schema"):
            content = {"type": "text"}
        form = {} if self.agent.version == 1 else {"messageId": f"agent-{self.messages}"}
        self.update({"sessionUpdate": "agent_message_chunk", **form, "content": content}, session_id=session_id)

    def state(self, state: str, **more: Any) -> None:
        if self.agent.version > 1:
            self.update({"sessionUpdate": "state_update", "state": state, **more})

    def tool(self, first: bool = False, **fields: object) -> None:
        kind = "tool_call" if first and self.agent.version == 1 else "tool_call_update"
        if broken("conversation.path"):
            fields["locations"] = [{"path": "relative.txt"}]
        self.update({"sessionUpdate": kind, **(TOOL if first else {"toolCallId": "call-1"}), **fields})

    def settings(self) -> Json:
        key = "id" if self.agent.version == 1 else "configId"
        options = [{"value": each, "name": each} for each in ("small", "large")]
        if self.agent.version > 1:
            options = [{"groupId": each["value"], "name": each["name"], "options": [each]} for each in options]
        model = "huge" if broken("sessions.config-options/current") else self.model
        option = {key: "model", "name": "Model", "type": "select", "currentValue": model, "options": options}
        modes = [{"id": each, "name": each} for each in ("ask", "code")]
        current = "other" if broken("sessions.modes/current") else self.mode
        if self.agent.version > 1:
            return {"configOptions": [option]}
        return {"configOptions": [option], "modes": {"currentModeId": current, "availableModes": modes}}

    def replay(self) -> None:
        for each in self.history:
            update = dict(each)
            if broken("sessions.load-equal") and each["sessionUpdate"].startswith("agent_message"):
                update["content"] = {"type": "text", "text": "Something else."}
            if broken("sessions.load/empty") or (
                broken("sessions.load-equal/user") and "user" in each["sessionUpdate"]
            ):
                if broken("sessions.load/empty"):
                    return
                content = {"type": "text", "text": "Another prompt."}
                update["content"] = content if self.agent.version == 1 else [content]
            self.update(update, is_replay=True)

    def prompt(self, turn: Turn, request: Json) -> None:
        """Run a turn; two turns of one session run one after the other."""
        with self.lock:
            try:
                reason = self.run(turn, request)
            except RpcError as error:
                if self.agent.version == 1 or not turn.is_inserted:
                    self.agent.fail(request["id"], error)
                else:
                    self.state("idle", stopReason="error", error={"code": error.code, "message": str(error)})
                return
            finally:
                self.turns.remove(turn)
        if broken("prompts.turn"):
            reason = "finished"
        if broken("prompts.turn/cancelled"):
            reason = "cancelled"
        if reason == "cancelled" and broken("prompts.cancel/error"):
            if self.agent.version == 1:
                self.agent.fail(request["id"], RpcError(-32603, "aborted"))
                return
            reason = "error"
        if broken("sessions.close-in-turn") and reason == "cancelled":
            return
        if reason == "end_turn" and broken("allowed.extensions"):
            reason = "_over_budget"
        late = broken("prompts.late-updates") and not self.messages > 1
        if self.agent.version == 1:
            if not broken("prompts.turn/open"):
                self.agent.answer(request["id"], {"stopReason": reason})
        elif broken("prompts.turn/without-reason"):
            self.state("idle")
        elif not broken("prompts.turn/open"):
            self.state("idle", stopReason=reason)
        if late:
            self.say("One more thing.")

    def run(self, turn: Turn, request: Json) -> str:
        blocks = request["params"]["prompt"]
        text = blocks[0]["text"]
        version = self.agent.version
        self.messages += 1
        for block in blocks:
            names = {"image": "prompts.image", "audio": "prompts.audio", "resource": "prompts.embedded-resource"}
            if broken(names.get(block["type"], "no")) or (
                broken("prompts.turn/link") and block["type"] == "resource_link"
            ):
                raise RpcError(-32602, "unsupported content")
        message_id = f"user-{self.messages}"
        if version == 1:
            self.history.append({"sessionUpdate": "user_message_chunk", "content": blocks[0]})
        else:
            if broken("allowed.cancel-before-insertion") and turn.cancelled.wait(0.2):
                raise RpcError(-32800, "Request cancelled")
            own = "other" if broken("prompts.user-message") else message_id
            if not broken("prompts.user-message/missing"):
                self.update({"sessionUpdate": "user_message", "messageId": own, "content": blocks})
            self.state("running")
            self.agent.answer(request["id"], {"messageId": message_id})
            turn.is_inserted = True
        if broken("allowed.login-in-turn"):
            raise RpcError(-32000, "Authentication required")
        if self.stale_cancel:
            self.stale_cancel = False
            return "cancelled"
        if broken("prompts.cancel-at-once"):
            time.sleep(0.1)
            turn.cancelled.clear()  # it has only begun now
        if "Count" in text:
            return self.count(turn)
        if broken("allowed.only-server-tools", "allowed.only-server-tools/late"):
            self.servers = self.servers or self.connect(self.params)
            if "probe_word" in text and self.servers:
                return self.work(turn)
        elif "probe_word" in text and self.servers:
            self.tool(first=True)
            self.servers[0].request("tools/call", {"name": "probe_word", "arguments": {}})
            self.tool(status="completed")
        elif "probe.txt" in text:
            return self.work(turn)
        time.sleep(0.5 if broken("prompts.two-prompts") else 0.01)
        if broken("prompts.output/unknown"):
            self.update({"sessionUpdate": "agent_mesage_chunk", "content": {"type": "text", "text": "Hello."}})
        elif not broken("prompts.output"):
            self.say("Hello.")
        return "end_turn"

    def count(self, turn: Turn) -> str:
        for number in range(60):
            self.say(f"{number}\n")
            time.sleep(0.02)
            if turn.cancelled.is_set() and not broken("prompts.cancel", "prompts.cancel/deaf"):
                if broken("prompts.after-cancel"):
                    self.stale_cancel = True
                return "end_turn" if broken("prompts.cancel/end-turn") else "cancelled"
        return "end_turn"

    def work(self, turn: Turn) -> str:
        self.tool(first=True)
        if broken("conversation.terminal"):
            self.tool(content=[{"type": "terminal", "terminalId": "none"}])
        if broken("conversation.tool-call"):
            self.update({"sessionUpdate": "tool_call_update", "toolCallId": "none", "status": "completed"})
        if broken("conversation.offer") and self.agent.version == 1:
            self.update({"sessionUpdate": "current_mode_update", "currentModeId": "none"})
        elif broken("conversation.offer"):
            (option,) = self.settings()["configOptions"]
            self.update(
                {"sessionUpdate": "config_option_update", "configOptions": [{**option, "currentValue": "none"}]}
            )
        if broken("conversation.capability"):
            schema = {"type": "object", "properties": {}}
            form = {"mode": "form", "message": "Which?", "requestedSchema": schema}
            self.agent.request("elicitation/create", {"sessionId": self.id, **form})
        outcome = self.ask()
        if turn.cancelled.is_set() and not broken("permission.cancelled"):
            return "cancelled"
        allowed = outcome.get("optionId") == "yes"
        if broken("permission.reject"):
            allowed = allowed or outcome.get("outcome") == "selected"
        if broken("permission.error"):
            allowed = allowed or outcome.get("outcome") == "error"
        if broken("permission.error/open") and outcome.get("outcome") == "error":
            time.sleep(60)
        if broken("permission.reject/error") and not allowed:
            raise RpcError(-32603, "rejected")
        if broken("permission.allow", "conversation.turn") and allowed:
            return "cancelled"
        if allowed and self.agent.version == 1:
            self.use_client()
        self.tool(status="completed" if allowed else "failed")
        self.say("Done.")
        return "end_turn"

    def ask(self) -> Json:
        params = {"sessionId": self.id, "options": [*OPTIONS]}
        if broken("permission.question", "conversation.permission"):
            params["options"] = [OPTIONS[0], {**OPTIONS[1], "optionId": "yes"}]
        if broken("permission.question/kind"):
            params["options"] = [{**OPTIONS[0]}, {**OPTIONS[1], "kind": "never"}]
        if broken("allowed.extensions"):
            params["options"] = [*OPTIONS, {"optionId": "folder", "name": "Allow in x", "kind": "_allow_folder"}]
        if self.agent.version == 1:
            params["toolCall"] = TOOL
        else:
            params |= {"title": "Write?", "subject": {"type": "tool_call", "toolCall": TOOL}}
            if broken("allowed.extensions"):
                params["subject"] = {"type": "_plan"}
            self.state("requires_action")
        result = self.agent.request("session/request_permission", params)
        self.state("running")
        return result.get("outcome", {"outcome": "error"})

    def use_client(self) -> None:
        """Use the files and the terminals of the client, as far as it has them."""
        path = os.path.join(self.cwd, "probe.txt")
        if broken("client-methods.paths"):
            path = "/etc/hostname"
        if broken("client-methods.paths/relative"):
            path = "probe.txt"
        can = self.agent.client
        if can.get("fs", {}).get("readTextFile") or broken("client-methods.unadvertised"):
            read = self.agent.request("fs/read_text_file", {"sessionId": self.id, "path": path})
            if broken("client-methods.refused") and "content" not in read:
                raise RpcError(-32603, "no file")
            if broken("client-methods.refused/open") and "content" not in read:
                time.sleep(60)
        if can.get("terminal"):
            created = self.agent.request("terminal/create", {"sessionId": self.id, "command": "echo", "args": ["done"]})
            if "terminalId" in created:
                params = {"sessionId": self.id, "terminalId": created["terminalId"]}
                self.agent.request("terminal/wait_for_exit", params)
                self.agent.request("terminal/output", params)
                if not broken("client-methods.release"):
                    self.agent.request("terminal/release", params)

    def cancel(self) -> None:
        if not self.turns and broken("prompts.cancel-idle"):
            self.stale_cancel = True
        if broken("prompts.cancel-twice") and self.turns and self.turns[0].cancelled.is_set():
            os._exit(3)
        for each in self.turns:
            each.cancelled.set()

    def close(self) -> None:
        self.cancel()
        while self.turns:
            time.sleep(0.005)
        self.is_open = broken("sessions.close")
        for each in self.servers:
            each.close()
        self.servers = []


class Agent:
    def __init__(self) -> None:
        self.version = 0
        self.client: Json = {}
        self.sessions: dict[str, Session] = {}
        self.writing = threading.Lock()
        self.waiting: dict[str, Queue[Json]] = {}
        self.count = 0
        self.created = 0
        self.is_stuck = False

    # Lines

    def write(self, message: object) -> None:
        text = json.dumps(message)
        if broken("conversation.stdout") and "session/update" in text:
            text = f"sending\n{text}"
        with self.writing:
            sys.stdout.buffer.write(text.encode() + b"\n")
            sys.stdout.buffer.flush()

    def answer(self, id: object, result: object) -> None:  # noqa: A002
        if broken("messages.ids") and not isinstance(id, int):
            id = str(id).encode("ascii", "replace").decode()  # noqa: A001
        if broken("messages.ids/type") and isinstance(id, int):
            id = str(id)  # noqa: A001
        if broken("messages.ids/zero") and id in (0, ""):
            return
        self.write({"jsonrpc": "2.0", "id": id, "result": result})

    def fail(self, id: object, error: RpcError) -> None:  # noqa: A002
        if broken("messages.ids") and not isinstance(id, int):
            id = str(id).encode("ascii", "replace").decode()  # noqa: A001
        if broken("messages.ids/type") and isinstance(id, int):
            id = float(id)  # noqa: A001
        if broken("messages.ids/zero") and id in (0, ""):
            return
        self.write({"jsonrpc": "2.0", "id": id, "error": {"code": error.code, "message": str(error)}})

    def notify(self, method: str, params: Json) -> None:
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: Json) -> Json:
        self.count += 1
        own = f"agent-{self.count}"
        answer: Queue[Json] = Queue()
        self.waiting[own] = answer
        self.write({"jsonrpc": "2.0", "id": own, "method": method, "params": params})
        return answer.get()

    def serve(self) -> None:
        limit = 65536 if broken("messages.huge-line") else -1
        if broken("messages.split-line"):
            os.set_blocking(0, True)
            lines = iter(lambda: os.read(0, 1 << 22), b"")
        else:
            lines = iter(lambda: sys.stdin.buffer.readline(limit), b"")
        for line in lines:
            parts = line.splitlines() if broken("messages.split-line") else [line]
            for part in parts:
                self.take(part)
        if broken("ending.stdin") or (broken("ending.in-turn") and any(s.turns for s in self.sessions.values())):
            time.sleep(60)
        for session in self.sessions.values():
            session.cancel()
            for server in session.servers:
                server.close()
        if broken("ending.children/sleep"):
            subprocess.Popen(
                ["sleep", "20"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        sys.stdout.flush()
        os._exit(1 if broken("ending.stdin/status") else 0)

    def take(self, line: bytes) -> None:
        if not line.strip():
            if broken("messages.empty-line"):
                os._exit(1)
            return
        if broken("messages.crlf") and line.endswith(b"\r\n"):
            return
        try:
            message = json.loads(line)
        except ValueError:
            if broken("messages.malformed"):
                os._exit(1)
            if not broken("messages.malformed/silent"):
                code = -32603 if broken("messages.malformed/code") else -32700
                self.fail("wrong-1" if broken("allowed.id-of-a-wrong-line") else None, RpcError(code, "Parse error"))
            return
        if isinstance(message, list):
            if broken("messages.batch"):
                os._exit(1)
            if broken("allowed.batch"):
                error = {"code": -32601, "message": "Method not found"}
                self.write([{"jsonrpc": "2.0", "id": each["id"], "error": error} for each in message])
            elif not broken("messages.batch/silent"):
                self.fail(None, RpcError(-32600, "no batches"))
            return
        if not isinstance(message, dict) or not message:
            if broken("messages.not-a-message"):
                os._exit(1)
            if not broken("messages.not-a-message/silent"):
                self.fail(None, RpcError(-32600, "Invalid request"))
            return
        if "method" not in message:
            waiting = self.waiting.pop(str(message.get("id")), None)
            if waiting is None and broken("messages.unasked-response"):
                os._exit(1)
            if waiting is None and broken("messages.unasked-response/answer"):
                self.fail(message["id"], RpcError(-32600, "not asked"))
            if waiting:
                waiting.put(message.get("result") or {})
            return
        if (
            broken("messages.unknown-fields")
            and "probeField" in (message.get("params") or {})
            and message["method"] != "initialize"
        ):
            self.fail(message.get("id"), RpcError(-32602, "unknown field"))
            return
        if "id" in message:
            self.serve_request(message)
        else:
            self.serve_notification(message)

    def serve_notification(self, message: Json) -> None:
        if message["method"] == "session/cancel":
            session = self.sessions.get(message["params"]["sessionId"])
            if session:
                session.cancel()
            elif broken("messages.unknown-notification/cancel"):
                os._exit(1)
        elif broken("messages.unknown-notification"):
            self.fail(None, RpcError(-32601, "Method not found"))

    open_ids: set[Any] = set()  # noqa: RUF012

    def serve_request(self, message: Json) -> None:
        if broken("messages.duplicate-id") and message["id"] in self.open_ids and message["id"] == "same":
            os._exit(1)
        self.open_ids.add(message["id"])
        try:
            result: Any = self.handle(message)
        except RpcError as error:
            self.fail(message["id"], error)
        else:
            if result is not None:
                self.answer(message["id"], result)

    # Methods

    def handle(self, message: Json) -> Json | None:
        method: str = message["method"]
        params: Any = message.get("params")
        names = METHODS_1 if self.version < 2 else METHODS_2
        if method == "initialize":
            return self.initialize(params)
        if method not in names:
            return self.unknown(method)
        if self.version == 0 and broken("negotiation.before-initialize"):
            os._exit(1)
        early = ("negotiation.before-initialize/works", "allowed.session-before-initialize")
        if self.version == 0 and not broken(*early):
            raise RpcError(-32600, "not initialized")
        if not isinstance(params, dict):
            if broken("messages.invalid-params/code"):
                raise RpcError(-32603, "Internal error")
            if not broken("messages.invalid-params"):
                raise RpcError(-32602, "Invalid params")
            params = {"cwd": "/", "mcpServers": []}
        if not REQUIRED.get(method, set()) <= params.keys() and not broken("sessions.missing-prompt"):
            raise RpcError(-32602, "Invalid params")
        return names[method](self, message, params)

    def unknown(self, method: str) -> Json | None:
        if broken("messages.unknown-method"):
            return {}
        if broken("messages.unknown-method/code"):
            raise RpcError(-32603, "Internal error")
        if broken("messages.unknown-method/silent"):
            return None
        withheld = WITHHELD.get(BROKEN.partition("/")[0])
        if withheld and withheld[1] == method and "/" not in BROKEN:
            raise RpcError(-32603, "Internal error")
        if withheld and withheld[1] == method:
            return {}
        raise RpcError(-32601, f"Method not found: {method}")

    def initialize(self, params: Json) -> Json:
        if self.version and broken("negotiation.initialize-twice"):
            os._exit(1)
        if self.is_stuck or broken("negotiation.initialize"):
            raise RpcError(-32603, "Internal error")
        asked = params.get("protocolVersion")
        if asked == 0 and broken("negotiation.version-zero"):
            return {"protocolVersion": 0}
        if asked == -1 and broken("negotiation.negative-version"):
            return {"protocolVersion": -1}
        if asked == "1.0" and broken("negotiation.text-version"):
            return {"protocolVersion": "1.0"}
        if asked is None and broken("negotiation.missing-version"):
            os._exit(1)
        if asked == 0xFFFF and broken("negotiation.newer-version"):
            return {"protocolVersion": 0xFFFF}
        if asked == 0xFFFF and broken("negotiation.newer-version/refused"):
            raise RpcError(-32602, "unsupported version")
        if type(asked) is not int or not 0 <= asked <= 0xFFFF:
            if broken("negotiation.missing-version/stuck"):
                self.is_stuck = True
            raise RpcError(-32602, "Invalid params")
        if "probeField" in params and broken("negotiation.unknown-fields"):
            raise RpcError(-32602, "unknown field")
        version = min(asked, 2)
        if not version:
            raise RpcError(-32022, "unsupported version")
        if broken("negotiation.initialize/version"):
            version = 3 - version
        self.version = version
        self.client = params.get("clientCapabilities") or {}
        result = self.abilities()
        if "probeField" in params and broken("negotiation.unknown-fields/differs"):
            result["authMethods"] = []
        return result

    def abilities(self) -> Json:
        info = {"name": "correct", "version": "1.0"}
        method = {"name": "No account"}
        yes: object = True if self.version == 1 else {}
        prompt: Json = {"image": yes, "audio": yes, "embeddedContext": yes}
        if self.version == 1:
            mcp = {"http": True, "sse": True}
            names = ("list", "delete", "resume", "close", "additionalDirectories")
            capabilities: Json = {
                "loadSession": True,
                "promptCapabilities": prompt,
                "mcpCapabilities": mcp,
                "sessionCapabilities": {name: {} for name in names},
            }
            result = {"agentCapabilities": capabilities, "agentInfo": info, "authMethods": [{"id": "none", **method}]}
            place = capabilities["sessionCapabilities"]
        else:
            place = {"prompt": prompt, "mcp": {"stdio": {}, "http": {}}, "delete": {}, "additionalDirectories": {}}
            capabilities = {"session": place}
            result = {
                "capabilities": capabilities,
                "info": info,
                "authMethods": [{"methodId": each, "type": "agent", **method} for each in ("none", "other")],
            }
        withheld = WITHHELD.get(BROKEN.partition("/")[0])
        if withheld:
            capabilities.pop(withheld[0], None)
            place.pop(withheld[0], None)
        if broken("negotiation.response"):
            prompt["image"] = "yes"
        if broken("negotiation.info"):
            del result["agentInfo" if self.version == 1 else "info"]
        if broken("auth.methods"):
            result["authMethods"] *= 2
        if broken("conversation.leniency"):
            capabilities["_meta"] = 5
        return {"protocolVersion": self.version, **result}

    def log_in(self, _: Json, params: Json) -> Json:
        if params["methodId"] != "none" and not broken("auth.unknown-method"):
            raise RpcError(-32602, "unknown method")
        return {}

    def new(self, message: Json, params: Json) -> Json | None:
        if broken("auth.required"):
            raise RpcError(-32603, "You must log in first")
        if broken("auth.login"):
            raise RpcError(-32000, "Authentication required")
        self.check_place(params)
        if broken("sessions.new/refused"):
            raise RpcError(-32603, "no sessions today")
        if broken("allowed.no-provider"):
            raise RpcError(-32603, "No LLM provider configured")
        if broken("sessions.new"):
            return {"sessionId": ""}
        if self.version == 1 and "mcpServers" not in params and not broken("sessions.missing-servers"):
            raise RpcError(-32602, "mcpServers is missing")
        if self.version == 2 and "mcpServers" not in params and broken("sessions.omitted-servers"):
            raise RpcError(-32602, "mcpServers is missing")
        if params.get("additionalDirectories") and broken("sessions.additional-directories"):
            raise RpcError(-32602, "additionalDirectories")
        self.created += 1
        session = Session(self, params, self.created)
        self.sessions[session.id] = session
        if broken("allowed.session-before-initialize"):
            session.update({"sessionUpdate": "available_commands_update", "availableCommands": []})
        if broken("conversation.lifecycle"):
            session.say("Before the answer.")
            self.answer(message["id"], {"sessionId": session.id, **session.settings()})
            self.answer(message["id"], {"sessionId": session.id})
            return None
        if broken("allowed.greeting"):
            self.answer(message["id"], {"sessionId": session.id, **session.settings()})
            session.say("Welcome! ")
            return None
        if broken("allowed.relative-cwd"):
            self.answer(message["id"], {"sessionId": session.id, **session.settings()})
            session.update({"sessionUpdate": "available_commands_update", "availableCommands": []})
            return None
        return {"sessionId": session.id, **session.settings()}

    def check_place(self, params: Json) -> None:
        cwd = params.get("cwd")
        if broken("messages.invalid-params"):
            params.update(cwd=str(cwd), mcpServers=[])
            return
        code = -32603 if broken("messages.invalid-params/code") else -32602
        if not isinstance(cwd, str) or not isinstance(params.get("mcpServers", []), list):
            raise RpcError(code, "Invalid params")
        if not os.path.isabs(cwd) and not broken("sessions.relative-cwd", "allowed.relative-cwd"):
            raise RpcError(-32602, "cwd must be absolute")

    def session(self, params: Json, *, stored: bool = False) -> Session:
        session = self.sessions.get(params.get("sessionId", ""))
        if session is None or not (session.is_open or stored):
            raise RpcError(-32002, "no such session")
        return session

    def prompt(self, message: Json, params: Json) -> Json | None:
        if broken("sessions.unknown") and params["sessionId"] not in self.sessions:
            return {"stopReason": "end_turn"} if self.version == 1 else {"messageId": "none"}
        session = self.session(params)
        types = ("text", "resource_link", "image", "audio", "resource")
        if any(each["type"] not in types for each in params["prompt"]) and not broken("prompts.unknown-content"):
            code = -32603 if broken("prompts.unknown-content/code") else -32602
            raise RpcError(code, "unknown content")
        if broken("prompts.two-prompts") and session.turns:
            return None
        if broken("prompts.unknown-content") and "text" not in params["prompt"][0]:
            return {"messageId": "none"}
        turn = Turn()
        session.turns.append(turn)
        if broken("prompts.cancel/deaf"):
            session.prompt(turn, message)  # it reads nothing meanwhile
            return None
        threading.Thread(target=session.prompt, args=(turn, message), daemon=True).start()
        return None

    def load(self, message: Json, params: Json) -> Json | None:
        if broken("sessions.load-unknown") and params["sessionId"] not in self.sessions:
            return {}
        self.check_place(params)
        session = self.session(params, stored=True)
        if broken("sessions.load") or (broken("allowed.load") and session.is_open):
            raise RpcError(-32603, "cannot load")
        session.is_open = not broken("sessions.resume/unusable")
        session.servers = session.connect(params)
        replays = self.version == 1 or params.get("replayFrom")
        is_late = broken("sessions.load/late")
        if replays and not is_late:
            session.replay()
        if message["method"] == "session/resume" and broken("sessions.resume") and not replays:
            session.replay()
        if message["method"] == "session/resume" and broken("sessions.resume/refused") and not replays:
            raise RpcError(-32603, "cannot resume")
        if not (broken("sessions.resume/state") and not replays):
            session.state("idle")
        self.answer(message["id"], session.settings())
        if replays and is_late:
            session.replay()
        return None

    def resume(self, message: Json, params: Json) -> Json | None:
        if self.version > 1:
            return self.load(message, params)
        self.check_place(params)
        session = self.session(params, stored=True)
        if broken("sessions.resume/refused"):
            raise RpcError(-32603, "cannot resume")
        session.is_open = not broken("sessions.resume/unusable")
        session.servers = session.connect(params)
        if broken("sessions.resume"):
            session.replay()
        return session.settings()

    def list_all(self, _: Json, params: Json) -> Json:
        cwd = None if broken("sessions.list-by-cwd") else params.get("cwd")
        found = [each for each in self.sessions.values() if cwd in (None, each.cwd) and each.is_listed]
        if broken("sessions.list"):
            found = []
        if broken("sessions.list/twice"):
            found *= 2
        if broken("sessions.list-by-cwd/none") and params.get("cwd"):
            found = []
        relative = broken("sessions.list/relative")
        sessions = [{"sessionId": each.id, "cwd": "here" if relative else each.cwd} for each in reversed(found)]
        start = int(params.get("cursor", 0))
        page: Json = {"sessions": sessions[start : start + 2]}
        return page if start + 2 >= len(sessions) else {**page, "nextCursor": str(start + 2)}

    def close(self, _: Json, params: Json) -> Json:
        if broken("sessions.close/refused"):
            raise RpcError(-32603, "cannot close")
        session = self.session(params)
        session.close()
        return {}

    def delete(self, _: Json, params: Json) -> Json:
        session = self.session(params, stored=True)
        if broken("allowed.delete") and session.is_open:
            raise RpcError(-32603, "close it first")
        session.close()
        session.is_listed = not broken("allowed.delete")
        if not broken("sessions.delete", "allowed.delete"):
            del self.sessions[session.id]
        return {}

    def set_mode(self, _: Json, params: Json) -> Json:
        if params["modeId"] not in ("ask", "code") and not broken("sessions.modes"):
            raise RpcError(-32602, "unknown mode")
        if broken("sessions.modes/refused"):
            raise RpcError(-32603, "cannot set")
        self.session(params).mode = params["modeId"]
        return {}

    def set_option(self, _: Json, params: Json) -> Json:
        session = self.session(params)
        if params["configId"] != "model" and not broken("sessions.config-unknown"):
            raise RpcError(-32602, "unknown option")
        if params["value"] not in ("small", "large") and not broken("sessions.config-unknown/value"):
            raise RpcError(-32602, "unknown value")
        if not broken("sessions.config-options"):
            session.model = params["value"]
        return {"configOptions": session.settings()["configOptions"]}

    def log_out(self, _: Json, __: Json) -> Json:
        return {}


WITHHELD = {
    "capabilities.load-unadvertised": ("loadSession", "session/load"),
    "capabilities.list-unadvertised": ("list", "session/list"),
    "capabilities.resume-unadvertised": ("resume", "session/resume"),
    "capabilities.close-unadvertised": ("close", "session/close"),
    "capabilities.delete-unadvertised": ("delete", "session/delete"),
    "capabilities.logout-unadvertised": ("logout", "logout"),
}
"""What is not advertised, and its method. The method answers with another error than it should, or works."""

METHODS_2: dict[str, Any] = {
    "auth/login": Agent.log_in,
    "auth/logout": Agent.log_out,
    "session/new": Agent.new,
    "session/prompt": Agent.prompt,
    "session/resume": Agent.resume,
    "session/list": Agent.list_all,
    "session/close": Agent.close,
    "session/delete": Agent.delete,
    "session/set_config_option": Agent.set_option,
}
METHODS_1: dict[str, Any] = {
    **{name: of for name, of in METHODS_2.items() if not name.startswith("auth/")},
    "authenticate": Agent.log_in,
    "session/load": Agent.load,
    "session/set_mode": Agent.set_mode,
}
if withheld := WITHHELD.get(BROKEN.partition("/")[0]):
    METHODS_1.pop(withheld[1], None)
    METHODS_2.pop(withheld[1], None)


def main() -> None:
    """Serve the client of this process."""
    if broken("ending.sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Agent().serve()

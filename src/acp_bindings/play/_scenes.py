"""The scenes: for each slash command, the steps that show a part of the protocol in v1 and in v2.

Together they have every update, content block, kind and status of tool calls, and every request to the client.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from acp_bindings._from_v1 import commands_from_v1
from acp_bindings.play._script import Step, step_of

Json: TypeAlias = dict[str, Any]
Make: TypeAlias = Callable[[int], Iterable[Json]]

_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
_WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
_KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")


@dataclass(frozen=True)
class Scene:
    """A slash command and its steps."""

    name: str
    description: str
    make: Make
    hint: str | None = None
    default: str = ""
    """The arguments if there are none."""
    versions: tuple[int, ...] = (1, 2)
    """The versions of the protocol that have it."""
    in_tour: bool = True
    """True if `/everything` performs it."""

    def steps(self, version: int) -> tuple[Json, ...]:
        """Return the steps in a version of the protocol, as a script has them."""
        return tuple(self.make(version))

    def read(self, version: int) -> tuple[Step, ...]:
        """Return the steps in a version of the protocol."""
        return tuple(map(step_of, self.steps(version)))


def _update(kind: str, /, **fields: Any) -> Json:
    return {"update": {"sessionUpdate": kind, **fields}}


def _request(method: str, params: Json, **more: Any) -> Json:
    return {"request": {"method": method, "params": params}, **more}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _blocks(version: int, *blocks: Json) -> Iterable[Json]:
    """Return a message with content blocks."""
    of_message = {"messageId": f"blocks-${{turn}}-{blocks[0]['type']}"} if version > 1 else {}
    return [_update("agent_message_chunk", content=each, **of_message) for each in blocks]


_LINK = {
    "type": "resource_link",
    "name": "README.md",
    "uri": "file:///project/README.md",
    "title": "Read me",
    "description": "A link to a file",
    "mimeType": "text/markdown",
    "size": 1024,
}
_ICONS = [
    {"src": f"https://example.com/{each}.png", "mimeType": "image/png", "theme": each} for each in ("light", "dark")
]
_RESOURCES = (
    {
        "type": "resource",
        "resource": {"uri": "file:///project/a.py", "mimeType": "text/x-python", "text": "print(1)\n"},
    },
    {"type": "resource", "resource": {"uri": "file:///project/a.png", "mimeType": "image/png", "blob": _PNG}},
    _LINK,
)
_AUDIENCE = {"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z"}


def _resources(version: int) -> Iterable[Json]:
    icons = {"icons": _ICONS} if version > 1 else {}
    return _blocks(version, *_RESOURCES[:2], {**_LINK, **icons})


def _text_scene(version: int) -> Iterable[Json]:
    yield {"say": "Some text, in two pieces, "}
    yield {"say": "with **Markdown**, `code` and \U0001f600.\n\n"}
    yield {"say": "```python\nprint('Hello')\n```\n"}
    yield from _blocks(version, {**_text("Text with annotations.\n"), "annotations": _AUDIENCE})


def _message(_: int) -> Iterable[Json]:
    for kind in ("user_message", "agent_thought", "agent_message"):
        yield _update(kind, messageId=f"{kind}-${{turn}}", content=[_text("The first text of a message.")])
        yield _update(kind, messageId=f"{kind}-${{turn}}", content=[_text("The text that replaces it.")])


def _call(version: int, id_: str, /, **fields: Any) -> Json:
    """Return the begin of a tool call."""
    return _update("tool_call" if version == 1 else "tool_call_update", toolCallId=f"{id_}-${{turn}}", **fields)


def _called(id_: str, /, **fields: Any) -> Json:
    return _update("tool_call_update", toolCallId=f"{id_}-${{turn}}", **fields)


def _tools(version: int) -> Iterable[Json]:
    for kind in _KINDS:
        yield _call(version, kind, title=f"A tool of the kind {kind}", kind=kind, status="pending")
        yield _called(kind, status="in_progress")
        yield _called(kind, status="completed", content=[{"type": "content", "content": _text(f"{kind}: done")}])
    yield _call(
        version,
        "details",
        title="A tool with all details",
        name="details",
        kind="edit",
        status="in_progress",
        locations=[{"path": "${cwd}/a.py", "line": 3}, {"path": "${cwd}/b.py"}],
        rawInput={"path": "a.py"},
    )
    contents = [_text("Text"), {"type": "image", "data": _PNG, "mimeType": "image/png"}]
    contents += [{"type": "audio", "data": _WAV, "mimeType": "audio/wav"}, *_RESOURCES]
    yield _called("details", title="A tool with a new title", content=[_content(each) for each in contents])
    yield _called("details", status="completed", rawOutput={"lines": 2})
    yield _call(version, "failed", title="A tool that fails", kind="execute", status="in_progress")
    yield _called("failed", status="failed", content=[_content(_text("No such file"))])
    if version > 1:
        yield _call(version, "cancelled", title="A tool that is cancelled", kind="fetch", status="paused")
        yield _called("cancelled", status="cancelled")
        yield _call(
            version, "chunks", title="A tool whose content comes in pieces", kind="search", status="in_progress"
        )
        for text in ("One", "Two"):
            piece = _content(_text(text))
            yield _update("tool_call_content_chunk", toolCallId="chunks-${turn}", content=piece)
        yield _called("chunks", status="completed")


def _content(block: Json) -> Json:
    return {"type": "content", "content": block}


_PATCH = """\
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1 +1 @@
-print(1)
+print(2)
"""


def _diff(version: int) -> Iterable[Json]:
    yield _call(version, "diff", title="Edit files", kind="edit", status="in_progress")
    if version == 1:
        changes: list[Json] = [
            {"type": "diff", "path": "${cwd}/a.py", "oldText": "print(1)\n", "newText": "print(2)\n"},
            {"type": "diff", "path": "${cwd}/new.py", "newText": "print(3)\n"},
        ]
    else:
        in_place = ("add", "modify", "delete")
        moved = [{"operation": each, "oldPath": "${cwd}/old.py", "path": f"${{cwd}}/{each}.py"} for each in _MOVES]
        types = ("text", "binary", "directory", "symlink")
        plain: list[Json] = [{"operation": each, "path": f"${{cwd}}/{each}.py"} for each in in_place]
        changed = [{**each, "fileType": type_} for each, type_ in zip([*plain, *moved], (*types, "text"), strict=True)]
        changes = [{"type": "diff", "changes": changed, "patch": {"format": "git_patch", "text": _PATCH}}]
    yield _called("diff", status="completed", content=changes)


_MOVES = ("move", "copy")
_OPTIONS = [
    {"optionId": "allow", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "always", "name": "Allow always", "kind": "allow_always"},
    {"optionId": "reject", "name": "Reject once", "kind": "reject_once"},
    {"optionId": "never", "name": "Reject always", "kind": "reject_always"},
]


def _permission(version: int, *, timeout: float | None = None) -> Iterable[Json]:
    call = {"toolCallId": "permission-${turn}"}
    yield _call(version, "permission", title="Delete everything", kind="delete", status="pending")
    more = {"as": "answer"} | ({"timeout": timeout} if timeout else {})
    if version == 1:
        yield _request("session/request_permission", {"toolCall": call, "options": _OPTIONS}, **more)
    else:
        params: Json = {"title": "Delete everything?", "description": "It cannot be undone.", "options": _OPTIONS}
        subject = {"type": "tool_call", "toolCall": call}
        yield _request("session/request_permission", {**params, "subject": subject}, **more)
    if timeout:
        yield _called("permission", status="failed")
        yield {"say": "The question was withdrawn.\n"}
        return
    allowed = {"answer.outcome.optionId": ["allow", "always"]}
    refused = {"answer.outcome.optionId": ["reject", "never", None]}
    yield {**_called("permission", status="in_progress"), "if": allowed}
    yield {**_called("permission", status="completed"), "if": allowed}
    yield {**_called("permission", status="failed"), "if": refused}
    yield {"say": "The answer: ${answer}\n"}
    if version > 1:
        subject = {"type": "command", "command": "make clean", "cwd": "${cwd}"}
        yield _request("session/request_permission", {"title": "Run it?", "subject": subject, "options": _OPTIONS[:2]})


def _plan(version: int) -> Iterable[Json]:
    statuses = ["pending", "in_progress", "completed"] + (["cancelled"] if version > 1 else [])
    for done in range(len(statuses)):
        entries = [
            {"content": f"Step {index + 1}", "priority": priority, "status": statuses[done]}
            for index, priority in enumerate(("high", "medium", "low"))
        ]
        if version == 1:
            yield _update("plan", entries=entries)
        else:
            yield _update("plan_update", plan={"type": "items", "planId": "plan-${turn}", "entries": entries})


def _commands(version: int) -> Iterable[Json]:
    for extra in ([{"name": "extra", "description": "A command that was added, and does nothing"}], []):
        commands = [*commands_of(SCENES.values()), *extra]
        shown = commands if version == 1 else commands_from_v1(commands)
        yield _update("available_commands_update", availableCommands=shown)
        yield {"say": "The command /extra was added.\n" if extra else "It was removed again.\n"}


def commands_of(scenes: Iterable[Scene]) -> list[Json]:
    """Return the commands of *scenes* as v1 has them."""
    return [
        {"name": each.name, "description": each.description} | ({"input": {"hint": each.hint}} if each.hint else {})
        for each in scenes
    ]


_FORM: Json = {
    "type": "object",
    "title": "A form",
    "description": "It has a property of each type.",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 40, "default": "Ada"},
        "mail": {"type": "string", "title": "Mail", "format": "email"},
        "page": {"type": "string", "title": "Page", "format": "uri"},
        "day": {"type": "string", "title": "Day", "format": "date"},
        "moment": {"type": "string", "title": "Moment", "format": "date-time"},
        "color": {"type": "string", "title": "Color", "enum": ["red", "green"]},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "age": {"type": "integer", "title": "Age", "minimum": 0, "maximum": 150},
        "ratio": {"type": "number", "title": "Ratio", "minimum": 0, "maximum": 1},
        "agree": {"type": "boolean", "title": "Agree", "default": False},
        "tags": {"type": "array", "title": "Tags", "items": {"type": "string", "enum": ["a", "b"]}},
        "titled": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "The X"}]}, "maxItems": 1},
    },
}


def _elicit(_: int) -> Iterable[Json]:
    yield {"needs": "elicitation.form"}
    form = {"mode": "form", "message": "Please fill in this form", "requestedSchema": _FORM}
    yield _request("elicitation/create", form, **{"as": "form"})
    yield {"say": "The answer: ${form}\n"}


def _elicit_url(_: int) -> Iterable[Json]:
    yield {"needs": "elicitation.url"}
    url = {"mode": "url", "message": "Please open this page", "url": "https://example.com/login"}
    yield _request("elicitation/create", {**url, "elicitationId": "elicitation-${turn}"}, **{"as": "page"})
    yield {"notify": {"method": "elicitation/complete", "params": {"elicitationId": "elicitation-${turn}"}}}
    yield {"say": "The answer: ${page}\n"}


_READ: list[Json] = [
    {"needs": "fs.read_text_file"},
    _request("fs/read_text_file", {"path": "${path}"}, **{"as": "file"}),
    _request("fs/read_text_file", {"path": "${path}", "line": 1, "limit": 1}, **{"as": "line"}),
    {"say": "The file: ${file}\nIts first line: ${line}\n"},
]
_WRITE: list[Json] = [
    {"needs": "fs.write_text_file"},
    _request("fs/write_text_file", {"path": "${path}", "content": "Written by acp-bindings play\n"}, **{"as": "file"}),
    {"say": "The answer: ${file}\n"},
]
_OUTPUT = {"data": "SGVsbG8K"}
_TERMINAL_ID = {"terminalId": "${terminal.terminalId}"}
_STARTED = {"terminal.error": None}


def _terminal(version: int) -> Iterable[Json]:
    if version > 1:
        yield from _terminal_of_agent()
        return
    yield {"needs": "terminal"}
    yield _call(1, "terminal", title="Run a command", kind="execute", status="in_progress")
    command: Json = {"command": "${command}", "args": "${args}", "cwd": "${cwd}", "outputByteLimit": 10000}
    command["env"] = [{"name": "ACP_PLAY", "value": "1"}]
    yield _request("terminal/create", command, **{"as": "terminal"})
    embedded = [{"type": "terminal", **_TERMINAL_ID}]
    yield {**_called("terminal", content=embedded), "if": _STARTED}
    yield _request("terminal/wait_for_exit", _TERMINAL_ID, **{"if": _STARTED, "as": "status"})
    yield _request("terminal/output", _TERMINAL_ID, **{"if": _STARTED, "as": "output"})
    yield _called("terminal", status="completed")
    yield _request("terminal/release", _TERMINAL_ID, **{"if": _STARTED})
    yield {"say": "The command has ended: ${status} ${output}\n", "if": _STARTED}
    yield {"say": "The terminal: ${terminal}\n"}


def _kill(_: int) -> Iterable[Json]:
    yield {"needs": "terminal"}
    sleep = {"command": sys.executable, "args": ["-c", "import time; time.sleep(600)"], "cwd": "${cwd}"}
    yield _request("terminal/create", sleep, **{"as": "terminal"})
    for method in ("kill", "wait_for_exit", "output", "release"):
        yield _request(f"terminal/{method}", _TERMINAL_ID, **{"if": _STARTED, "as": method})
    yield {"say": "The command was killed: ${wait_for_exit}\n"}


def _terminal_of_agent() -> Iterable[Json]:
    id_ = {"terminalId": "terminal-${turn}"}
    size = {"cols": 80, "rows": 24}
    yield _update("terminal_update", **id_, command="make test", cwd="${cwd}", size=size)
    yield _call(2, "terminal", title="Run a command", kind="execute", status="in_progress")
    yield _called("terminal", content=[{"type": "terminal", **id_}])
    yield _update("terminal_output_chunk", **id_, **_OUTPUT)
    yield _update("terminal_update", **id_, output=_OUTPUT, exitStatus={"exitCode": 0})
    yield _called("terminal", status="completed")


def _notice(version: int) -> Iterable[Json]:
    if version == 1:
        yield {"needs": "notices"}
    for severity in ("info", "warning", "error"):
        yield _update("notice", severity=severity, title=f"A notice: {severity}", description="With details.")


def _compaction(version: int) -> Iterable[Json]:
    if version == 1:
        yield {"needs": "compaction"}
    for status in ("completed", "failed", "cancelled"):
        id_ = {"compactionId": f"{status}-${{turn}}"}
        yield _update("compaction_update", **id_, status="in_progress")
        if status == "completed":
            yield _update("compaction_summary_chunk", **id_, content=_text("What was said so far."))
        error = {"error": "The model is not available"} if status == "failed" else {}
        yield _update("compaction_update", **id_, status=status, **error)


def _background(_: int) -> Iterable[Json]:
    work = [{"type": "tool_call", "toolCallId": "background-${turn}"}]
    work += [{"type": "terminal", "terminalId": "background-${turn}"}]
    yield _call(2, "background", title="Work in the background", kind="other", status="in_progress")
    yield _update("terminal_update", terminalId="background-${turn}", command="make watch", cwd="${cwd}")
    yield _update("state_update", state="running", background=work)
    yield _called("background", status="completed")
    yield _update("terminal_update", terminalId="background-${turn}", exitStatus={"exitCode": 0})
    yield _update("state_update", state="running", background=[])


_CANCEL: Json = {"capabilities": {"cancel": {}}}


def _cancel(version: int, *, waits: bool = True) -> Iterable[Json]:
    """Return a tool call and a terminal that the client can cancel."""
    for kind in ("tool_call", "terminal"):
        if kind == "tool_call":
            yield _call(version, "cancel", title="A tool call that you can cancel", status="in_progress", **_CANCEL)
            end = _called("cancel", status="cancelled" if waits else "completed", capabilities=None)
        else:
            id_ = {"terminalId": "cancel-${turn}"}
            yield _update("terminal_update", **id_, command="make watch", cwd="${cwd}", **_CANCEL)
            end = _update("terminal_update", **id_, exitStatus={"signal": "SIGTERM"} if waits else {"exitCode": 0})
        if waits:
            yield {"say": f"Send {kind}/cancel.\n"}
            yield {"until": f"{kind}/cancel"}
        yield end


def _fixed(*steps: Json) -> Make:
    return lambda _: steps


def _unknown(version: int) -> Iterable[Json]:
    id_ = {"messageId": "unknown-${turn}"} if version > 1 else {}
    yield _update("agent_message_chunk", content=_text("With unknown fields."), _unknown=1, **id_)
    yield _update("_acme.com/weather", weather="sunny")
    if version > 1:
        yield _update("agent_message_chunk", content={"type": "_acme.com/hologram", "depth": 3}, **id_)


_ALL = (
    Scene("text", "Text in pieces, with Markdown and annotations", _text_scene),
    Scene("thought", "Thoughts", _fixed({"think": "Let me think. "}, {"think": "There it is."}, {"say": "Done.\n"})),
    Scene("image", "An image", lambda v: _blocks(v, {"type": "image", "data": _PNG, "mimeType": "image/png"})),
    Scene("audio", "Audio", lambda v: _blocks(v, {"type": "audio", "data": _WAV, "mimeType": "audio/wav"})),
    Scene("resource", "Embedded resources and a link", _resources),
    Scene("message", "Messages that replace others", _message, versions=(2,)),
    Scene("tool", "Tool calls of each kind, with each status and content", _tools),
    Scene("diff", "A tool call with changes of files", _diff),
    Scene("permission", "A question for permission, with options of each kind", _permission),
    Scene("plan", "A plan, and its progress", _plan),
    Scene("mode", "Another mode, and back", _fixed({"mode": "code"}, {"mode": "ask"})),
    Scene(
        "option",
        "Other values of the config options, and back",
        _fixed(
            {"option": {"model": "large"}},
            {"option": {"model": "small"}},
            {"option": {"effort": "high"}},
            {"option": {"effort": "low"}},
            {"option": {"web": True}},
            {"option": {"web": False}},
        ),
    ),
    Scene("commands", "Another slash command, which is removed again", _commands),
    Scene("elicit", "A form with a property of each type", _elicit),
    Scene("elicit-url", "A page that the user should open", _elicit_url),
    Scene("write", "Write a file of the client", _fixed(*_WRITE), hint="path", versions=(1,)),
    Scene("read", "Read a file of the client", _fixed(*_READ), hint="path", versions=(1,)),
    Scene("terminal", "A terminal: of the client in v1, of the agent in v2", _terminal, hint="command"),
    Scene("kill", "A terminal with a command that is killed", _kill, versions=(1,)),
    Scene(
        "usage",
        "The used tokens and the cost",
        _fixed(
            _update("usage_update", used=1000, size=200000),
            _update("usage_update", used=53000, size=200000, cost={"amount": 0.045, "currency": "USD"}),
        ),
    ),
    Scene("title", "Another title of the session", _fixed({"title": "A new title"})),
    Scene("notice", "A notice of each severity", _notice),
    Scene("compaction", "The compaction of the context, with each end", _compaction),
    Scene("background", "Work in the background", _background, versions=(2,)),
    Scene(
        "cancellable",
        "A tool call and a terminal that could be cancelled",
        lambda v: _cancel(v, waits=False),
        versions=(2,),
    ),
    Scene(
        "cancel", "A tool call and a terminal that wait until you cancel them", _cancel, versions=(2,), in_tour=False
    ),
    Scene("unknown", "Unknown fields, updates and content, which you have to ignore", _unknown),
    Scene(
        "withdraw",
        "A question for permission that is withdrawn after half a second",
        lambda v: _permission(v, timeout=0.5),
        in_tour=False,
    ),
    Scene(
        "flood",
        "Many messages at once",
        _fixed({"say": "Again and again. ", "times": "${arguments}"}),
        hint="count",
        default="10000",
        in_tour=False,
    ),
    Scene(
        "stderr",
        "Many lines on standard error, which you have to read",
        _fixed({"stderr": "This line is for the log of the client, which has to read it.", "times": "${arguments}"}),
        hint="count",
        default="20000",
        in_tour=False,
    ),
    Scene(
        "slow",
        "A turn that takes long",
        _fixed({"say": "Please wait.\n"}, {"wait": "${arguments}"}, {"say": "Done.\n"}),
        hint="seconds",
        default="5",
        in_tour=False,
    ),
    Scene("silent", "A turn that only ends when you cancel it", _fixed({"wait": None}), in_tour=False),
    Scene(
        "stop",
        "A turn that ends with a stop reason",
        _fixed({"stop": "${arguments}"}),
        hint="reason",
        default="max_tokens",
        in_tour=False,
    ),
    Scene(
        "error",
        "A turn that fails with an error",
        _fixed({"error": {"code": "${arguments}", "message": "An error, as you wanted"}}),
        hint="code",
        default="-32603",
        in_tour=False,
    ),
    Scene(
        "crash",
        "The agent exits in the middle of the turn",
        _fixed({"say": "Good bye.\n"}, {"exit": "${arguments}"}),
        hint="status",
        default="1",
        in_tour=False,
    ),
)
SCENES: dict[str, Scene] = {each.name: each for each in _ALL}

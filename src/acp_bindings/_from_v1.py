"""Converts session updates of v1, whose classes programs use, to the negotiated version."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic_core import from_json

from acp_bindings.decoding import decode
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError, Issue
from acp_bindings.setup._versions import version_of

if TYPE_CHECKING:
    from acp_bindings.jsonrpc import ProtocolPackage

PLAN = "plan"
"""The id in v2 of the plan of a session, which in v1 is the only one."""


def from_v1(protocol: ProtocolPackage, update: Any) -> Any:
    """Return the *update* of v1 as an update of the negotiated *protocol*.

    An update that already belongs to *protocol* is returned unchanged.

    Raises:
        DecodeError: *protocol* is v2, in which the mode is a config option, and *update* is the mode.
    """
    package: Any = protocol
    if type(update).__module__.startswith(f"{package.__name__}."):
        return update
    json = from_json(encode(update))
    if version_of(protocol) > 1 and (convert := _TO_V2.get(json["sessionUpdate"])):
        json = convert(json)
    return decode(package.SessionUpdate, json)


def options_from_v1(options: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the JSON of config options of v1 as v2 has them."""
    return [_option(each) for each in options]


def commands_from_v1(commands: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the JSON of available commands of v1 as v2 has them."""
    return [_command(each) for each in commands]


def tool_call_from_v1(json: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a tool call of v1, or of its update, as v2 has it."""
    call: dict[str, Any] = {**json}
    if call.get("sessionUpdate") == "tool_call":
        call["sessionUpdate"] = "tool_call_update"
    if call.get("content"):
        call["content"] = [_content(each) for each in call["content"]]
    return call


def _content(content: dict[str, Any]) -> dict[str, Any]:
    if content["type"] != "diff":
        return content
    is_new = content.get("oldText") is None
    change = {"operation": "add" if is_new else "modify", "path": content["path"], "fileType": "text"}
    return {"type": "diff", "changes": [change], "patch": {"format": "git_patch", "text": _patch(content)}}


def _patch(diff: dict[str, Any]) -> str:
    """Return the two texts of a diff of v1 as a Git patch with absolute paths."""
    from difflib import unified_diff  # noqa: PLC0415 - only diffs need it

    path, old, new = diff["path"], diff.get("oldText"), diff["newText"]
    # Unlike `splitlines`, these end only at line feeds, as the lines of Git do.
    before, after = (StringIO(text).readlines() for text in (old or "", new))
    lines = unified_diff(before, after, "/dev/null" if old is None else path, path)
    marked = (each if each.endswith("\n") else f"{each}\n\\ No newline at end of file\n" for each in lines)
    mode = "new file mode 100644\n" if old is None else ""
    return f"diff --git {path} {path}\n{mode}{''.join(marked)}"


def _plan(json: dict[str, Any]) -> dict[str, Any]:
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": PLAN, "entries": json["entries"]}}


def _option(option: dict[str, Any]) -> dict[str, Any]:
    converted = {"configId" if name == "id" else name: value for name, value in option.items()}
    if option["type"] == "select":
        converted["options"] = [
            {"groupId" if name == "group" else name: value for name, value in each.items()}
            for each in option["options"]
        ]
    return converted


def _command(command: dict[str, Any]) -> dict[str, Any]:
    converted = {"type": "command", **command}
    if command.get("input"):
        converted["input"] = {"type": "text", **command["input"]}
    return converted


def _options(json: dict[str, Any]) -> dict[str, Any]:
    return {**json, "configOptions": options_from_v1(json["configOptions"])}


def _commands(json: dict[str, Any]) -> dict[str, Any]:
    return {**json, "availableCommands": commands_from_v1(json["availableCommands"])}


def _mode(_: dict[str, Any]) -> NoReturn:
    hint = "v2 does not have current_mode_update; session.set_mode changes the mode in both versions"
    raise DecodeError("SessionUpdate", [Issue(("sessionUpdate",), "mode_in_v2", hint)])


_TO_V2: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "available_commands_update": _commands,
    "config_option_update": _options,
    "current_mode_update": _mode,
    "plan": _plan,
    "tool_call": tool_call_from_v1,
    "tool_call_update": tool_call_from_v1,
}
"""The updates that look different in v2, by their discriminator."""

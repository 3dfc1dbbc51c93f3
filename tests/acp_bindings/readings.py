"""Examples of the reading rules, written by hand: a value, and the result of reading it.

The reference reader and the generated packages are both compared with this list, so that an error in one is found.
"""

from dataclasses import dataclass

from tests.acp_bindings.exact_json import Json

REFUSED = object()


@dataclass(frozen=True)
class Reading:
    """One value of a definition. `read` is the result with nothing added, or REFUSED."""

    why: str
    package: str
    definition: str
    given: Json
    read: Json


def _v1(definition: str, why: str, given: Json, read: Json) -> list[Reading]:
    return [Reading(why, package, definition, given, read) for package in ("v1", "v1_unstable")]


def _v2(definition: str, why: str, given: Json, read: Json) -> list[Reading]:
    return [Reading(why, package, definition, given, read) for package in ("v2", "v2_unstable")]


def _both(definition: str, why: str, given: Json, read: Json) -> list[Reading]:
    return _v1(definition, why, given, read) + _v2(definition, why, given, read)


_PLAN_ENTRY: Json = {"content": "a", "priority": "high", "status": "pending"}
_STDIO: Json = {"name": "s", "command": "/bin/s", "args": [], "env": []}
_HTTP: Json = {"type": "http", "name": "h", "url": "https://h.example", "headers": []}
_TEXT: Json = {"type": "text", "text": "t"}
_SELECT: Json = {"type": "select", "id": "m", "name": "M", "currentValue": "a"}
_INFO: Json = {"name": "x", "version": "1"}

READINGS: list[Reading] = [
    # default-on-error: a required key that is missing stays an error, also where a present bad value is excused
    *_v1("SessionModeState", "missing, required", {"currentModeId": "a"}, REFUSED),
    *_v1("SessionModeState", "bad, required", {"currentModeId": "a", "availableModes": 5},
         {"currentModeId": "a", "availableModes": []}),
    *_v1("NewSessionResponse", "an optional object with a hole vanishes whole",
         {"sessionId": "s", "modes": {"currentModeId": "a"}}, {"sessionId": "s"}),
    *_v1("InitializeResponse", "innermost first: only the title is dropped",
         {"protocolVersion": 1, "agentInfo": {**_INFO, "title": 3}}, {"protocolVersion": 1, "agentInfo": _INFO}),
    *_v1("InitializeResponse", "the schema's default is the fallback",
         {"protocolVersion": 1, "agentCapabilities": "none"}, {"protocolVersion": 1}),
    *_v1("InitializeResponse", "a capability that is not a boolean is unsupported, others stay",
         {"protocolVersion": 1,
          "agentCapabilities": {"loadSession": "yes", "mcpCapabilities": {"http": True, "sse": 1}}},
         {"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": {"http": True}}}),
    *_v1("ToolCall", "neither default nor array: nothing", {"toolCallId": "t", "title": "T", "kind": 5, "status": None},
         {"toolCallId": "t", "title": "T"}),
    *_both("ToolCallUpdate", "anything is valid where the schema says so",
           {"toolCallId": "t", "rawInput": None, "rawOutput": [1.0, None]},
           {"toolCallId": "t", "rawInput": None, "rawOutput": [1.0, None]}),
    *_both("ToolCallUpdate", "null clears and is preserved; an invalid value changes nothing",
           {"toolCallId": "t", "title": None, "content": None, "locations": "x"},
           {"toolCallId": "t", "title": None, "content": None}),
    *_v1("Error", "null is data too", {"code": 1, "message": "m", "data": None},
         {"code": 1, "message": "m", "data": None}),
    *_both("TextContent", "_meta that is not an object", {"text": "t", "_meta": [1]}, {"text": "t"}),
    *_both("TextContent", "_meta null is preserved", {"text": "t", "_meta": None}, {"text": "t", "_meta": None}),
    *_both("TextContent", "inside nullable annotations",
           {"text": "t", "annotations": {"priority": "high", "audience": None}},
           {"text": "t", "annotations": {"audience": None}}),
    *_v2("Annotations", "out of bounds is bad", {"priority": 1.5}, {}),
    *_v2("ToolCallLocation", "lines start at 1", {"path": "/a", "line": 0}, {"path": "/a"}),
    *_both("ToolCallLocation", "a fraction is not a line", {"path": "/a", "line": 1.0}, {"path": "/a"}),
    *_both("ToolCallLocation", "beyond 32 bits", {"path": "/a", "line": 2**32}, {"path": "/a"}),
    # skip-invalid-items
    *_v1("Plan", "a bad entry is dropped, the order stays",
         {"entries": [_PLAN_ENTRY, {**_PLAN_ENTRY, "priority": "urgent"}, {**_PLAN_ENTRY, "content": "b"}]},
         {"entries": [_PLAN_ENTRY, {**_PLAN_ENTRY, "content": "b"}]}),
    *_v1("Plan", "no array: the fallback", {"entries": {"0": _PLAN_ENTRY}}, {"entries": []}),
    *_v1("Plan", "no entries at all", {}, REFUSED),
    *_v2("PlanItems", "an open enum takes any word",
         {"planId": "p", "entries": [{**_PLAN_ENTRY, "priority": "urgent"}]},
         {"planId": "p", "entries": [{**_PLAN_ENTRY, "priority": "urgent"}]}),
    *_v2("PlanItems", "without default-on-error a non-array is an error", {"planId": "p", "entries": None}, REFUSED),
    *_v2("UpdateSessionNotification", "an error in a known variant climbs to the root",
         {"sessionId": "s", "update": {"sessionUpdate": "config_option_update", "configOptions": "x"}}, REFUSED),
    *_v2("SessionConfigSelectGroup", "nothing left: the fallback, though writers may not write it",
         {"groupId": "g", "name": "G", "options": [5]}, {"groupId": "g", "name": "G", "options": []}),
    *_both("ToolCallUpdate", "leniency inside an item saves the item",
           {"toolCallId": "t",
            "content": [{"type": "content", "content": {**_TEXT, "annotations": 5}}, {"type": "content"}]},
           {"toolCallId": "t", "content": [{"type": "content", "content": _TEXT}]}),
    *_v1("ToolCallUpdate", "an unknown block of a closed union is a bad item",
         {"toolCallId": "t", "content": [{"type": "x-new"}, {"type": "terminal", "terminalId": "m"}]},
         {"toolCallId": "t", "content": [{"type": "terminal", "terminalId": "m"}]}),
    *_v2("ToolCallUpdate", "an unknown block of an open union is dropped",
         {"toolCallId": "t", "content": [{"type": "x-new", "x": [None]}]},
         {"toolCallId": "t", "content": [{"type": "x-new", "x": [None]}]}),
    # default-on-null
    *_v1("NewSessionRequest", "null servers", {"cwd": "/", "mcpServers": None}, {"cwd": "/", "mcpServers": []}),
    *_v1("NewSessionRequest", "missing servers", {"cwd": "/"}, REFUSED),
    *_v2("NewSessionRequest", "missing servers", {"cwd": "/"}, {"cwd": "/"}),
    *_v1("NewSessionRequest", "one bad server rejects the request",
         {"cwd": "/", "mcpServers": [_STDIO, {"name": "x"}]}, REFUSED),
    *_v1("NewSessionRequest", "null environment", {"cwd": "/", "mcpServers": [{**_STDIO, "env": None, "args": None}]},
         {"cwd": "/", "mcpServers": [_STDIO]}),
    *_v1("NewSessionRequest", "environment as an object",
         {"cwd": "/", "mcpServers": [{**_STDIO, "env": {"A": "1"}}]}, REFUSED),
    *_v1("AuthMethodTerminal", "null for a map",
         {"id": "a", "name": "A", "env": None}, {"id": "a", "name": "A", "env": {}}),
    *_v1("AuthMethodTerminal", "a map of more than strings", {"id": "a", "name": "A", "env": {"A": 1}}, REFUSED),
    *_v2("SessionInfo", "strict but for null",
         {"sessionId": "s", "cwd": "/", "additionalDirectories": ["/a", 5]}, REFUSED),
    *_v1("SessionInfo", "lenient in v1", {"sessionId": "s", "cwd": "/", "additionalDirectories": ["/a", 5]},
         {"sessionId": "s", "cwd": "/", "additionalDirectories": ["/a"]}),
    *_both("NewSessionRequest", "null directories",
           {"cwd": "/", "mcpServers": [], "additionalDirectories": None},
           {"cwd": "/", "mcpServers": [], "additionalDirectories": []}),
    *_both("NewSessionRequest", "one bad directory",
           {"cwd": "/", "mcpServers": [], "additionalDirectories": ["/a", None]}, REFUSED),
    # not lenient at all
    *_v1("InitializeRequest", "a boolean is not a version", {"protocolVersion": True}, REFUSED),
    *_v1("InitializeRequest", "a float is not a version", {"protocolVersion": 1.0}, REFUSED),
    *_v1("InitializeRequest", "of 16 bits", {"protocolVersion": 65536}, REFUSED),
    *_v2("InitializeRequest", "info is required and strict", {"protocolVersion": 2, "info": {"name": "x"}}, REFUSED),
    *_both("ListSessionsRequest", "a cursor is text", {"cursor": 5}, REFUSED),
    *_v2("ListSessionsResponse", "strict in v2", {"sessions": [], "nextCursor": 5}, REFUSED),
    *_v1("ListSessionsResponse", "lenient in v1", {"sessions": [], "nextCursor": 5}, {"sessions": []}),
    *_v1("ReadTextFileRequest", "no default-on-error", {"sessionId": "s", "path": "/", "line": "3"}, REFUSED),
    *_v1("StopReason", "a closed enum", "tired", REFUSED),
    *_both("ResourceLink", "beyond 2^53", {"name": "n", "uri": "x:", "size": 2**53 + 1},
           {"name": "n", "uri": "x:", "size": 2**53 + 1}),
    *_both("PromptRequest", "a block with a known tag and a bad payload",
           {"sessionId": "s", "prompt": [{"type": "text", "text": 5}]}, REFUSED),
    *_both("PromptRequest", "a block without a tag", {"sessionId": "s", "prompt": [{"text": "t"}]}, REFUSED),
    *_both("SessionId", "never null", None, REFUSED),
    # unions
    *_v1("McpServer", "the tag decides: a broken http entry, not stdio", {"type": "http", **_STDIO}, REFUSED),
    *_v1("McpServer", "stdio spelled out", {"type": "stdio", **_STDIO}, _STDIO),
    *_v1("McpServer", "no tag: stdio", _STDIO, _STDIO),
    *_v1("AuthMethod", "the tag decides: a broken terminal method, not an agent one",
         {"type": "terminal", "id": "a", "name": "A", "args": 5}, REFUSED),
    *_v1("AuthMethod", "the tag that goes without saying, spelled out",
         {"type": "agent", "id": "a", "name": "A"}, {"type": "agent", "id": "a", "name": "A"}),
    *_v1("AuthMethod", "no tag: an agent method", {"id": "a", "name": "A"}, {"id": "a", "name": "A"}),
    *_both("MultiSelectItems", "a tag that the schema does not have, but the title",
           {"type": "titled", "anyOf": []}, {"type": "titled", "anyOf": []}),
    *_v1("McpServer", "an unknown tag: the branch without one, to which it is an unknown member",
         {"type": "x-new", **_STDIO}, {"type": "x-new", **_STDIO}),
    *_v1("McpServer", "a tag that is not a string: likewise", {"type": 5, **_STDIO}, {"type": 5, **_STDIO}),
    *_both("ElicitationPropertySchema", "an unknown kind of field is preserved",
           {"type": "x-color", "title": 5}, {"type": "x-color", "title": 5}),
    *_v2("McpServer", "an unknown transport is preserved",
         {"type": "sse", "url": 5, "x": [None]}, {"type": "sse", "url": 5, "x": [None]}),
    *_v2("McpServer", "a known transport with an invalid payload is refused", {"type": "http", "name": "x"}, REFUSED),
    *_v2("McpServer", "no tag", {"name": "h", "url": "https://h.example"}, REFUSED),
    *_v2("McpServer", "a tag that is not a string", {**_HTTP, "type": 5}, REFUSED),
    *_v2("AuthMethod", "an unknown variant has required members too", {"type": "x", "name": "X"}, REFUSED),
    *_both("SessionUpdate", "a known variant with a bad payload",
           {"sessionUpdate": "agent_message_chunk", "content": 5}, REFUSED),
    *_v1("SessionNotification", "an unknown variant of a notification is preserved",
         {"sessionId": "s", "update": {"sessionUpdate": "x-new", "content": [5]}},
         {"sessionId": "s", "update": {"sessionUpdate": "x-new", "content": [5]}}),
    *_v1("SessionNotification", "but not one without a tag", {"sessionId": "s", "update": {"content": {}}}, REFUSED),
    *_v1("RequestPermissionResponse", "an unknown outcome in a response is an error",
         {"outcome": {"outcome": "later"}}, REFUSED),
    *_v2("RequestPermissionResponse", "an open union in v2",
         {"outcome": {"outcome": "later"}}, {"outcome": {"outcome": "later"}}),
    *_v2("IdleStateUpdate", "an optional tag that is not a string is dropped before the variant is chosen",
         {"stopReason": 5}, {}),
    *_v2("IdleStateUpdate", "null stays null", {"stopReason": None}, {"stopReason": None}),
    *_v2("IdleStateUpdate", "a bad error is dropped",
         {"stopReason": "error", "error": {"code": "x"}}, {"stopReason": "error"}),
    *_v2("IdleStateUpdate", "no items are skipped without the keyword", {"background": [5]}, {}),
    *_v2("ElicitationFormMode", "both scopes at once",
         {"requestedSchema": {"type": "object", "properties": {}}, "sessionId": "s", "requestId": None}, REFUSED),
    *_v2("ElicitationFormMode", "no scope", {"requestedSchema": {"type": "object", "properties": {}}}, REFUSED),
    *_v1("SessionConfigOption", "groups", {**_SELECT, "options": [{"group": "g", "name": "G", "options": 5}]},
         {**_SELECT, "options": [{"group": "g", "name": "G", "options": []}]}),
    *_v1("SessionConfigOption", "groups and options mixed",
         {**_SELECT, "options": [{"group": "g", "name": "G", "options": []}, {"value": "v", "name": "V"}]}, REFUSED),
    *_both("ErrorCode", "any 32-bit integer", 2**31, REFUSED),
]  # fmt: skip

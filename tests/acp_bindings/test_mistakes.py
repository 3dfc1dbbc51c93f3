"""Mixed-up arguments raise errors that name the mistake and show no values."""

import codecs
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NewType, TypeVar

import pytest
from pydantic import PydanticSchemaGenerationError, field_validator
from typing_extensions import TypeAliasType

from acp_bindings import DecodeError, Finding, Issue, decode, v1, v2
from acp_bindings.jsonrpc import BadLine, Codec

untyped: Any = decode
PARAMS: dict[str, Any] = {"sessionId": "hunter2", "prompt": []}
MESSAGE: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": PARAMS}


def told(data: Any, type_: Any = v1.PromptRequest, **options: Any) -> str:
    with pytest.raises(DecodeError) as raised:
        untyped(type_, data, **options)
    (issue,) = raised.value.issues
    assert issue.path == ()
    assert "hunter2" not in str(raised.value)
    return issue.message


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("data", [MESSAGE, json.dumps(MESSAGE), json.dumps(MESSAGE, indent=1).encode()])
def test_decoding_a_whole_message_suggests_its_params(data: Any, strict: bool) -> None:
    assert told(data, strict=strict) == (
        'This is a whole JSON-RPC message; decode its "params", or read the line with acp_bindings.jsonrpc'
    )


@pytest.mark.parametrize("member", ["result", "error"])
def test_decoding_a_whole_response_suggests_its_result(member: str) -> None:
    answer = {"jsonrpc": "2.0", "id": 1, member: {"code": 5}}
    assert f'decode its "{member}"' in told(answer, v1.Error if member == "error" else v1.InitializeResponse)


def test_a_message_that_only_mentions_jsonrpc_has_no_hint() -> None:
    mentions: list[dict[str, Any]] = [{"sessionId": 5, "x": {"jsonrpc": "2.0", "params": {}}}, {"jsonrpc": "2.0"}]
    for params in mentions:
        with pytest.raises(DecodeError) as raised:
            decode(v1.PromptRequest, params)
        assert raised.value.issues[0].path == ("sessionId",)


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        ("", "; it is empty"),
        (b" \n", "; it is empty"),
        (b" " * 60_000, "; it is empty"),
        (b" " * 60_000 + b'{"sessionId": "hunter2', "; it was cut short, or is one line of several"),
        (codecs.BOM_UTF8 + b"{}", "; it begins with a byte order mark"),
        (b"\0\0\0", "; it begins with NUL bytes"),
        ("{}".encode("utf-16-le"), "; it is UTF-16, and JSON is UTF-8"),
        ("\ufeff{}".encode("utf-16-be"), "; it is UTF-16, and JSON is UTF-8"),
        ("{'sessionId': 'hunter2'}", "; it is a Python dict; use json.dumps"),
        ('{"sessionId": "hunter2"}\n{}\n', "; there is one value on each line; decode each line separately"),
        ('{"sessionId": "hunter2"}{}', "; there is more than one value in it"),
        ('Content-Length: 24\r\n\r\n{"sessionId": "hunter2"}', "; it is a header as in LSP; ACP has no headers"),
        ('{"sessionId": "hunter2', "; it was cut short, or is one line of several"),
        ('{"sessionId": None}', "; it is a Python dict; use json.dumps"),
        ('{"sessionId": "hunter2", "prompt": [], "x": NaN}', "; JSON has no NaN or infinity"),
        ('{"sessionId": "hunter2", // mine\n"prompt": []}', "; JSON has no comments"),
        (r'{"sessionId": "C:\hunter2"}', r"; write a backslash twice, as in C:\\Users"),
        ('{"sessionId": "hünter2"}'.encode("latin-1"), "; it is not UTF-8"),
        (json.dumps(json.dumps(PARAMS)), "; it is JSON inside a string; was it encoded twice?"),
    ],
)
def test_input_in_another_format_is_recognized(data: str | bytes, hint: str) -> None:
    assert told(data).endswith(hint)


@pytest.mark.parametrize(
    "data",
    [
        "hunter2",
        "[]",
        "{}}",
        "{\n}}",
        "C# hunter2",
        "[" + "\n" * 50_000 + "x",
        " " * 60_000 + "x",
    ],
)
def test_unrecognizable_input_has_no_hint(data: Any) -> None:
    assert "; " not in told(data)


@pytest.mark.parametrize(
    ("type_", "data", "issue"),
    [
        (v1.LogoutRequest, {}, None),
        (v1.NewSessionResponse, {"session_id": "hunter2"}, 'sessionId: Field required; it is spelt "session_id" here'),
        (v1.NewSessionResponse, {"SessionID": 5}, 'sessionId: Field required; it is spelt "SessionID" here'),
        (v1.NewSessionResponse, {"session-id": 5, "x": 1}, 'sessionId: Field required; it is spelt "session-id" here'),
        (v1.NewSessionResponse, {"session\nid": 5, "id": 5, "": 5}, "sessionId: Field required"),
        (
            v1.SessionNotification,
            {"sessionId": "s", "update": {"session_update": "plan"}},
            'update.sessionUpdate: Field required; it is spelt "session_update" here',
        ),
        (
            v1.PromptRequest,
            {"sessionId": "s", "prompt": [{"type": "text", "text": "a"}, {"Type": "text"}]},
            'prompt[1].type: Field required; it is spelt "Type" here',
        ),
        (
            v1.PromptRequest,
            {"sessionId": "s", "prompt": [{"type": "image", "data": "", "mime_type": "a"}]},
            'prompt[0].mimeType: Field required; it is spelt "mime_type" here (in image)',
        ),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_a_misspelled_field_is_reported_with_the_right_spelling(
    type_: Any, data: Any, issue: str | None, strict: bool
) -> None:
    if issue is None:
        decode(type_, data, strict=strict)
        return
    with pytest.raises(DecodeError) as raised:
        decode(type_, data, strict=strict)
    assert str(raised.value) == f"{type_.__name__}: {issue}"


def test_a_misspelled_field_in_a_tolerated_error_is_reported() -> None:
    found: list[Finding] = []
    diff = {"type": "diff", "path": "/a", "new_text": "hunter2"}

    decode(v1.ToolCall, {"toolCallId": "c", "title": "t", "content": [diff]}, findings=found)

    assert [*map(str, found)] == [
        'content[0]: left out, because newText: Field required; it is spelt "new_text" here (in diff)'
    ]


@pytest.mark.parametrize("found", ["", "hunter2", [], {}, 5])
def test_spelling_is_not_checked_where_a_validator_changes_the_value(found: Any) -> None:
    class Signed(v1.PromptRequest):
        @field_validator("prompt", mode="before")
        @classmethod
        def sign(cls, _: Any) -> Any:
            return [{"type": "text", "text": ""}, {"Type": "text"}]

    with pytest.raises(DecodeError, match=r"^Signed: prompt\[1\]\.type: Field required$"):
        decode(Signed, {"sessionId": "s", "prompt": found})


def test_spelling_is_not_checked_in_a_long_message() -> None:
    with pytest.raises(DecodeError, match=r"sessionId: Field required$"):
        decode(v1.NewSessionResponse, {"session_id": "a" * 50_000})


AS_STDIO = (
    'http has a url and no command; did you mean "stdio", which v1 writes without a type, and v2 with "type": "stdio"?'
)
PAIRS = 'write [{"name": …, "value": …}], not a map'


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ({"command": "/x", "args": [], "env": {"TOKEN": "hunter2"}}, [f"env: Input should be a valid array; {PAIRS}"]),
        (
            {"type": "http", "url": "https://hunter2", "headers": {"A": "hunter2"}},
            [f"headers: Input should be a valid array; {PAIRS}"],
        ),
        ({"command": "/x", "args": "hunter2", "env": []}, ["args: Input should be a valid array"]),
        (
            {"url": "https://hunter2", "headers": []},
            [
                'command: Field required; without a type it is read as stdio; write "type": "http"',
                "args: Field required",
                "env: Field required",
            ],
        ),
        (
            {"type": "http", "command": "/x", "headers": []},
            [f"url: Field required; {AS_STDIO}"],
        ),
        ({"args": [], "env": []}, ["command: Field required"]),
    ],
)
def test_common_mistakes_in_mcp_servers_have_hints(server: dict[str, Any], told: list[str]) -> None:
    with pytest.raises(DecodeError) as raised:
        decode(v1.NewSessionRequest, {"cwd": "/", "mcpServers": [{"name": "a", **server}]})
    assert [str(replace(each, path=each.path[2:], branch=None)) for each in raised.value.issues] == told


@pytest.mark.parametrize(
    ("type_", "data"),
    [
        (v2.CommandPermissionSubject, {"type": "command", "cwd": "/", "args": []}),
        (v1.CreateTerminalRequest, {"type": "local", "sessionId": "s"}),
    ],
)
def test_other_types_have_no_hints_about_mcp_servers(type_: Any, data: Any) -> None:
    with pytest.raises(DecodeError, match=r": command: Field required$"):
        decode(type_, data)


def test_a_map_of_mcp_servers_has_a_hint() -> None:
    with pytest.raises(DecodeError) as raised:
        decode(v1.NewSessionRequest, {"cwd": "/", "mcpServers": {"files": {"command": "hunter2"}}})
    assert str(raised.value) == (
        'NewSessionRequest: mcpServers: Input should be a valid array; write [{"name": …, …}], not a map'
    )


def test_a_codec_gives_the_same_hints() -> None:
    refused = Codec(v1, role="agent").read('{"jsonrpc": "2.0", "method": "_x", "params": {"hunter2": NaN}}')

    assert isinstance(refused, BadLine)
    assert refused.message == "Parse error: expected value at line 1 column 58; JSON has no NaN or infinity"
    assert refused.reply
    assert json.loads(refused.reply)["error"]["message"] == refused.message


def test_a_python_object_in_place_of_data_is_recognized() -> None:
    assert told(v1.PromptRequest) == "This is the class PromptRequest, not data"
    assert told(Path("hunter2")) == "This is a path; read the file: decode(…, path.read_bytes())"
    assert told(io.BytesIO(b"hunter2")) == "This is an open file; read it: decode(…, file.read())"


def test_a_value_that_json_cannot_express_is_reported_with_its_place() -> None:
    async def read() -> bytes: ...

    waiting = read()
    assert told(waiting) == "An object of coroutine cannot be written as JSON; is an await missing?"
    waiting.close()
    assert told(memoryview(b"hunter2")) == "An object of memoryview cannot be written as JSON"
    with pytest.raises(DecodeError) as raised:
        decode(v1.PromptRequest, {"sessionId": "s", "prompt": [{"type": "text", "text": memoryview(b"hunter2")}]})
    assert raised.value.issues == (
        Issue(("prompt", 0, "text"), "not_json", "An object of memoryview cannot be written as JSON"),
    )


@pytest.mark.parametrize("findings", [True, False, (), {}])
def test_findings_must_be_a_list(findings: Any) -> None:
    with pytest.raises(TypeError, match=r"^findings must be a list, not (bool|tuple|dict)$"):
        decode(v1.LogoutRequest, "{}", findings=findings)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("data", [MESSAGE, json.dumps(MESSAGE), b"{}", bytearray(b"{}"), [1], 5, 1.5])
def test_swapped_arguments_are_recognized(data: Any, strict: bool) -> None:
    with pytest.raises(TypeError, match=r"the arguments are swapped: decode\(PromptRequest, …\)$") as raised:
        untyped(data, v1.PromptRequest, strict=strict)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize(
    ("type_", "end"),
    [
        (v1, "acp_bindings.v1 is a module; pass one of its types"),
        ("PromptRequest", "the first argument is an instance of str, not a type"),
        (
            v1.PromptRequest(session_id="hunter2", prompt=[]),
            "argument is an instance of PromptRequest, not a type",
        ),
        ((v1.TextContent, v1.ImageContent), "the first argument is an instance of tuple, not a type"),
        (object(), "the first argument is an instance of object, not a type"),
        (v1.METHODS["session/new"].request, "an instance of RequestType, not a type"),
    ],
)
def test_a_first_argument_that_is_not_a_type_is_recognized(type_: Any, end: str) -> None:
    with pytest.raises(
        TypeError, match=r"^decode takes the type first, such as v1\.NewSessionRequest, and then"
    ) as told_:
        untyped(type_, "{}")
    assert str(told_.value).endswith(end)


Named = NewType("Named", io.StringIO)
Alias = TypeAliasType("Alias", io.StringIO)
T = TypeVar("T", bound=io.StringIO)


@pytest.mark.parametrize("type_", [list[io.StringIO], Named, Alias, T])
def test_an_unsupported_type_is_not_taken_for_a_wrong_argument(type_: Any) -> None:
    with pytest.raises(PydanticSchemaGenerationError):
        decode(type_, [])

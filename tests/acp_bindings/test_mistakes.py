"""Who mixes something up is told what, and no value is shown."""

import codecs
import io
import json
from pathlib import Path
from typing import Any, cast

import pytest

from acp_bindings import DecodeError, decode, v1
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
def test_a_whole_message_is_told_what_of_it_is_read(data: Any, strict: bool) -> None:
    assert told(data, strict=strict) == (
        'This is a whole JSON-RPC message; read its "params", or the line by acp_bindings.jsonrpc'
    )


@pytest.mark.parametrize("member", ["result", "error"])
def test_so_is_an_answer(member: str) -> None:
    answer = {"jsonrpc": "2.0", "id": 1, member: {"code": 5}}
    assert f'read its "{member}"' in told(answer, v1.Error if member == "error" else v1.InitializeResponse)


def test_what_only_mentions_json_rpc_is_no_message() -> None:
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
        (codecs.BOM_UTF8 + b"{}", "; a byte order mark stands before it"),
        ("{}".encode("utf-16"), "; it is UTF-16, and JSON is UTF-8"),
        ("{}".encode("utf-16-le"), "; it is UTF-16, and JSON is UTF-8"),
        ("{'sessionId': 'hunter2'}", "; it is written as Python writes a dict, see json.dumps"),
        ("hunter2.json", "; it looks like the path of a file, which is not opened here"),
        (b"/home/me/hunter2", "; it looks like the path of a file, which is not opened here"),
        (r"C:\hunter2", "; it looks like the path of a file, which is not opened here"),
        ('{"sessionId": "hunter2"}\n{}\n', "; there is one value on each line: read each alone"),
        ('{"sessionId": "hunter2"}{}', "; there is more than one value in it"),
        ('{"sessionId":\n "hunter2"}\n{', "; there is more than one value in it"),
        ('Starting\n{"sessionId": "hunter2"}', "; a line that is no JSON stands before it"),
        ('Content-Length: 24\r\n\r\n{"sessionId": "hunter2"}', "; it is a header as of LSP, and ACP has none"),
        ("{", "; it was cut short, or is one line of several"),
        ('{"sessionId": "hunter2', "; it was cut short, or is one line of several"),
        ("{ 'sessionId': 'hunter2'}", "; it is written as Python writes a dict, see json.dumps"),
        ('{"sessionId": None}', "; it is written as Python writes a dict, see json.dumps"),
        ('{"sessionId":\n\n True}', "; it is written as Python writes a dict, see json.dumps"),
        ('{"sessionId": "hunter2", "prompt": [], "x": NaN}', "; JSON has no NaN and no infinity"),
        ('{"sessionId": "hunter2", "prompt": [], "x": -Infinity}', "; JSON has no NaN and no infinity"),
        ('{"sessionId": "hunter2", // mine\n"prompt": []}', "; JSON has no comments"),
        ('# mine\n{"sessionId": "hunter2"}', "; JSON has no comments"),
        (r'{"sessionId": "C:\hunter2"}', r"; a backslash is written twice, as in C:\\Users"),
        ('{"sessionId": "hünter2"}'.encode("latin-1"), "; it is not UTF-8"),
        (json.dumps(json.dumps(PARAMS)), "; it is JSON within a text: was it encoded twice?"),
    ],
)
def test_text_that_is_something_else_is_told_what(data: str | bytes, hint: str) -> None:
    assert told(data).endswith(hint)


@pytest.mark.parametrize(
    "data",
    ["hunter2", '"hunter2"', "[]", "\ud800", object(), "{}}", "{\n}}", float("nan"), "C# hunter2", "{\n" * 3 + "NaN"],
)
def test_text_that_looks_like_nothing_has_no_hint(data: Any) -> None:
    assert "; " not in told(data)


def test_a_codec_says_the_same_of_a_line() -> None:
    refused = Codec(v1, role="agent").read('{"jsonrpc": "2.0", "method": "_x", "params": {"hunter2": NaN}}')

    assert isinstance(refused, BadLine)
    assert refused.message == "Parse error: expected value at line 1 column 58; JSON has no NaN and no infinity"
    assert refused.reply
    assert json.loads(refused.reply)["error"]["message"] == refused.message


def test_what_is_no_data_is_told() -> None:
    assert told(v1.PromptRequest) == "This is the class PromptRequest, and no data"
    assert told(Path("hunter2")) == "This is a path; read the file: decode(…, path.read_bytes())"
    assert told(io.BytesIO(b"hunter2")) == "This is an open file; read it: decode(…, file.read())"


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("data", [MESSAGE, json.dumps(MESSAGE), b"{}", bytearray(b"{}"), [1], 5, 1.5])
def test_swapped_arguments_are_told(data: Any, strict: bool) -> None:
    with pytest.raises(TypeError, match=r"these are swapped: decode\(PromptRequest, …\)$") as raised:
        untyped(data, v1.PromptRequest, strict=strict)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize(
    ("type_", "end"),
    [
        (v1, "acp_bindings.v1 is a module, whose types are these"),
        ("PromptRequest", "the first argument is of str, which is no type"),
        (v1.PromptRequest(session_id="hunter2", prompt=[]), "the first argument is of PromptRequest, which is no type"),
    ],
)
def test_what_is_no_type_is_told(type_: Any, end: str) -> None:
    with pytest.raises(
        TypeError, match=r"^decode takes the type first, such as v1\.NewSessionRequest, and then"
    ) as told_:
        untyped(type_, "{}")
    assert str(told_.value).endswith(end)


def test_other_errors_of_a_type_stay_what_they_are() -> None:
    class Odd:
        @classmethod
        def __get_pydantic_core_schema__(cls, *_: object) -> object:
            raise LookupError

    with pytest.raises(LookupError):
        untyped(cast("Any", Odd), "{}")

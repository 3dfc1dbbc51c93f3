"""Unusual input: a sample of random mutations, and cases written by hand."""

import json
from collections import Counter
from typing import Any

import pytest

from acp_bindings import DecodeError, EncodeError, decode, encode, v1, v2
from acp_bindings.errors import Issue
from acp_bindings.jsonrpc import PARSE_ERROR, BadLine, Codec, Notification, Request
from tests.acp_bindings.fuzz import run

REQUEST = '{"cwd":"/","mcpServers":[],"_meta":%s}'
LINE = '{"jsonrpc":"2.0","id":1,"method":"session/new","params":%s}'


@pytest.mark.parametrize("seed", range(4))
def test_mutated_messages_are_read_or_refused(seed: int) -> None:
    outcomes = Counter(outcome for outcome, _ in run(2000, seed))

    assert outcomes.keys() >= {"read", "refused", "BadLine", "BadResponse", "Request", "Notification", "Response"}


def read(text: str) -> Any:
    """Read *text* as `_meta` of a request, by itself and in a line; both must agree."""
    whole = REQUEST % text
    message = Codec(v1, role="agent").read(LINE % whole)
    try:
        request = decode(v1.NewSessionRequest, whole)
    except DecodeError as error:
        assert isinstance(message, BadLine)
        assert message.code == PARSE_ERROR
        return error.issues[0].rule
    assert isinstance(message, Request)
    assert message.params == request
    assert json.loads(encode(request)) == json.loads(whole)
    return request.meta


NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1E+999", "1e309", "9" * 310 + ".0", "9" * 290 + "e20", "9" * 5000]


@pytest.mark.parametrize("value", [*NUMBERS, "[0,1.5e400]", '"\0"', '"\n"'])
def test_values_that_json_or_python_does_not_have_are_refused(value: str) -> None:
    assert read(f'{{"a":{value}}}') == "json_invalid"


@pytest.mark.parametrize("name", ["NaN", "-Infinity"])
@pytest.mark.parametrize("rest", ["", ',"_meta":[1e5]', ',"_meta":{"a":[1e5]}'])
def test_an_invalid_number_is_refused_even_if_the_field_is_repeated(name: str, rest: str) -> None:
    text = f'{{"sessionId":{name},"sessionId":"s"{rest}}}'
    line = f'{{"jsonrpc":"2.0","method":"session/cancel","params":{text}}}'
    params = decode(v1.CancelNotification, text)

    assert params == decode(v1.CancelNotification, text.replace(f'"sessionId":{name},', ""))
    for codec in (Codec(v1, role="agent"), Codec(v1, role="agent", findings=True)):
        message = codec.read(line)
        assert isinstance(message, Notification)
        assert message.params == params


EXCUSED = [
    (v1.TextContent, '{"text":"t","annotations":%s}'),
    (v1.TextContent, '{"text":"t","annotations":{"priority":[%s]}}'),
    (v1.TextContent, '{"text":"t","annotations":{"audience":["user",%s]}}'),
    (v1.LogoutRequest, '{"_meta":%s}'),
    (v1.InitializeResponse, '{"protocolVersion":1,"agentCapabilities":%s}'),
    (v1.InitializeResponse, '{"protocolVersion":1,"agentCapabilities":{"loadSession":%s}}'),
    (v1.InitializeResponse, '{"protocolVersion":1,"authMethods":[%s]}'),
    (v1.InitializeResponse, '{"protocolVersion":1,"authMethods":%s}'),
    (v1.ToolCall, '{"toolCallId":"t","title":"t","content":{"a":[%s]}}'),
]
"""Places where an invalid value is read as the default, or dropped."""


@pytest.mark.parametrize(("type_", "text"), EXCUSED)
def test_invalid_json_is_refused_even_where_invalid_values_are_tolerated(type_: Any, text: str) -> None:
    for name in ("NaN", "Infinity", "-Infinity"):
        with pytest.raises(DecodeError, match="Invalid JSON"):
            decode(type_, text % name)
    # Where it is not kept it does no harm, whatever else is in the message.
    assert decode(type_, text % "1e999") == decode(type_, text % "5")
    for newer in ("[%s]", "[" + "1.5," * 20 + "%s]", '{"a":{"b":[%s]}}'):
        beside = f'{text[:-1]},"newer":{newer}}}'
        assert decode(type_, beside % ("1e999", "1.5")) == decode(type_, beside % ("5", "1.5"))
        with pytest.raises(DecodeError, match="out of range"):
            decode(type_, beside % ("5", "1e999"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\u0000\u001f"', "\0\x1f"),
        ("1e308", 1e308),
        ("1e-999", 0.0),
        ("-0.0", -0.0),
        ("1" * 500, int("1" * 500)),
        ("0." + "3" * 400, float("0." + "3" * 400)),
        ('"1e999, 5e1234, NaN, Infinity"', "1e999, 5e1234, NaN, Infinity"),
        ('["deadbeef5e12345","' + "9" * 400 + '.0e9"]', ["deadbeef5e12345", "9" * 400 + ".0e9"]),
    ],
)
def test_values_at_the_limits_and_similar_strings_are_read(text: str, value: Any) -> None:
    assert read(f'{{"a":{text}}}') == {"a": value}


def test_a_string_of_a_million_digits_is_read_in_linear_time() -> None:
    """Going through each run of digits from each of its digits would take minutes."""
    digits = "4" * 1_000_000
    assert read(f'{{"a":["a1e123 {digits}"]}}') == {"a": [f"a1e123 {digits}"]}


def test_only_the_first_of_many_errors_are_reported() -> None:
    params = json.dumps({"cwd": "/", "mcpServers": [0] * 10_000})

    refused = Codec(v1, role="agent").read(LINE % params)

    assert isinstance(refused, BadLine)
    assert refused.issues[0] == Issue(("mcpServers", 0), "dict_type", "Input should be an object")
    assert refused.issues[-1] == Issue((), "too_many", "There are more errors")
    assert len(refused.issues) == 101
    assert refused.reply
    assert len(refused.reply) < len(params)


def test_further_errors_are_mentioned_only_if_there_are_any() -> None:
    def issues(count: int) -> list[Issue]:
        with pytest.raises(DecodeError) as refused:
            decode(v1.PromptRequest, {"sessionId": "s", "prompt": [0] * count})
        return list(refused.value.issues)

    told = [Issue(("prompt", index), "dict_type", "Input should be an object") for index in range(200)]
    assert issues(200) == told
    assert issues(201) == [*told, Issue((), "too_many", "There are more errors")]


def test_only_the_first_invalid_item_of_each_list_is_reported() -> None:
    """An error takes a kilobyte in pydantic-core; there would be a million here."""
    params: Any = {"cwd": 5, "mcpServers": [{"name": "n", "command": "c", "args": [0] * 500_000, "env": []}, 1]}
    params["additionalDirectories"] = ["x"] + [0] * 500_000

    refused = Codec(v1, role="agent").read(LINE % json.dumps(params))

    assert isinstance(refused, BadLine)
    assert [issue.path for issue in refused.issues] == [
        ("cwd",),
        ("additionalDirectories", 1),
        ("mcpServers", 0, "args", 0),
    ]


def test_nesting_is_read_up_to_a_depth() -> None:
    assert read(f'{{"a":{"[" * 100}{"]" * 100}}}') == {"a": json.loads("[" * 100 + "]" * 100)}
    for depth in (250, 1000, 100_000):
        assert read(f'{{"a":{"[" * depth}{"]" * depth}}}') == "json_invalid"
        assert read(f'{{"a":{"[" * depth}}}') == "json_invalid"


def test_the_last_of_several_fields_with_one_name_counts() -> None:
    doubled = '{"cwd":"/first","cwd":"/last","mcpServers":5,"mcpServers":[]}'

    assert decode(v1.NewSessionRequest, doubled).cwd == "/last"
    request = Codec(v1, role="agent").read('{"method":"no","jsonrpc":"2.0",' + LINE[17:] % doubled)
    assert isinstance(request, Request)
    assert request.params == decode(v1.NewSessionRequest, doubled)


@pytest.mark.parametrize(
    "text", [b"\xff", b'"\xed\xa0\x80"', b'{"a":"\xc3"}', b"\xef\xbb\xbf{}", "{}".encode("utf-16")]
)
def test_invalid_utf_8_is_refused(text: bytes) -> None:
    with pytest.raises(DecodeError):
        decode(v1.LogoutRequest, text)
    message = Codec(v1, role="agent", findings=True).read(text)
    assert isinstance(message, BadLine)
    assert message.code == PARSE_ERROR


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (rb'"\ud800"', "\ufffd"),
        (rb'"\udc00\ud800"', "\ufffd\ufffd"),
        (rb'"a\ud83d \ud83d\ude00"', "a\ufffd \U0001f600"),
        (rb'"\ud83d\uD83D\ude00\uDE00"', "\ufffd\U0001f600\ufffd"),
        (rb'"C:\\ud83d \ud83d"', "C:\\ud83d \ufffd"),
        (rb'"\\\ud83d\\\\ude00 \ud83d\ude00"', "\\\ufffd\\\\ude00 \U0001f600"),
        (rb'{"\ud800":1}', {"\ufffd": 1}),
        (b'"caf\xe9"', "caf\ufffd"),
        (b'"caf\xe9 \\ud83d"', "caf\ufffd \ufffd"),
    ],
)
def test_text_that_is_not_unicode_is_refused_by_decode_and_replaced_by_the_codec(text: bytes, read: Any) -> None:
    params = b'{"sessionId":"s","_meta":{"a":%b}}' % text
    line = b'{"jsonrpc":"2.0","method":"session/cancel","params":%b}' % params

    with pytest.raises(DecodeError):
        decode(v1.CancelNotification, params)
    message = Codec(v1, role="agent").read(line)
    assert message == Notification("session/cancel", v1.CancelNotification(session_id="s", meta={"a": read}))
    assert isinstance(Codec(v1, role="agent", findings=True).read(line), BadLine)


def test_text_is_not_replaced_in_very_long_lines() -> None:
    line = LINE % (REQUEST % rf'{{"a":"\ud800","b":"{"x" * (8 << 20)}"}}')

    assert isinstance(Codec(v1, role="agent").read(line), BadLine)


def test_a_line_of_50_mb_is_read() -> None:
    text = "x" * 50_000_000
    prompt = json.dumps({"sessionId": "s", "prompt": [{"type": "text", "text": text}]})

    request = Codec(v1, role="agent").read(f'{{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{prompt}}}')

    assert isinstance(request, Request)
    assert request.params.prompt[0].text == text
    assert len(encode(request.params)) > len(text)


@pytest.mark.parametrize("before", range(0, 400, 57))
def test_integers_are_written_up_to_the_length_that_can_be_read(before: int) -> None:
    longest, text = v1.LogoutRequest(meta={"a" * before: 1 - 10**4300}), v1.LogoutRequest(meta={"a": "9" * 10_000})

    assert decode(v1.LogoutRequest, encode(longest)) == longest
    assert decode(v1.LogoutRequest, encode(text)) == text
    with pytest.raises(EncodeError):
        encode(v1.LogoutRequest(meta={"a" * before: 10**4300}))


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (v1.LogoutRequest, '{"newer":1e999}'),
        (v1.LogoutRequest, '{"_meta":{"a":[1e999]}}'),
        (v1.SessionUpdate, '{"sessionUpdate":"newer","x":1e999}'),
        (v1.ToolCallUpdate, '{"toolCallId":"t","rawInput":1e999}'),
        (v1.ToolCallUpdate, '{"toolCallId":"t","rawOutput":{"a":-1e999}}'),
        (v1.ElicitationSchema, '{"type":"object","properties":{"n":{"type":"number","newer":[1e999]}}}'),
        (v1.ExtRequest, "[1e999]"),
        (v2.Error, '{"code":1,"message":"m","data":1e999}'),
        (v1.McpServer, '{"type":[1e999],"name":"n","command":"/c","args":[],"env":[]}'),
        (v2.IdleStateUpdate, '{"stopReason":"end_turn","error":1e999}'),
        (list[v1.LogoutRequest], '[{"newer":1e999}]'),
        (v1.LogoutRequest, '{"newer": [\n1e999 ]}'),
    ],
)
def test_numbers_out_of_range_are_found_in_all_untyped_values(type_: Any, text: str) -> None:
    with pytest.raises(DecodeError, match="number out of range"):
        decode(type_, text)
    assert decode(type_, text.replace("1e999", "1e99"))

"""The fast path, which reads most lines by their beginning, gives the same result as full parsing."""

from typing import Any, NoReturn

import pytest

from acp_bindings import v1, v1_unstable, v2
from acp_bindings.jsonrpc import PARSE_ERROR, BadLine, Codec, Notification, Request, Response
from acp_bindings.setup import OPENING
from tests.acp_bindings.jsonrpc.support import Thorough, agent, client, line


class Quick(Codec):
    """A codec that only uses the fast path."""

    def _read_value(self, value: object) -> NoReturn:
        """Fail."""
        raise AssertionError(value)


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":1,"method":"logout","params":{}}',
        ' { "method" : "logout" , "id" : "x y" , "jsonrpc" : "2.0" , "params" : { "_meta" : { "a" : 1 } } } ',
        '{"id":null,"jsonrpc":"2.0","method":"session/list","params":{"cursor":null}}',
        '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s","new":[1e5]}}',
    ],
)
def test_the_usual_requests_and_notifications_are_read_at_once(text: str) -> None:
    message = Quick(v1, role="agent").read(text)

    assert type(message) in (Request, Notification)
    assert message == Thorough(v1, role="agent").read(text)


@pytest.mark.parametrize(
    "text", ['{"jsonrpc":"2.0","id":0,"result":{}}', ' {"id" : 0, "jsonrpc":"2.0", "result":{"a":1} }\n']
)
def test_the_usual_responses_are_read_at_once(text: str) -> None:
    quick, thorough = Quick(v1, role="client"), Thorough(v1, role="client")
    for codec in (quick, thorough):
        codec.request(v1.LogoutRequest())
    message = quick.read(text)

    assert isinstance(message, Response)
    assert message == thorough.read(text)
    assert dict(quick.pending) == {}


@pytest.mark.parametrize("space", ["\v", "\f", "\x1f", "\x85", "\xa0", "\u2028"])
def test_only_the_white_space_of_json_is_any(space: str) -> None:
    text = ' { "jsonrpc" : "2.0" , "id" : 1 , "method" : "logout" , "params" : {}}'

    for place in (at for at, each in enumerate(text) if each == " "):
        refused = agent().read(text[:place] + space + text[place + 1 :])
        assert isinstance(refused, BadLine)
        assert refused.code == PARSE_ERROR


@pytest.mark.parametrize(
    "head",
    [
        '"id":1,"method":"logout","params":{}',
        '"id":1,"method":"log\\u006fut","params":{}',
        '"method":"logout","params":{}',
        '"id":1,"result":{}',
    ],
)
@pytest.mark.parametrize(
    "tail",
    [
        *('"id":2', '"id":true', '"id":1.0', '"id":1e0', '"id":"1"', '"id":null', '"id":[]', f'"id":{2**63}'),
        *('"jsonrpc":"1.0"', '"jsonrpc":2.0', '"method":"session/list"', '"params":null', '"params":[]', '"x":1'),
        *('"result":null', '"result":5', '"error":null', '"error":{"code":1,"message":""}', '"params":{"a":NaN}'),
    ],
)
def test_fields_after_the_params_or_the_result_are_read_too(head: str, tail: str) -> None:
    text = f'{{"jsonrpc":"2.0",{head},{tail}}}'
    read: list[object] = []
    for kind in (Codec, Thorough):
        codec = kind(v1_unstable, role="proxy")
        codec.request({}, method="_acme/do", id="1")
        codec.request(v1_unstable.ProxySuccessorRequest(method="_acme/do"), id=1)
        read.append(codec.read(text))

    assert repr(read[0]) == repr(read[1])  # 1, 1.0 and True are equal


@pytest.mark.parametrize(
    "head", ['"id":1,"method":"logout","result"', '"id":1,"result"', '"result"', '"id":null,"result"']
)
def test_fields_before_the_result_are_read_too(head: str) -> None:
    read: list[object] = []
    for kind in (Codec, Thorough):
        codec = kind(v1, role="client")
        codec.request(v1.LogoutRequest(), id=1)
        codec.request(v1.ListSessionsRequest(), id=None)
        read.append(codec.read(f'{{"jsonrpc":"2.0",{head}:{{"sessions":[]}}}}'))

    assert read[0] == read[1]


KNOWN = line(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": "new"}})
PLAN = '{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}'
ENDS = ["}", "}\n", "}\r\n", "} \t\r\n", "", "\n", "}}", "}x", "}\x0b", "}\x0c", ",}", '}{"a":{}}']
IDS = ["0", "-1", "-0", "01", "-01", "+1", "1.0", "1e1", r'"\\"', r'"\"', '"\u00e9"']
VALUES = ['"_meta":5', '"_meta":{"a":NaN}', '"_meta":-Infinity', '"new":[{"a":1e999}]', '"update":{}', '"a":"\ud800"']


@pytest.mark.parametrize(
    "text",
    [
        *(KNOWN.removesuffix("}") + end for end in ENDS),
        *(f'{{"jsonrpc":"2.0","id":{id_},"method":"fs/read_text_file","params":{PLAN}}}' for id_ in IDS),
        *(KNOWN.removesuffix("}}") + f",{value}}}}}" for value in VALUES),
        f'{{"jsonrpc":"2.0","method":"session/update","params":{PLAN}}}',
        f'{{ "method": "session/update", "jsonrpc": "2.0", "params" : {PLAN} }}',
        '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}',
        *(
            f'{{"jsonrpc":"2.0","method":"session/update","params":{PLAN},{later}}}'
            for later in ('"params":{}', '"method":"no/such"', '"id":1')
        ),
        '{"jsonrpc":"2.0","method":"session/update","params":{}}',
    ],
)
def test_a_line_is_read_as_by_the_thorough_reader_before_and_after_a_known_head(text: str) -> None:
    codec, thorough = client(), Thorough(v1, role="client")

    for each in (text, KNOWN, text, text.encode(errors="surrogatepass"), KNOWN):
        assert codec.read(each) == thorough.read(each)


def test_known_heads_are_forgotten_when_the_protocol_changes() -> None:
    codec = client(v2)
    text = line(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": "new"}})

    read = [codec.read(text)]
    codec.protocol = v1
    read.append(codec.read(text))

    types: list[Any] = [type(each.params) for each in read if isinstance(each, Notification)]
    assert types == [v2.UpdateSessionNotification, v1.SessionNotification]


def test_findings_can_be_enabled_at_any_time() -> None:
    codec = agent()
    text = '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s","_meta":5}}'

    before = codec.read(text)
    codec.findings = True
    after = codec.read(text)

    assert isinstance(before, Notification)
    assert isinstance(after, Notification)
    assert before.findings == ()
    assert [finding.path for finding in after.findings] == [("_meta",)]


UPDATE = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
CHUNK = '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}'


@pytest.mark.parametrize(
    "update",
    [
        CHUNK + "}",
        CHUNK + ',"new":{"messageId":1},"message_id":2}',
        ' {"sessionUpdate":"plan","entries":[{"content":1}], "_meta":[]} ',
        '{"sessionUpdate":"tool_call_update","toolCallId":"1","locations":[{"path":1},{"path":"/a"}],"rawInput":{"a":1.5}}',
        '{"sessionUpdate":"newer","value":[1,{}]}',
    ],
)
@pytest.mark.parametrize("protocol", [v1, v2])
def test_an_update_is_read_as_by_the_thorough_reader(update: str, protocol: Any) -> None:
    codec = Codec(protocol, role="client")
    expected = Thorough(protocol, role="client").read(f"{UPDATE}{update}}}}}")
    codec.read(f'{UPDATE}{{"sessionUpdate":"newer"}}}}}}')

    found = codec.read_update(f"{UPDATE}{update}}}}}".encode(), sessions={"s"})

    assert found == (("s", expected.params.update) if isinstance(expected, Notification) else None)


@pytest.mark.parametrize(
    "text",
    [
        f'{UPDATE}{CHUNK}}},"_meta":{{}}}}}}',
        f'{UPDATE}{CHUNK}}},"sessionId":"t"}}}}',
        f"{UPDATE}{CHUNK}}}}}}}\r",
        f"{UPDATE}{CHUNK}}}xx",
        f"{UPDATE}{CHUNK}}}}}",
        f'{UPDATE}{CHUNK},"new":1e999}}}}}}',
        f'{UPDATE}{CHUNK},"new":NaN}}}}}}',
    ],
)
def test_any_other_line_is_not_read_as_an_update(text: str) -> None:
    codec = client()
    assert codec.read_update(f"{UPDATE}{CHUNK}}}}}}}".encode(), sessions={"s"}) is None
    codec.read(f"{UPDATE}{CHUNK}}}}}}}")

    assert codec.read_update(f"{UPDATE}{CHUNK}}}}}}}".encode(), sessions={"s"}) is not None
    assert codec.read_update(f"{UPDATE}{CHUNK}}}}}}}".encode(), sessions=()) is None
    assert codec.read_update(text.encode(), sessions={"s", "t"}) is None


def test_updates_of_several_sessions_are_read_in_turns() -> None:
    codec = client()
    codec.read(f"{UPDATE}{CHUNK}}}}}}}")
    for id_ in ("s", "t", "s"):
        line = f"{UPDATE}{CHUNK}}}}}}}".replace('"s"', f'"{id_}"')
        found = codec.read_update(line.encode(), sessions={"s", "t"})
        assert found is not None
        assert found[0] == id_


def test_no_update_is_read_before_the_version_is_negotiated() -> None:
    codec = Codec(OPENING, role="client")
    codec.read(f"{UPDATE}{CHUNK}}}}}}}")
    assert codec.read_update(f"{UPDATE}{CHUNK}}}}}}}".encode(), sessions={"s"}) is None


def test_an_update_is_read_by_the_current_protocol() -> None:
    codec = client()
    codec.read(f"{UPDATE}{CHUNK}}}}}}}")
    codec.protocol = v2
    assert codec.read_update(f"{UPDATE}{CHUNK}}}}}}}".encode(), sessions={"s"}) is None

"""`decode` and `encode`: their input, their output, and their errors."""

import json
import math
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import Discriminator, Field, RootModel, Tag
from pydantic import Json as PydanticJson
from typing_extensions import TypedDict

from acp_bindings import DecodeError, Issue, decode, encode, v1, v1_unstable, v2
from tests.acp_bindings.exact_json import Json

REQUEST: Json = {"cwd": "/é/😀", "mcpServers": [{"name": "s", "command": "/bin/s", "args": ["-v"], "env": []}]}
SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    "given",
    [
        json.dumps(REQUEST),
        json.dumps(REQUEST, ensure_ascii=False),
        json.dumps(REQUEST, indent=2).encode(),
        bytearray(json.dumps(REQUEST, ensure_ascii=False), "utf-8"),
        REQUEST,
    ],
    ids=["str", "str, not escaped", "bytes", "bytearray", "parsed"],
)
def test_json_is_accepted_in_any_form(given: Json) -> None:
    request = decode(v1.NewSessionRequest, given)
    assert type(request) is v1.NewSessionRequest
    assert json.loads(encode(request)) == REQUEST


def test_parsed_json_is_left_as_it_was() -> None:
    given = {"cwd": "/", "mcpServers": None, "_meta": {"a": [1]}}
    decode(v1.NewSessionRequest, given)
    assert given == {"cwd": "/", "mcpServers": None, "_meta": {"a": [1]}}


@pytest.mark.parametrize(
    ("model_type", "given", "value"),
    [
        (v1.SessionId, '"s"', "s"),
        (v1.StopReason, '"end_turn"', "end_turn"),
        (v1.ProtocolVersion, "1", 1),
        (v1.RequestId, "null", None),
        (v1.ErrorCode, "-32603", -32603),
        (v2.ToolKind, '"x-vendor"', "x-vendor"),
    ],
)
def test_an_alias_decodes_to_its_plain_value_and_back(model_type: Json, given: str, value: Json) -> None:
    assert decode(model_type, given) == value
    assert encode(decode(model_type, given)) == given.encode()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_lacks_is_refused_in_parsed_input_too(number: float) -> None:
    with pytest.raises(DecodeError):
        decode(v1.Cost, {"amount": number, "currency": "EUR"})
    with pytest.raises(DecodeError):
        decode(v1.TextContent, {"text": "t", "_meta": {"deep": [number]}})


def test_the_issues_of_a_decode_error_name_place_rule_and_reason() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(v1.NewSessionRequest, {"cwd": 5, "mcpServers": [{"name": "s", "command": "/s", "args": []}]})
    assert isinstance(caught.value, ValueError)
    places = {issue.path for issue in caught.value.issues}
    assert places == {("cwd",), ("mcpServers", 0, "env")}
    assert all(issue.rule and issue.message for issue in caught.value.issues)
    assert "NewSessionRequest" in str(caught.value)


@pytest.mark.parametrize(
    "server",
    [
        {"name": "s", "command": "/s", "args": [], "env": [{"name": "TOKEN", "value": [SECRET]}]},
        {"name": "s", "command": "/s", "args": [], "env": {"TOKEN": SECRET}},
        {"name": "s", "command": "/s", "args": [], "env": SECRET},
        {"name": "s", "command": "/s", "env": [{"name": "TOKEN", "value": SECRET}]},
        {"type": "http", "name": "s", "url": "https://h", "headers": [{"name": "Authorization", "valeu": SECRET}]},
        {"type": "http", "name": "s", "headers": [{"name": "Authorization", "value": SECRET}]},
        {"type": "http", "name": "s", "url": [f"https://user:{SECRET}@h/?key={SECRET}"], "headers": []},
        {"type": {"value": SECRET}, "name": "s"},
    ],
)
@pytest.mark.parametrize("as_text", [True, False], ids=["text", "parsed"])
def test_errors_do_not_contain_values_of_the_input(server: Json, *, as_text: bool) -> None:
    request: Json = {"cwd": "/", "mcpServers": [server]}
    with pytest.raises(DecodeError) as caught:
        decode(v1.NewSessionRequest, json.dumps(request) if as_text else request)
    shown = f"{caught.value} {caught.value!r} {caught.value.issues} {caught.value.args}"
    error: BaseException | None = caught.value
    # What a traceback would print: the chain as far as it is not suppressed.
    while error := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        shown += str(error)
    assert SECRET not in shown


def test_the_error_of_a_list_and_its_context_do_not_contain_values_of_the_input() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(list[v1.EnvVariable], [{"name": "TOKEN", "value": [SECRET]}])
    assert SECRET not in f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"


def test_encoding_is_compact_and_not_escaped() -> None:
    block = v1.TextContent(text="é😀\u2028")
    assert encode(block) == '{"type":"text","text":"é😀\u2028"}'.encode()


def test_tags_are_always_written_except_for_stdio_in_v1() -> None:
    assert json.loads(encode(v1.McpServerHttp(name="h", url="u", headers=[])))["type"] == "http"
    assert "type" not in json.loads(encode(v1.McpServerStdio(name="s", command="/s", args=[], env=[])))
    assert json.loads(encode(v2.McpServerStdio(name="s", command="/s")))["type"] == "stdio"


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (v1.NewSessionRequest, {"cwd": "/", "mcp_servers": [], "timeout": 5}),
        (v1.NewSessionRequest, {"cwd": "/", "mcpservers": []}),
        (v1.NewSessionRequest, {"cwd": "/"}),
        (v1.NewSessionRequest, {"cwd": "/", "mcp_servers": None}),
        (v1.NewSessionRequest, {"cwd": "/", "mcp_servers": ["s"]}),
        (v1.NewSessionRequest, {"cwd": "/", "mcp_servers": [], "additional_directories": ["/a", 5]}),
        *((v1.InitializeRequest, {"protocol_version": version}) for version in ("1", True, 1.0, None, -1, 65536)),
        (v1.Implementation, {"name": "n", "version": "1", "title": 5}),
        (v1.Plan, {"entries": None}),
    ],
)
def test_building_a_model_is_strict(kind: Callable[..., object], arguments: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        kind(**arguments)


@pytest.mark.parametrize("flag", ["true", "yes", 1, 0, 1.0, "on"])
def test_a_boolean_is_a_boolean(flag: Json) -> None:
    capabilities = decode(v1.FileSystemCapabilities, {"readTextFile": flag, "writeTextFile": True})
    assert capabilities == v1.FileSystemCapabilities(read_text_file=False, write_text_file=True)
    with pytest.raises(DecodeError):
        decode(v1.FileSystemCapabilities, {"readTextFile": flag}, strict=True)


@pytest.mark.parametrize(
    ("type_", "message", "issue"),
    [
        (v2.AuthMethod, {"type": "_acme", "name": "Acme"}, "methodId: Field required (in OtherAuthMethod)"),
        (v2.AuthMethod, {"type": 5, "name": "Acme", "methodId": "a"}, "type: Input should be a valid string"),
        (
            v2.SessionConfigOption,
            {"type": "zz", "configId": "a", "name": 5},
            "name: Input should be a valid string (in OtherSessionConfigOption)",
        ),
        (v1.CreateElicitationRequest, {"mode": "zz", "sessionId": "s"}, "message: Field required"),
        (v1.SessionUpdate, {"sessionUpdate": 5}, "sessionUpdate: Input should be a valid string"),
    ],
)
def test_errors_in_an_object_with_an_unknown_tag_name_the_catch_all(
    type_: Any, message: dict[str, Any], issue: str
) -> None:
    with pytest.raises(DecodeError) as raised:
        decode(type_, message)

    assert str(raised.value).partition(": ")[2].startswith(issue)


@pytest.mark.parametrize(
    ("tag", "shown"),
    [
        ("htpp", "'htpp'"),
        ("x-mine/1.0:a", "'x-mine/1.0:a'"),
        ("a" * 40, f"'{'a' * 40}'"),
        ("a" * 41, "This"),
        (SECRET + " ", "This"),
        ([SECRET], "This"),
    ],
)
def test_an_unknown_tag_is_quoted_if_it_is_a_word(tag: Json, shown: str) -> None:
    issue = Issue(("type",), "union_tag_invalid", f"{shown} is not one of 'http', 'sse', 'stdio'")
    assert issues_of(v1.McpServer, {"type": tag, "name": "x", "url": "https://example.com"}) == [issue]


def test_a_missing_tag_is_reported_as_a_missing_field() -> None:
    assert issues_of(v1.ContentBlock, {"text": "t"}) == [Issue(("type",), "union_tag_not_found", "Field required")]
    # The error does not name the variant for unknown discriminators.
    assert issues_of(v2.McpServer, {"name": "s"}) == [Issue(("type",), "missing", "Field required")]
    assert issues_of(v1.SessionUpdate, {}) == [Issue(("sessionUpdate",), "missing", "Field required")]


def test_a_null_tag_is_reported_like_a_missing_one() -> None:
    """Many peers send null for an absent value. In v1, a command may have no type and so may have null."""
    assert issues_of(v1.McpServer, {"type": None, "name": "s", "command": "/s", "args": []}) == [
        Issue(("env",), "missing", "Field required", "McpServerStdio")
    ]
    for union in (v1.ContentBlock, v2.ContentBlock):
        issues = issues_of(union, {"type": None, "text": "t"})
        assert [(each.path, each.message, each.branch) for each in issues] == [
            (("type",), "Input should be a valid string", None)
        ]
    # Only Python treats that as null.
    assert issues_of(v1.McpServer, {"type": "None", "name": "s", "command": "/s"}) == [
        Issue(("type",), "union_tag_invalid", "'None' is not one of 'http', 'sse', 'stdio'")
    ]


@pytest.mark.parametrize(
    ("type_", "number", "message"),
    [
        (v1.Cost, '"1"', "amount: Input should be a valid number"),
        (v1.Cost, "true", "amount: Input should be a valid number"),
        (v1.Cost, "1e999", "amount: Input should be a finite number"),
        (v2.Annotations, "1.5", "priority: Input should be less than or equal to 1"),
        (v2.Annotations, "-1", "priority: Input should be greater than or equal to 0"),
    ],
)
def test_errors_about_numbers_do_not_suggest_integers(type_: Any, number: str, message: str) -> None:
    member = message.partition(":")[0]
    with pytest.raises(DecodeError) as raised:
        decode(type_, f'{{"{member}": {number}, "currency": "EUR"}}', strict=True)
    assert [str(issue) for issue in raised.value.issues] == [message]


def chunk(content: Json) -> Json:
    return {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content}


OPTION: Json = {"value": "a", "name": "A"}
GROUP: Json = {"group": "g", "groupId": "g", "name": "G", "options": [OPTION]}
NAMELESS: Json = {"group": "g", "groupId": "g", "options": [OPTION]}
SERVERS: list[Json] = [
    {"type": "http", "name": "h"},
    {"name": "s", "command": "/s", "args": [1, 2]},
    {"type": "sse", "name": "e", "headers": []},
]
FORM: Json = {"properties": {"a": {"type": "string", "minLength": "x"}, "b": {"type": "number", "minimum": "x"}}}
KINDS = "'text', 'image', 'audio', 'resource_link', 'resource'"
OPTIONS: list[tuple[Json, str]] = [
    ({}, ": Input should be a valid array (in list of SessionConfigSelectOption)"),
    ([OPTION, 5], "[1]: Input should be an object (in list of SessionConfigSelectOption)"),
    ([GROUP, NAMELESS, GROUP], "[1].name: Field required (in list of SessionConfigSelectGroup)"),
]
TOLD: list[tuple[Any, Json, list[str]]] = [
    (
        v1.NewSessionRequest,
        {"cwd": "/", "mcpServers": SERVERS},
        [
            "mcpServers[0].url: Field required (in http)",
            "mcpServers[0].headers: Field required (in http)",
            "mcpServers[1].args[0]: Input should be a valid string (in McpServerStdio)",
            "mcpServers[1].args[1]: Input should be a valid string (in McpServerStdio)",
            "mcpServers[1].env: Field required (in McpServerStdio)",
            "mcpServers[2].url: Field required (in sse)",
        ],
    ),
    (v1.SessionUpdate, chunk({"type": "text"}), ["content.text: Field required (in text)"]),
    (v1.SessionUpdate, chunk({"type": "zz"}), [f"content.type: 'zz' is not one of {KINDS} (in agent_message_chunk)"]),
    (v1.SessionUpdate, chunk({}), ["content.type: Field required (in agent_message_chunk)"]),
    (v2.SessionUpdate, chunk({}), ["content.type: Field required (in agent_message_chunk)"]),
    (
        v1.ElicitationSchema,
        FORM,
        [
            "properties.a.minLength: Input should be a valid integer (in string)",
            "properties.b.minimum: Input should be a valid number (in number)",
        ],
    ),
    (
        v1.EmbeddedResource,
        {"resource": {"uri": "u", "blob": 5}},
        ["resource.blob: Input should be a valid string (in BlobResourceContents)"],
    ),
    (
        v1.EmbeddedResource,
        {"resource": {}},
        [
            "resource.text: Field required (in TextResourceContents)",
            "resource.uri: Field required (in TextResourceContents)",
        ],
    ),
    (
        v1_unstable.MessageMcpResponse,
        {"error": {"code": "x"}},
        [
            "error.code: Input should be a valid integer (in MessageMcpResponseError)",
            "error.message: Field required (in MessageMcpResponseError)",
        ],
    ),
    (
        v1.MultiSelectItems,
        {"anyOf": [{"const": 1, "title": "T"}]},
        ["anyOf[0].const: Input should be a valid string (in TitledMultiSelectItems)"],
    ),
    (v1.RequestId, {}, ["Input should be a valid integer"]),
    *(
        (package.SessionConfigSelect, {"currentValue": "a", "options": options}, [f"options{told}"])
        for package in (v1, v2)
        for options, told in OPTIONS
    ),
]


@pytest.mark.parametrize(("type_", "message", "told"), TOLD)
def test_an_issue_names_the_innermost_variant_that_fits_best(type_: Any, message: Json, told: list[str]) -> None:
    assert [*map(str, issues_of(type_, message))] == told


@pytest.mark.parametrize("name", ["<null>", "<value>", "<tagged>", "<integer>", "string", "0"])
@pytest.mark.parametrize("strict", [False, True])
def test_any_name_in_a_map_is_reported_unchanged(name: str, *, strict: bool) -> None:
    for type_, around, message in (
        (v1.AuthMethodTerminal, ("env",), {"id": "a", "name": "n", "env": {name: 5}}),
        (v1.ElicitationSchema, ("properties",), {"properties": {name: 5}}),
        (v1.ElicitationAcceptAction, ("content",), {"content": {name: None}}),
        (dict[str, v1.NewSessionRequest], (), {name: 5}),
    ):
        with pytest.raises(DecodeError) as raised:
            decode(type_, message, strict=strict)
        assert [issue.path for issue in raised.value.issues] == [(*around, name)]


def issues_of(type_: Any, message: Json) -> list[Issue]:
    with pytest.raises(DecodeError) as raised:
        decode(type_, message)
    return list(raised.value.issues)


@dataclass
class Started:
    """A user's dataclass."""

    server: v1.McpServer
    tries: int = 0


class Named(TypedDict):
    """A user's dictionary type."""

    server: v1.McpServer


ARGUED: Json = {"name": "s", "command": "/s", "args": [5], "env": None}


@pytest.mark.parametrize(
    ("type_", "given", "path"),
    [
        (Sequence[v1.McpServer], [ARGUED], (0,)),
        (deque[v1.McpServer], [ARGUED], (0,)),
        (Mapping[str, v1.McpServer], {"a": ARGUED}, ("a",)),
        (OrderedDict[str, v1.McpServer], {"a": ARGUED}, ("a",)),
        (list[PydanticJson[v1.McpServer]], [json.dumps(ARGUED)], (0,)),
        (RootModel[v1.McpServer], ARGUED, ()),
    ],
)
def test_errors_in_other_collections_are_reported_as_in_lists(
    type_: Any, given: Json, path: tuple[str | int, ...]
) -> None:
    assert issues_of(type_, given) == [
        Issue((*path, "args", 0), "string_type", "Input should be a valid string", "McpServerStdio")
    ]


def test_errors_in_unions_of_users_name_the_wire_name_of_the_tag() -> None:
    chunk = Annotated[v1.UserMessageChunk | v1.AgentMessageChunk, Field(discriminator="session_update")]
    path = ("sessionUpdate",)
    assert issues_of(chunk, {}) == [Issue(path, "union_tag_not_found", "Field required")]
    assert issues_of(chunk, {"sessionUpdate": "plan"}) == [
        Issue(path, "union_tag_invalid", "'plan' is not one of 'user_message_chunk', 'agent_message_chunk'")
    ]
    assert issues_of(list[chunk], [{"sessionUpdate": None}]) == [
        Issue((0, *path), "union_tag_not_found", "Input should be a valid string")
    ]


def test_errors_in_unions_with_a_discriminator_function_name_no_tag() -> None:
    def kind(given: Any) -> str | None:
        return given.get("kind")

    arms = Annotated[v1.Implementation, Tag("info")] | Annotated[v1.EnvVariable, Tag("variable")]
    either = Annotated[arms, Discriminator(kind)]
    (untold,) = issues_of(list[either], [{}])
    assert (untold.path, untold.rule) == ((0,), "union_tag_not_found")
    assert "using discriminator" in untold.message
    for tag in ("None", "plan"):
        assert issues_of(list[either], [{"kind": tag}]) == [
            Issue((0,), "union_tag_invalid", f"'{tag}' is not one of 'info', 'variable'")
        ]


def test_composed_types_of_users_are_read_like_fields() -> None:
    server: Json = {"name": "s", "command": "/s", "args": [], "env": []}
    made = v1.McpServerStdio(name="s", command="/s", args=[], env=[])

    assert decode(Started, {"server": server}) == Started(made)
    assert decode(list[Started], [{"server": server}]) == [Started(made)]
    assert decode(Named, {"server": server}) == {"server": made}
    assert decode(Annotated[Started, "any mark"], {"server": server}, strict=True) == Started(made)
    for type_ in (Started, Named):
        with pytest.raises(DecodeError, match=rf"^{type_.__name__}: server\.command: Input should be a valid string"):
            decode(type_, {"server": {**server, "command": 5}})

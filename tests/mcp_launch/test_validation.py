"""Results of tools are validated against schemas of servers, which cannot delay anything else."""

from __future__ import annotations

import json
import os
import random
import traceback
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client, MCPError
from mcp_types import PromptReference

from mcp_launch import Budgets, InvalidResult, Options, launch
from mcp_launch import _validation as validation
from mcp_launch._killable import KillableProcess
from mcp_launch._servers.sdk_session import ResultValidator
from mcp_launch._validation import STEPS, InvalidSchema, is_plain, is_small
from tests.mcp_launch import support
from tests.mcp_launch.servers.raw import Request, raw_server, reply, works
from tests.mcp_launch.support import SECRET, Marked, ask, http

pytestmark = pytest.mark.anyio

Schema = dict[str, Any]
PATTERN: Schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
"""A schema with a pattern that takes exponential time, and a value that triggers it."""
PATTERN_VALUE = {"a": "a" * 60 + "!"}
NUMBER: Schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
QUICK = Budgets(validate=0.5)


def fan(width: int = 2, depth: int = 40, word: str = "allOf") -> Schema:
    """Return a schema of *depth* definitions, each of which refers to the next one *width* times."""
    definitions = {f"d{n}": {word: [{"$ref": f"#/$defs/d{n + 1}"}] * width} for n in range(depth)}
    return {"type": "object", "$ref": "#/$defs/d0", "$defs": {**definitions, f"d{depth}": {"type": "object"}}}


def scripted(marked: Marked, folder: Path, **script: Any) -> Schema:
    """Return the entry of a server with these tools and responses."""
    return marked.stdio("scripted", *support.scripted(folder, **script))


validating = partial(support.validating, os.getpid())


def tool(output_schema: Any, structured: Any, *, is_error: bool = False) -> dict[str, Any]:
    """Return the script of a server with one tool that has this schema and this result."""
    listed = {"name": "tool", "inputSchema": {"type": "object"}, "outputSchema": output_schema}
    result = {"content": [{"type": "text", "text": "said"}], "structuredContent": structured, "isError": is_error}
    return {"tools": [listed], "tool": {"result": result}}


async def refusal(entry: Schema, *, budgets: Budgets = QUICK) -> InvalidResult:
    """Return the exception that a call of the tool raises."""
    async with launch([entry], cwd="/", budgets=budgets) as fleet:
        with pytest.raises(InvalidResult) as caught:
            await fleet["scripted"].session.call_tool("tool")
    return caught.value


HOSTILE = pytest.mark.parametrize(
    ("schema", "value"), [(PATTERN, PATTERN_VALUE), (fan(), {})], ids=["pattern", "nested references"]
)


@HOSTILE
async def test_a_schema_that_takes_too_long_is_rejected_and_the_result_is_available(
    schema: Schema, value: Any, marked: Marked, tmp_path: Path
) -> None:
    error = await refusal(scripted(marked, tmp_path, **tool(schema, value)))

    assert (error.server, error.method, error.name, error.path) == ("scripted", "tools/call", "tool", "")
    assert error.schema_rejected
    assert error.reason == "validating the result took longer than 0.5 s"
    assert error.result is not None
    assert error.result.structured_content == value
    assert str(error) == f"scripted: tool: its outputSchema was rejected: {error.reason}; the result was not validated"
    assert validating() == []


@HOSTILE
async def test_other_servers_are_served_while_a_schema_is_evaluated_and_a_cancelled_call_ends_that(
    schema: Schema, value: Any, marked: Marked, tmp_path: Path
) -> None:
    servers = [scripted(marked, tmp_path, **tool(schema, value)), marked.echo()]

    with anyio.fail_after(60):
        async with launch(servers, cwd="/", budgets=Budgets(validate=600)) as fleet, anyio.create_task_group() as tasks:
            tasks.start_soon(fleet["scripted"].session.call_tool, "tool")
            while not validating():
                await anyio.sleep(0.01)
            for _ in range(10):
                assert await ask(fleet["echo"].session, "environment", name="SECRET") == SECRET
            tasks.cancel_scope.cancel()
        assert validating() == []


async def test_a_fleet_that_ends_while_a_schema_is_evaluated_leaves_no_process(marked: Marked, tmp_path: Path) -> None:
    async def call_in_vain(session: Client) -> None:
        with pytest.raises(InvalidResult):
            await session.call_tool("tool")

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            async with launch([scripted(marked, tmp_path, **tool(PATTERN, PATTERN_VALUE))], cwd="/") as fleet:
                tasks.start_soon(call_in_vain, fleet["scripted"].session)
                while not validating():
                    await anyio.sleep(0.01)
            assert validating() == []


async def test_a_small_schema_is_evaluated_without_a_process(marked: Marked, tmp_path: Path) -> None:
    async with launch([scripted(marked, tmp_path, **tool(NUMBER, {"n": 1}))], cwd="/") as fleet:
        result = await fleet["scripted"].session.call_tool("tool")
        assert validating() == []

    assert result.structured_content == {"n": 1}


async def test_a_schema_with_a_pattern_is_evaluated_in_one_reused_process(marked: Marked, tmp_path: Path) -> None:
    async with launch([scripted(marked, tmp_path, **tool(PATTERN, {"a": "aaa"}))], cwd="/") as fleet:
        await fleet["scripted"].session.call_tool("tool")
        first = validating()
        await fleet["scripted"].session.call_tool("tool")
        assert (len(first), validating()) == (1, first)


INVALID: list[tuple[Schema, Any, str, str]] = [
    (NUMBER, {"n": "x"}, "structuredContent.n", "'x' is not of type 'integer'"),
    (NUMBER, {}, "structuredContent", "'n' is a required property"),
    (
        {"type": "object", "properties": {"l": {"type": "array", "items": NUMBER}}},
        {"l": [{"n": 1}, {"n": None}]},
        "structuredContent.l[1].n",
        "None is not of type 'integer'",
    ),
    (PATTERN, {"a": "b"}, "structuredContent.a", "'b' does not match '^(a+)+$'"),
    (
        {"type": "object", "properties": {"l": {"type": "array", "uniqueItems": True}}},
        {"l": [1, 1]},
        "structuredContent.l",
        "[1, 1] has non-unique elements",
    ),
]


@pytest.mark.parametrize(("schema", "value", "path", "reason"), INVALID)
async def test_a_result_that_does_not_match_its_schema_is_an_error_with_the_place(
    *, schema: Schema, value: Any, path: str, reason: str, marked: Marked, tmp_path: Path
) -> None:
    error = await refusal(scripted(marked, tmp_path, **tool(schema, value)), budgets=Budgets())

    assert (error.path, error.reason, error.schema_rejected) == (path, reason, False)
    assert error.result is not None
    assert error.result.structured_content == value
    assert str(error) == f"scripted: tool: the result does not match its outputSchema: {path}: {reason}"


async def test_a_missing_structured_result_is_an_error(marked: Marked, tmp_path: Path) -> None:
    script = tool(NUMBER, None)
    del script["tool"]["result"]["structuredContent"]

    error = await refusal(scripted(marked, tmp_path, **script))

    assert (error.path, error.reason) == ("structuredContent", "is missing, but the tool has an outputSchema")


async def test_the_result_of_a_tool_that_failed_is_not_validated(marked: Marked, tmp_path: Path) -> None:
    async with launch([scripted(marked, tmp_path, **tool(NUMBER, {"n": "x"}, is_error=True))], cwd="/") as fleet:
        result = await fleet["scripted"].session.call_tool("tool")

    assert result.is_error


REJECTED: list[tuple[Schema, Any, str]] = [
    ({"type": "object", "properties": {"a": {"type": "strng"}}}, {}, "it is not a valid JSON schema: /properties/a/"),
    ({"type": "object", "properties": {"a": {"pattern": "("}}}, {}, "it is not a valid JSON schema: /properties/a/"),
    ({"type": "object", "$ref": "#/$defs/a"}, {}, 'it refers to "/$defs/a", which it does not contain'),
    ({"type": "object", "$ref": "#", "minProperties": 0}, {}, "evaluating it recurses too deeply"),
    (
        {"type": "object", "properties": {"a": {"multipleOf": 0.5}}},
        {"a": 10**400},
        "it cannot be evaluated (OverflowError)",
    ),
]


@pytest.mark.parametrize(("schema", "value", "reason"), REJECTED)
async def test_a_schema_that_cannot_be_evaluated_is_rejected_with_the_reason(
    *, schema: Schema, value: Any, reason: str, marked: Marked, tmp_path: Path
) -> None:
    error = await refusal(scripted(marked, tmp_path, **tool(schema, value)), budgets=Budgets())

    assert error.schema_rejected
    assert error.reason.startswith(reason)
    assert error.result is not None


@pytest.mark.parametrize("word", ["$ref", "$dynamicRef", "$schema", "$id"])
async def test_references_in_a_schema_are_not_fetched(word: str, marked: Marked, tmp_path: Path) -> None:
    with raw_server(lambda _: [reply(200, b"{}")]) as raw:
        part: Schema = {word: f"{raw.origin}/schema.json"}
        if word == "$id":
            part["$ref"] = "other.json"
        schema = {"type": "object", "properties": {"a": part}, "required": ["a"]}
        async with launch([scripted(marked, tmp_path, **tool(schema, {"a": 1}))], cwd="/") as fleet:
            if word == "$schema":
                await fleet["scripted"].session.call_tool("tool")
            else:
                with pytest.raises(InvalidResult, match="which it does not contain") as caught:
                    await fleet["scripted"].session.call_tool("tool")
                assert caught.value.schema_rejected

    assert raw.seen == []


async def test_a_tool_that_is_not_listed_is_listed_once_and_its_result_is_not_validated(
    marked: Marked, tmp_path: Path
) -> None:
    def count(_: str, direction: str, line: str) -> None:
        if direction == "sent":
            methods.append(json.loads(line)["method"])

    methods: list[str] = []
    entry = scripted(marked, tmp_path, **{**tool(NUMBER, {"n": "x"}), "tools": []})

    async with launch([entry], cwd="/", options=Options(traffic=count)) as fleet:
        session = fleet["scripted"].session
        for _ in range(3):
            assert (await session.call_tool("tool")).structured_content == {"n": "x"}

    assert methods.count("tools/list") == 2, "once for the launch, and once for the calls"


async def test_a_result_is_not_lost_where_the_schema_cannot_be_listed(marked: Marked, tmp_path: Path) -> None:
    script = {**tool(NUMBER, {"n": "x"}), "tools/list": {"error": {"code": -1, "message": "no"}}}

    async with launch([scripted(marked, tmp_path, **script)], cwd="/", lists=()) as fleet:
        result = await fleet["scripted"].session.call_tool("tool")

    assert result.structured_content == {"n": "x"}


Call = Callable[[Client], Any]
CALLS: dict[str, Call] = {
    "tools/call": lambda session: session.call_tool("tool"),
    "tools/list": lambda session: session.list_tools(cache_mode="bypass"),
    "resources/list": lambda session: session.list_resources(),
    "resources/templates/list": lambda session: session.list_resource_templates(),
    "resources/read": lambda session: session.read_resource("memo://today"),
    "prompts/list": lambda session: session.list_prompts(),
    "prompts/get": lambda session: session.get_prompt("greet"),
    "completion/complete": lambda session: session.complete(
        PromptReference(type="ref/prompt", name="greet"), {"name": "a", "value": "b"}
    ),
    "logging/setLevel": lambda session: session.set_logging_level("info"),  # pyright: ignore[reportDeprecated]
    "resources/subscribe": lambda session: session.subscribe_resource("memo://"),  # pyright: ignore[reportDeprecated]
}
EACH_CALL = pytest.mark.parametrize("method", CALLS)
deprecated = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")


def said_by(error: BaseException) -> str:
    """Return everything that an exception shows."""
    shown = [error, error.args, vars(error), error.__cause__, error.__context__, *traceback.format_exception(error)]
    return "\n".join(f"{each}\n{each!r}" for each in shown)


@EACH_CALL
@deprecated
async def test_an_error_of_a_server_shows_no_secret(method: str, marked: Marked, tmp_path: Path) -> None:
    error = {"code": -5, "message": "no $SECRET", "data": {"why": ["$SECRET"]}}
    entry = scripted(marked, tmp_path, **{method: {"error": error}})

    async with launch([entry], cwd="/", lists=()) as fleet:
        with pytest.raises(MCPError) as caught:
            await CALLS[method](fleet["scripted"].session)

    assert (caught.value.code, caught.value.message) == (-5, "no [redacted]")
    assert caught.value.data == {"why": ["[redacted]"]}
    assert SECRET not in said_by(caught.value)


@EACH_CALL
@deprecated
async def test_a_result_that_is_not_valid_mcp_is_an_error_that_shows_no_secret(
    method: str, marked: Marked, tmp_path: Path
) -> None:
    lists = ("content", "tools", "resources", "resourceTemplates", "contents", "prompts", "messages")
    wrong = {**dict.fromkeys((*lists, "completion"), "$SECRET"), "_meta": "$SECRET"}
    entry = scripted(marked, tmp_path, **{method: {"result": wrong}})

    async with launch([entry], cwd="/", lists=()) as fleet:
        with pytest.raises(InvalidResult) as caught:
            await CALLS[method](fleet["scripted"].session)

    error = caught.value
    assert (error.server, error.method, error.name, error.result) == ("scripted", method, None, None)
    assert str(error) == (
        f"scripted: {method}: the result is not valid MCP: {error.path}: {error.reason}; "
        "is there a newer release of the server?"
    )
    assert SECRET not in said_by(error)


IMAGE = {"type": "image", "data": "aGk="}
NEITHER = {"type": "resource", "resource": {"uri": "memo://a"}}


@pytest.mark.parametrize(
    ("method", "result", "wrong"),
    [
        ("tools/call", {"content": [IMAGE]}, "content/0/mimeType: field required"),
        ("tools/call", {"content": [NEITHER]}, "content/0/resource/text: field required"),
        ("tools/call", {"content": [{"type": "table"}]}, "content/0/type: unknown type 'table'"),
        ("tools/call", {"content": [{"type": "$SECRET"}]}, "content/0/type: unknown type '[redacted]'"),
        ("tools/call", {"content": [{"data": "aGk="}]}, "content/0/type: field required"),
        ("tools/call", {"content": ["a"]}, "content/0: must be an object"),
        (
            "prompts/get",
            {"messages": [{"role": "user", "content": IMAGE}]},
            "messages/0/content/mimeType: field required",
        ),
        ("resources/read", {"contents": [{"uri": "memo://a"}]}, "contents/0/text: field required"),
    ],
)
async def test_the_error_of_content_is_that_of_its_type(
    method: str, result: Any, wrong: str, marked: Marked, tmp_path: Path
) -> None:
    entry = scripted(marked, tmp_path, **{method: {"result": result}})

    async with launch([entry], cwd="/", lists=()) as fleet:
        with pytest.raises(InvalidResult) as caught:
            await CALLS[method](fleet["scripted"].session)

    assert f"{caught.value.path}: {caught.value.reason}" == wrong


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({"type": "array"}, "tools/1/inputSchema/type: input should be 'object' (in \"read_[redacted]\")"),
        ({"properties": 1}, "tools/1/inputSchema/"),
    ],
)
async def test_the_error_of_a_list_names_the_tool(
    schema: dict[str, Any], wrong: str, marked: Marked, tmp_path: Path
) -> None:
    names = {"first": {"type": "object"}, "read_$SECRET": schema}
    tools = [{"name": name, "inputSchema": schema} for name, schema in names.items()]
    entry = scripted(marked, tmp_path, **{"tools/list": {"result": {"tools": tools}}})

    async with launch([entry], cwd="/") as fleet:
        [failure] = fleet.failures

    assert f"sent a response that is not valid MCP: {wrong}" in failure.message
    assert '(in "read_[redacted]")' in failure.message


async def test_a_result_that_does_not_match_its_schema_shows_no_secret(marked: Marked, tmp_path: Path) -> None:
    error = await refusal(scripted(marked, tmp_path, **tool(NUMBER, {"n": "$SECRET"})))

    assert error.reason == "'[redacted]' is not of type 'integer'"
    assert error.result is not None
    assert error.result.structured_content == {"n": SECRET}, "an agent needs the result as it is"
    assert SECRET not in "".join(traceback.format_exception(error))


@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*async_generator object:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("in_stream", [False, True], ids=["JSON", "event stream"])
async def test_an_error_over_http_shows_no_secret(*, in_stream: bool, marked: Marked) -> None:
    def refuses(request: Request) -> Iterator[bytes]:
        if request.asks != "tools/call":
            yield works(request)
            return
        said = {"code": -5, "message": f"no {request.headers['authorization']}", "data": [request.target]}
        body = json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "error": said})
        kind = "text/event-stream" if in_stream else "application/json"
        yield reply(200, (f"data: {body}\n\n" if in_stream else body).encode(), content_type=kind)

    with raw_server(refuses) as raw:
        entry = http(f"{raw.origin}/mcp?key=of-the-url", headers={"Authorization": f"Bearer {SECRET}"})
        async with launch([entry], cwd="/") as fleet:
            with pytest.raises(MCPError) as caught:
                await fleet["web"].session.call_tool("tool")

    assert (caught.value.message, caught.value.data) == ("no [redacted]", ["/mcp?[redacted]"])
    assert SECRET not in said_by(caught.value)


PLAIN: list[Any] = [
    {"type": "object"},
    NUMBER,
    {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "#/definitions/a"}}},
    {"properties": {"pattern": {"type": "string"}}},
    {"properties": {"$id": {"type": "string"}, "$ref": {"type": "string"}}},
    {"$id": "https://example.com/schema", "anyOf": [{"enum": [1, "a"]}, {"const": None}, {"not": {}}]},
    {"additionalProperties": {"$ref": "#"}, "format": "regex"},
    fan(),
]
COSTLY: list[Any] = [
    True,
    PATTERN,
    {"patternProperties": {"a": {}}},
    {"properties": {"a": {"uniqueItems": True}}},
    # Where a schema is only referred to, nothing checks whether its keywords have values of the right types.
    {"$ref": "#/default", "default": {"uniqueItems": {"a": 1}}},
    {"$ref": "#/default", "default": {"patternProperties": ["^(a+)+$"], "additionalProperties": False}},
    {"$ref": "#/default", "default": {"$ref": ["#"]}},
    {"unevaluatedProperties": False},
    {"anyOf": [{"unevaluatedItems": {}}]},
    {"$defs": {"a": {"$dynamicAnchor": "a"}}},
    {"$recursiveRef": "#"},
    {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    {"$ref": "#a"},
    {"$ref": f"#/{'a/' * 100}"},
    {"$defs": {"a": {"$id": "a"}}},
    {"$defs": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}},
    {"$schema": "http://json-schema.org/draft-04/schema#"},
    {"enum": list(range(2000))},
    {"enum": ["x" * 200_000]},
    {"x" * 200_000: {}},
]


def test_only_small_schemas_without_costly_keywords_are_evaluated_in_this_process() -> None:
    assert [schema for schema in PLAIN if not is_plain(schema)] == []
    assert [schema for schema in COSTLY if is_plain(schema)] == []


def test_only_small_values_are_validated_in_this_process() -> None:
    small: list[Any] = [None, 1, [1] * 1000, {"a": [{}] * 1000}, "x" * 1000]
    large: list[Any] = [[1] * 10_000, [{"a": [1] * 10}] * 1000, "x" * 200_000, {"x" * 200_000: 1}]

    assert all(map(is_small, small))
    assert not any(map(is_small, large))


# A reference to the whole schema goes back to its dialect, which must not be the way out of counting.
ESCAPES: list[tuple[Schema, Any]] = [
    (fan(), {}),
    (fan(word="anyOf", depth=30) | {"$defs": fan(word="anyOf", depth=30)["$defs"] | {"d30": False}}, {}),
    (fan(width=50, depth=3), {}),
    (
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "if": {"required": ["a"]},
            "then": {"properties": {"a": {"$ref": "#"}}},
            "else": {"$ref": "#/$defs/d0"},
            "$defs": fan()["$defs"],
        },
        {"a": {}},
    ),
    ({"items": {"anyOf": [{"const": n} for n in range(100)]}}, ["x"] * 4000),
    ({"anyOf": [{"required": [f"p{n}" for n in range(500)]}]}, {}),
    # None of these has many keywords, but each keyword has much to do.
    ({"allOf": [{"items": {}}] * 400}, [1] * 4000),
    ({"allOf": [{"additionalProperties": {}}] * 400}, {f"p{n}": 1 for n in range(2000)}),
    ({"allOf": [{"$ref": "#/$defs/a"}] * 200, "$defs": {"a": {"enum": [[[1] * 300]]}}}, [[1] * 300]),
    ({"allOf": [{"$ref": "#/default"}] * 200, "default": {"required": "x" * 90_000}}, {"x": 1}),
]


@pytest.fixture
async def process(anyio_backend: str) -> AsyncGenerator[KillableProcess]:
    """A process for validation with a short time limit."""
    process = KillableProcess(seconds=0.3)
    yield process
    await process.aclose()


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Generator[list[int]]:
    """The steps of each evaluation in this process, counted at the keywords."""
    taken: list[int] = []

    def counted(word: str, keyword: Callable[..., Any]) -> Callable[..., Any]:
        evaluate = real(word, keyword)

        def count(*args: Any) -> Any:
            taken[-1] += 1
            return evaluate(*args)

        return count

    def started(validator: Any, value: object) -> Any:
        taken.append(0)
        return find(validator, value)

    module: Any = validation
    real, find = module._counted, validation.problem_of
    monkeypatch.setattr(validation, "_counted", counted)
    monkeypatch.setattr("mcp_launch._servers.sdk_session.problem_of", started)
    module._counting.cache_clear()
    yield taken
    module._counting.cache_clear()


async def outcome(schema: Schema, value: Any, process: KillableProcess) -> str:
    """Return the outcome of validating a result."""
    found = await ResultValidator(schema, process).problem(value)
    return "valid" if found is None else "rejected" if isinstance(found, InvalidSchema) else "invalid"


@pytest.mark.parametrize(("schema", "value"), ESCAPES)
async def test_an_evaluation_that_takes_too_many_steps_is_left_to_another_process(
    schema: Schema, value: Any, process: KillableProcess, taken: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[str] = []

    async def call(function: str, *args: Any) -> Any:
        left.append(function)
        return await real(function, *args)

    real = process.call
    monkeypatch.setattr(process, "call", call)
    assert await outcome(schema, value, process) in {"valid", "invalid", "rejected"}

    assert len(taken) == 1, "it began in this process"
    assert taken[0] <= STEPS
    assert left == ["mcp_launch._validation:validate"], "and was left to the other one"


class Shapes:
    """Random schemas that are evaluated in this process, and values for them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def schema(self) -> Schema:
        """Return a schema of a few definitions that refer to each other, but not to themselves."""
        names = [f"d{n}" for n in range(self._random.randrange(1, 5))]
        definitions = {name: self._part(names[at + 1 :] or names, 1) for at, name in enumerate(names)}
        definitions[names[-1]] = {"type": ["object", "integer", "array"]}
        return {**self._part(names, 1), "$defs": definitions}

    def value(self, depth: int = 3) -> Any:
        """Return a value whose members have the names in the schemas."""
        match self._random.randrange(7 if depth else 5):
            case 0:
                return self._random.choice([None, True, 1, 1.0, -3, 1e308, 10**300])
            case 1 | 2:
                return "a" * self._random.randrange(60) + self._random.choice(["", "!", "b"])
            case 3 | 4:
                return self._random.randrange(5)
            case 5:
                return [self.value(depth - 1) for _ in range(self._random.choice([0, 2, 5, 3]))]
            case _:
                return {f"p{self._random.randrange(5)}": self.value(depth - 1) for _ in range(5)}

    def _part(self, names: list[str], depth: int) -> Schema:
        shapes = [self._reference, self._fan, self._nested, self._leaf, self._members]
        part: Schema = {}
        for _ in range(self._random.randrange(1, 4)):
            part.update(self._random.choice(shapes)(names, depth))
        return part

    def _inner(self, names: list[str], depth: int) -> Any:
        if depth == 0:
            return self._reference(names, 0)
        return self._random.choice([self._part(names, depth - 1), True, self._reference(names, depth)])

    def _reference(self, names: list[str], depth: int) -> Schema:
        return {"$ref": f"#/$defs/{self._random.choice(names)}"}

    def _fan(self, names: list[str], depth: int) -> Schema:
        word = self._random.choice(["allOf", "anyOf", "oneOf"])
        return {word: [self._inner(names, depth) for _ in range(self._random.randrange(1, 5))]}

    def _nested(self, names: list[str], depth: int) -> Schema:
        words = ["if", "then", "else", "not", "contains", "propertyNames", "items"]
        return {self._random.choice(words): self._inner(names, depth) for _ in range(2)}

    def _leaf(self, names: list[str], depth: int) -> Schema:
        leaves: list[Schema] = [
            {"type": ["object", "array", "string"]},
            {"type": ["integer", "null"]},
            {"multipleOf": 3},
            {"enum": [self.value(2) for _ in range(5)]},
            {"minLength": 3},
            {"minContains": 2},
            {"required": ["p1"]},
        ]
        return self._random.choice(leaves)

    def _members(self, names: list[str], depth: int) -> Schema:
        word = self._random.choice(["properties", "dependentSchemas"])
        return {word: {f"p{n}": self._inner(names, depth) for n in range(self._random.randrange(1, 5))}}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_schemas_evaluated_in_this_process_give_the_results_of_the_library(
    taken: list[int],
) -> None:
    library: Any = jsonschema.Draft202012Validator
    process = KillableProcess(seconds=60)
    found: list[str] = []
    wanted: list[str] = []
    for seed in range(300):
        shapes = Shapes(seed)
        schema, value = shapes.schema(), shapes.value()
        found.append(await outcome(schema, value, process))
        wanted.append("valid" if library(schema).is_valid(value) else "invalid")

    assert found == wanted
    assert min(found.count("valid"), found.count("invalid")) > 50
    assert len(taken) == 300, "each began in this process"
    await process.aclose()

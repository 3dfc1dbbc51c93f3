"""Log records of libraries do not contain secrets of open servers in any of their parts."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

import mcp_launch
from acp_bindings._logs import LIBRARIES, kept_out_of_logs
from acp_bindings._redact import Redactor
from mcp_launch import Budgets, Options
from tests.mcp_launch.servers.raw import Request, event, head, raw_server, reply, result, works
from tests.mcp_launch.support import SECRET, Bearer, Marked, http, run_python

pytestmark = [
    pytest.mark.anyio,
    # The SDK leaves generators unfinished where an answer cannot be read, at which trio complains.
    pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*async_generator object:pytest.PytestUnraisableExceptionWarning"),
]
BASIC = "dXNlcjpzay1odW50ZXIyLW5ldmVyLXNob3du"
"""`user:` and the secret, as encoded in HTTP."""


class Records(logging.Handler):
    """Stores all records, as a log collector would."""

    def __init__(self) -> None:
        super().__init__(0)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    @property
    def text(self) -> str:
        """Everything that the records contain."""
        return "\n".join(f"{self.format(record)} {record.__dict__!r}" for record in self.records)


@pytest.fixture
def records() -> Generator[Records]:
    """All log records at every level."""
    handler, root = Records(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(0)
    yield handler
    root.removeHandler(handler)
    root.setLevel(level)


def parrot(request: Request, answer: bytes) -> bytes:
    """Return the response, with the secrets of the request in its headers."""
    said = {f"X-{name}": value for name, value in request.headers.items() if SECRET in value or BASIC in value}
    said |= {"X-Target": request.target, "X-Key": SECRET, "Set-Cookie": f"key={SECRET}"}
    lines = "".join(f"\r\n{name}: {value}" for name, value in said.items()) + "\r\n"
    return answer.replace(b"\r\n", lines.encode(), 1)


def http_parrot(request: Request) -> list[bytes]:
    """Respond over Streamable HTTP, to some methods with secrets in malformed responses."""
    match request.asks:
        case "tools/list":
            return [parrot(request, reply(200, f'{{"key": "{SECRET}"'.encode()))]
        case "prompts/list":
            broken = event({"key": SECRET, "target": request.target})
            return [parrot(request, head(content_type="text/event-stream") + broken)]
        case "resources/list":
            return [parrot(request, reply(500, SECRET.encode(), WWW_Authenticate=SECRET))]
        case _:
            return [parrot(request, works(request))]


def sse_parrot() -> Any:
    """Do the same over the deprecated transport."""
    said: list[bytes] = []

    def answer(request: Request) -> Any:
        if request.method == "GET":
            yield parrot(request, head(content_type="text/event-stream"))
            yield event(f"/m?key={SECRET}", name="endpoint") + event({"key": SECRET})
            while not request.released.wait(0.01):
                while said:
                    yield said.pop(0)
        elif request.asks in ("tools/list", "prompts/list", "resources/list"):
            yield parrot(request, reply(500, SECRET.encode()))
        else:
            if "id" in request.message:
                said.append(event(result(request.message)))
            yield parrot(request, reply(202))

    return answer


@pytest.mark.requirement("R91")
@pytest.mark.parametrize("kind", ["http", "sse"])
@pytest.mark.parametrize(
    "options", [Options(), Options(auth=("user", SECRET)), Options(auth=Bearer())], ids=["url", "pair", "auth"]
)
async def test_logs_and_warnings_do_not_contain_secrets(
    kind: str, options: Options, records: Records, marked: Marked, tmp_path: Path
) -> None:
    answer = sse_parrot() if kind == "sse" else http_parrot
    with raw_server(answer) as raw, warnings.catch_warnings(record=True) as told:
        url = raw.origin.replace("://", f"://user:{SECRET}@") + f"/mcp?key={SECRET}"
        server = http(url, kind=kind, headers={"X-Key": SECRET})
        budgets = Budgets(call=2.0, close=0.5)
        async with mcp_launch.open_session(server, cwd=tmp_path, budgets=budgets, options=options) as session:
            for listed in (session.list_tools, session.list_prompts, session.list_resources):
                with pytest.raises(MCPError) as raised:
                    await listed()
                assert SECRET not in repr(raised.value.error)

    assert any(SECRET in value for request in raw.seen for value in request.headers.values())
    libraries = {"httpx", "httpcore"} if kind == "sse" else {"mcp", "httpx2", "httpcore2"}
    assert {record.name.partition(".")[0] for record in records.records} >= libraries
    shown = records.text + repr([str(warning.message) for warning in told])
    assert SECRET not in shown
    assert BASIC not in shown


def test_a_record_is_redacted_in_its_arguments_and_its_exceptions(records: Records) -> None:
    log = logging.getLogger("mcp.a.logger.of.tomorrow")
    with kept_out_of_logs(Redactor([SECRET])):
        log.warning("the key is %s", SECRET)
        log.warning("too many %s", SECRET, SECRET)  # noqa: PLE1205 - as a library might
        try:
            try:
                raise ValueError(SECRET)
            except ValueError as error:
                raise RuntimeError("outer") from error
        except RuntimeError:
            log.exception("failed")

    assert "RuntimeError: outer" in records.text
    assert records.text.count("[redacted]") >= 4
    assert SECRET not in records.text


def test_records_without_secrets_are_not_changed(records: Records) -> None:
    with kept_out_of_logs(Redactor([SECRET])):
        logging.getLogger("httpx2").warning("%s of %d", "one", 2)
        logging.getLogger("an.application").warning("mine: %s", SECRET)

    assert [(record.msg, record.args) for record in records.records] == [
        ("%s of %d", ("one", 2)),
        ("mine: %s", (SECRET,)),
    ]


def test_log_records_are_not_changed_after_the_last_server_was_closed(records: Records) -> None:
    with kept_out_of_logs(Redactor([SECRET])), kept_out_of_logs(Redactor(["another-secret"])):
        pass
    logging.getLogger("httpx2").warning(SECRET)

    assert records.records[0].getMessage() == SECRET


def test_every_logger_that_exists_when_all_transports_are_used_is_known() -> None:
    script = """
import logging, mcp_launch._servers.owner, mcp_launch._transports.sse, mcp.client.auth, httpcore, httpcore2
import httpcore._async.http11, httpcore._async.http_proxy, httpcore2._async.http11, httpcore2._async.http_proxy
print(*sorted({name.partition(".")[0] for name in logging.root.manager.loggerDict}))
"""
    done = run_python("-c", script)

    # Those that know nothing of what a server is sent: they serve, or do other work.
    unconcerned = {"concurrent", "rich", "sse_starlette", "uvicorn", "watchfiles"}
    assert (done.returncode, set(done.stdout.split()) - unconcerned - LIBRARIES) == (0, set())

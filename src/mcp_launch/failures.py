"""What can go wrong with a server, as exceptions that say what happened, to which server, and what to try.

    LaunchError                 anything this package raises on purpose
    ├── UnusableInput           a file, an argument or an option that cannot be used
    │   └── NoServers           a client's file that has other settings, and no servers
    ├── UnknownServer           a name that no server of the fleet has: .name .known
    ├── NotReady                servers that must become ready did not: .failures .report
    ├── NoTransport             an agent to which no server of ours can be offered: .advertised
    ├── LaunchFailure           one server could not be used: .server .stage .code .elapsed .facts
    ├── InvalidResult           a result that is not valid: .server .method .name .path .reason .result .schema_rejected
    ├── UnknownTool             a name that no tool of the catalogue has: .name .similar
    └── ContentError            content that the other protocol cannot express

A failure is also data: `to_json` is what reports and `mcp-launch check --json` print. It never holds a value of
`env` or `headers`, nor a URL's user-info or query; whatever a server said was redacted before it got here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from mcp_launch.report import Code, FailureJson, Stage

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from acp_bindings._redact import Redactor
    from mcp_launch.report import Report

__all__ = [
    "Code",
    "FailureJson",
    "InvalidResult",
    "LaunchError",
    "LaunchFailure",
    "NoServers",
    "NoTransport",
    "NotReady",
    "Stage",
    "UnknownServer",
    "UnusableInput",
    "family",
]


class LaunchError(Exception):
    """The root of everything this package raises on purpose; can be copied and sent to another process."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default an exception is rebuilt by calling its class with `args`, which is not what these take.
        return _rebuilt, (type(self), self.args), self.__dict__


class UnusableInput(LaunchError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A file, an argument or an option cannot be used; the message says which, and what is wrong with it."""


class NoServers(UnusableInput):
    """A client's file has other settings, and no servers."""


class LaunchFailure(LaunchError):  # noqa: N818 - a launch that failed, not an error in launching
    """One server could not be used.

    `str()` is one sentence that starts with the server's name. `facts` is the evidence behind it: exit status and
    standard error of a process, status and headers of an HTTP answer, the JSON-RPC error; always JSON.
    """

    def __init__(
        self,
        message: str,
        *,
        server: str,
        stage: Stage,
        code: Code,
        elapsed: float = 0.0,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{server}: {message}")
        self.message = message
        self.server = server
        self.stage: Stage = stage
        self.code: Code = code
        self.elapsed = elapsed
        """Seconds from the start of this server until it was given up."""
        self.facts: dict[str, Any] = dict(facts or {})

    def because(self, error: BaseException | None, *, hide: Redactor) -> Self:
        """The same failure with its cause chained, unless a secret is in the cause."""
        import traceback  # noqa: PLC0415 - from Python 3.14 on it takes dataclasses along

        if error is not None and not hide.hides("".join(traceback.format_exception(error))):
            self.__cause__ = error
        return self

    def forget_variables(self) -> None:
        """Let go of the variables in its tracebacks: crash reporters send them along, and there are secrets in them.

        Only for when the server is closed, since what still runs must keep them.
        """
        import traceback  # noqa: PLC0415

        self.__traceback__ = None
        for error in family(self):
            traceback.clear_frames(error.__traceback__)

    def to_json(self) -> FailureJson:
        """The failure as JSON, for a report."""
        return FailureJson(
            stage=self.stage,
            code=self.code,
            message=self.message,
            elapsed=round(self.elapsed, 3),
            facts=self.facts,
        )


class NotReady(LaunchError):  # noqa: N818 - says what is wrong, which a suffix would not
    """Servers that must become ready did not, so that nothing was launched."""

    def __init__(self, failures: Sequence[LaunchFailure], report: Report) -> None:
        super().__init__("not ready: " + "; ".join(str(failure) for failure in failures))
        self.failures = list(failures)
        """Why, of each of them."""
        self.report = report
        """What happened to every server, also to those that did become ready."""


class NoTransport(LaunchError):  # noqa: N818 - says what is wrong, which a suffix would not
    """The agent did not advertise a transport over which a server of this process can be offered."""

    def __init__(self, advertised: Sequence[str]) -> None:
        said = f"only {', '.join(advertised)}" if advertised else "none"
        super().__init__(
            f"the agent advertised no MCP transport that a local server can be offered over, but {said}; "
            'if it takes stdio or http all the same, say so with transport="stdio" or transport="http"'
        )
        self.advertised = list(advertised)
        """What it did advertise."""


class InvalidResult(LaunchError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A server responded with a result that is not valid MCP, or that does not match the output schema of its tool.

    Neither the message nor `path` and `reason` show a value of `env` or `headers`. `result` is what the server sent.
    """

    def __init__(
        self,
        reason: str,
        *,
        server: str,
        method: str,
        name: str | None = None,
        path: str = "",
        result: CallToolResult | None = None,
        schema_rejected: bool = False,
    ) -> None:
        wrong = f"{path}: {reason}" if path else reason
        if schema_rejected:
            said = f"its outputSchema was rejected: {reason}; the result was not validated"
        elif result is None:
            said = f"the result is not valid MCP: {wrong}; is there a newer release of the server?"
        else:
            said = f"the result does not match its outputSchema: {wrong}"
        super().__init__(f"{server}: {name or method}: {said}")
        self.server = server
        self.method = method
        """The method of the request, such as `tools/call`."""
        self.name = name
        """The name of the tool, where a schema is concerned."""
        self.path = path
        """Where the result is not valid, such as `structuredContent.items[0].id`; empty if the schema was rejected."""
        self.reason = reason
        """What is wrong there, or with the schema."""
        self.result = result
        """The result of the tool as the server sent it, not validated; None if it is not valid MCP."""
        self.schema_rejected = schema_rejected
        """Whether the schema could not be evaluated: it is not valid, or takes too long or too much memory."""


class UnknownServer(LaunchError, KeyError):  # noqa: N818 - says what is wrong, which a suffix would not
    """No server of the fleet has that name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        there_are = f"there are {', '.join(known)}" if known else "there are none"
        super().__init__(f'no server is called "{name}"; {there_are}')
        self.name = name
        self.known = list(known)

    def __str__(self) -> str:
        """The message, which KeyError would put in quotation marks."""
        return str(self.args[0])


def _rebuilt(kind: type[LaunchError], args: tuple[Any, ...]) -> LaunchError:
    return kind.__new__(kind, *args)


def family(error: BaseException) -> Iterator[BaseException]:
    """The exception, its causes and contexts, and what is in it if it is a group, each once."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        current = todo.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        todo += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            todo += cast("BaseExceptionGroup[BaseException]", current).exceptions


class Wording(NamedTuple):
    """The words of messages that depend on the kind of file that the servers come from; by default those of ACP."""

    http: str = 'set "type" to "http"'
    """What to do where a URL speaks Streamable HTTP, and the entry says SSE."""
    sse: str = 'set "type" to "sse"'
    """What to do where a URL speaks SSE, and the entry says Streamable HTTP."""
    longer: str = "does it need longer"
    """What to ask where the server took too long; a question mark or an alternative follows."""
    needs: str = 'a "command", or with a "url" and its "type"'
    """What an entry has to have; "a server must be a map with" goes before."""
    words: tuple[tuple[str, str], ...] = ()
    """The members and types that are called otherwise than in ACP, each with what it is called."""
    urls: tuple[tuple[str, str], ...] = ()
    """The transports that a URL has without a type, each with the member that then holds the URL."""

    def called(self, word: str) -> str:
        """What a member or a type of ACP is called."""
        return dict(self.words).get(word, word)

    def url_of(self, transport: str | None) -> str:
        """The member that holds the URL of a server of this transport."""
        return dict(self.urls).get(transport or "", self.called("url"))

    def given(self, transport: str) -> str:
        """As what an entry has the URL of such a server; "give it as" goes before."""
        # Where no transport needs a type, there is none to be given, also for one that the program does not have.
        form = "" if self.urls else f', with "type": "{self.called(transport)}"'
        return f'"{self.url_of(transport)}"{form}'


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean "x"?` with the most similar name, or an empty string."""
    near = nearest(name, known)
    return "" if near is None else f'; did you mean "{near}"?'


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the most similar of the *known* names, if one is similar."""
    import difflib  # noqa: PLC0415 - only needed for mistakes

    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)), None)

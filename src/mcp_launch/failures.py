"""Exceptions that say what happened, to which server, and what to try.

    LaunchError                 the base class of the exceptions of this package
    ├── UnusableInput           a file, an argument or an option is not valid
    │   └── NoServers           a client's file has no servers
    ├── UnknownServer           no server has this name: .name .known
    ├── NotReady                required servers failed: .failures .report
    ├── NoTransport             the agent supports no transport for a local server: .advertised
    ├── LaunchFailure           one server failed: .server .stage .code .elapsed .facts .advice
    ├── InvalidResult           a result is not valid: .server .method .name .path .reason .result .schema_rejected
    ├── UnknownTool             no tool has this name: .name .similar .failure
    └── ContentError            the other protocol cannot express this content

`LaunchFailure.to_json` returns what reports and `mcp-launch check --json` contain. A failure never contains values of
`env` or `headers`, nor the user-info or query of a URL: output of servers is redacted first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from acp_bindings._lazy import closest
from mcp_launch._advice import ADVICE, sentence
from mcp_launch._unexpanded import PLACEHOLDER, UNEXPANDED, name_in
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
    """The base class of the exceptions of this package. They can be copied and pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default an exception is rebuilt by calling its class with `args`, but these take other arguments.
        return _rebuilt, (type(self), self.args), self.__dict__


class UnusableInput(LaunchError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A file, an argument or an option is not valid; the message says which and why."""


class NoServers(UnusableInput):
    """A client's file has other settings, but no servers."""


class LaunchFailure(LaunchError):  # noqa: N818 - a launch that failed, not an error in launching
    """One server could not be used, or stopped working.

    `str()` is one sentence that starts with the server's name. `facts` is the evidence as JSON: exit status and
    standard error of a process, status and headers of an HTTP response, or the JSON-RPC error. `facts["edit"]` is a
    change of the entry that the message suggests: a new `command`, and `insert`, a list of arguments to insert at
    position `at` of its `args`.
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
        advice: str | None = None,
    ) -> None:
        super().__init__(f"{server}: {message}")
        self.message = message
        self.server = server
        self.stage: Stage = stage
        self.code: Code = code
        self.elapsed = elapsed
        """Seconds from the start of this server until it failed."""
        self.facts: dict[str, Any] = dict(facts or {})
        self.advice: str = sentence(advice) if advice else ADVICE[code]
        """The advice of the message in sentences, or the general advice for the code."""

    def because(self, error: BaseException | None, *, hide: Redactor) -> Self:
        """Set the cause of this failure, unless it contains a secret, and return the failure."""
        import traceback  # noqa: PLC0415 - from Python 3.14 on it takes dataclasses along

        from acp_bindings.connection.errors import alone  # noqa: PLC0415 - imports anyio, and only failures need it

        if error is not None and not hide.hides("".join(traceback.format_exception(error := alone(error)))):
            self.__cause__ = error
        return self

    def forget_variables(self) -> None:
        """Clear the variables in the tracebacks, because crash reporters send them and they contain secrets.

        Call this only after the server is closed: code that still runs needs its variables.
        """
        import traceback  # noqa: PLC0415

        self.__traceback__ = None
        for error in family(self):
            traceback.clear_frames(error.__traceback__)

    def to_json(self) -> FailureJson:
        """Return the failure as JSON for a report."""
        return FailureJson(
            stage=self.stage,
            code=self.code,
            message=self.message,
            advice=self.advice,
            elapsed=round(self.elapsed, 3),
            facts=self.facts,
        )


class NotReady(LaunchError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A required server did not become ready, so all servers were closed."""

    def __init__(self, failures: Sequence[LaunchFailure], report: Report) -> None:
        super().__init__("not ready: " + "; ".join(str(failure) for failure in failures))
        self.failures = list(failures)
        """The failure of each required server that did not become ready."""
        self.report = report
        """The report on all servers, including those that became ready."""


class NoTransport(LaunchError):  # noqa: N818 - says what is wrong, which a suffix would not
    """The agent did not advertise a transport for servers of this process."""

    def __init__(self, advertised: Sequence[str]) -> None:
        said = f"only {', '.join(advertised)}" if advertised else "none at all"
        super().__init__(
            f"the agent did not advertise an MCP transport for local servers (it advertised {said}); "
            'if it supports stdio or http anyway, pass transport="stdio" or transport="http"'
        )
        self.advertised = list(advertised)
        """The transports that it advertised."""


class InvalidResult(LaunchError):  # noqa: N818 - says what is wrong, which a suffix would not
    """A result is not valid MCP, or does not match the output schema of its tool.

    The message, `path` and `reason` are redacted. `result` is what the server sent.
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
        """The name of the tool, if an output schema is concerned."""
        self.path = path
        """The location of the error, such as `structuredContent.items[0].id`; empty if the schema was rejected."""
        self.reason = reason
        """The error at that location, or in the schema."""
        self.result = result
        """The result of the tool as the server sent it, not validated; None if it is not valid MCP."""
        self.schema_rejected = schema_rejected
        """True if the schema could not be evaluated: it is not valid, or takes too much time or memory."""


class UnknownServer(LaunchError, KeyError):  # noqa: N818 - says what is wrong, which a suffix would not
    """No server of the fleet has this name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        others = f"the servers are {', '.join(known)}" if known else "no servers were given"
        super().__init__(f'no server is named "{name}"; {others}')
        self.name = name
        self.known = list(known)

    def __str__(self) -> str:
        """The message, which KeyError would put in quotation marks."""
        return str(self.args[0])


def _rebuilt(kind: type[LaunchError], args: tuple[Any, ...]) -> LaunchError:
    return kind.__new__(kind, *args)


def family(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception, its causes and contexts, and the members of groups, each once."""
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


class Phrases(NamedTuple):
    """The phrases in messages that depend on where the servers were configured; by default those of ACP."""

    http: str = 'set "type" to "http"'
    """The advice for a URL that speaks Streamable HTTP although the entry says SSE."""
    sse: str = 'set "type" to "sse"'
    """The advice for a URL that speaks SSE although the entry says Streamable HTTP."""
    longer: str = "does it need more time"
    """The question for a server that took too long; a question mark or an alternative follows."""
    needs: str = 'a "command", or with a "url" and its "type"'
    """The fields that an entry requires, as the end of "a server must be a map with"."""
    absolute: str = "ACP requires an absolute path"
    """The rule for commands that are not absolute paths, as the end of a warning; empty if there is no rule."""
    words: tuple[tuple[str, str], ...] = ()
    """Fields and types whose names differ from those of ACP, as pairs of both names."""
    has_maps: bool = False
    """True if variables and headers are maps, so that messages have their names in place of their numbers."""
    lists_command: bool = False
    """True if the command is a list of the program and its arguments."""
    urls: tuple[tuple[str, str], ...] = ()
    """Transports that are chosen by a URL without a type, each with the field of the URL."""
    variables: tuple[tuple[str, str], ...] = ()
    """Fields with variables, each with the advice for a variable NAME in it that was not replaced."""
    tries_both: bool = False
    """True if the client tries SSE after Streamable HTTP, or the reverse, so that the launcher does too."""

    def called(self, word: str) -> str:
        """Return the name of a field or type of ACP."""
        return dict(self.words).get(word, word)

    def url_of(self, transport: str | None) -> str:
        """Return the field for the URL of a server of this transport."""
        return dict(self.urls).get(transport or "", self.called("url"))

    def unexpanded(self, text: str, member: str) -> str | None:
        """Return that a value contains a variable that was not replaced, and what to do; None if it contains none."""
        if (found := UNEXPANDED.search(text)) is None:
            return None
        name = name_in(found[0]) or ""
        advice = dict(self.variables).get(member, "")
        written = advice.replace("NAME", name)
        if not advice:
            cure = "write the value"
        elif found[0] in written:
            cure = "set it"
        elif not re.fullmatch("[A-Z_][A-Z0-9_]*", name):
            # The client replaces it in another way, for example by asking the user.
            cure = "give it a value"
        else:
            # Advice without NAME, as that of Goose, is about another field.
            cure = written if "NAME" in advice else f"set it, and {written}"
        # Only the name, because the rest may be secret.
        return f"contains a variable that was not expanded{f' ({name})' if name else ''}; {cure}"

    def unfilled(self, text: str, member: str) -> str | None:
        """Return what to do about a variable or a placeholder in a value; None if it contains neither."""
        placeholder = "contains a placeholder; replace it" if PLACEHOLDER.search(text) else None
        return self.unexpanded(text, member) or placeholder

    def given(self, transport: str) -> str:
        """Return how an entry contains the URL of such a server, as the end of "give it as"."""
        # Formats that choose the transport by the field of the URL have no type.
        form = "" if self.urls else f', with "type": "{self.called(transport)}"'
        return f'"{self.url_of(transport)}"{form}'


OF_ACP = Phrases()


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean "x"?` with the most similar name, or an empty string."""
    near = closest(name, known)
    return "" if near is None else f'; did you mean "{near}"?'

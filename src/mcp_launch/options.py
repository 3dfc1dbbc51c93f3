"""Settings for launching servers that are not part of their specifications."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from mcp_launch.failures import Phrases, UnusableInput
from mcp_launch.lock import ToolLock
from mcp_launch.logins import StoredLogins
from mcp_launch.report import TransportName

__all__ = [
    "DEEPEST",
    "EVERYTHING",
    "TOOLS",
    "Budgets",
    "Direction",
    "Limits",
    "Listing",
    "Options",
    "OptionsFor",
    "Restart",
    "Transports",
    "allow_more",
    "megabytes",
    "options_for",
    "refuse_no_numbers",
]


def refuse_no_numbers(**given: object) -> None:
    """Raise unless every value is a non-negative number.

    Raises:
        UnusableInput: a value is negative, NaN, or not a number.
    """
    for argument, value in given.items():
        # Not `value < 0`, which is false for NaN.
        if not (isinstance(value, int | float) and value >= 0):
            raise UnusableInput(f"{argument} must be a non-negative number, not {value!r}")


DEEPEST = 200
"""Levels of nesting in a message. This limit of the JSON parser cannot be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits for one message of a server, and for all pages of a list together.

    A response beyond a limit fails its request with the code `invalid_response`. Any other message beyond a limit is
    dropped with a warning, and a list is cut with a warning. The defaults protect against hostile servers: no message
    takes more than 400 MB of memory. The 1,223 tools of GitHub's whole REST API, with all schemas, need 12 MB and 0.9
    million values.

    Raises:
        UnusableInput: a limit is not a positive integer.
    """

    bytes: int = 40 * 1024 * 1024
    """Bytes, after decompression. A file of 30 MB has 40 MB in base64."""
    values: int = 1_000_000
    """JSON values. The keys of objects count too, and an empty array or object counts twice."""
    items: int = 20_000
    """Items of arrays that MCP itself defines, such as tools, resources or content blocks. Arrays in schemas,
    structured content and metadata do not count."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value: object = getattr(self, each.name)
            if type(value) is not int or value < 1:
                raise UnusableInput(f"Limits.{each.name} must be a positive integer, not {value!r}")


def allow_more(limit: str) -> str:
    """Return the end of a message, which says how to raise a limit."""
    return f"in Python, Options(limits=Limits({limit}=…)) allows more"


def megabytes(size: int) -> str:
    """Return a number of bytes as text."""
    return f"{size / (1 << 20):g} MB" if size >= 1 << 20 else f"{size:,} bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Time limits in seconds for each server. The `timeout` of a launch limits connect, handshake and list together.

    Raises:
        UnusableInput: a value is negative or not a number.
    """

    connect: float = 10.0
    """Until an HTTP connection is open, or an SSE server has named its endpoint."""
    handshake: float = 30.0
    """Until the session is initialised. A first `npx` or `uvx` run downloads its package in this time."""
    probe: float = 0.7
    """For the response to `server/discover` (2026-07-28), from when the server received it; then the older handshake
    is tried."""
    list: float = 15.0
    """Until the tools are listed."""
    call: float = 300.0
    """From a request on a ready session to its response, including the time for writing it and for waiting for a
    connection. A call can override it."""
    validate: float = 5.0
    """For validating the result of a tool against its output schema. A schema that takes longer is rejected."""
    close: float = 5.0
    """Until the server has exited: half of it to exit by itself, the rest for SIGTERM and SIGKILL."""

    def __post_init__(self) -> None:
        refuse_no_numbers(**{each.name: getattr(self, each.name) for each in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Restart a server that dies after it was ready. The wait doubles with each attempt.

    A restarted server whose tools differ from their lock has failed, and is not started again.

    Raises:
        UnusableInput: a value is negative or not a number.
    """

    tries: int = 5
    """Attempts in a row. The count starts again after the server was ready for as long as the `longest` wait."""
    first: float = 0.5
    """Seconds before the first attempt."""
    longest: float = 30.0
    """Seconds of the longest wait."""

    def __post_init__(self) -> None:
        refuse_no_numbers(tries=self.tries, first=self.first, longest=self.longest)

    def wait(self, tried: int) -> float | None:
        """Return the seconds until the next attempt after `tried` attempts; None if there is none."""
        # The exponent is limited because a float overflows.
        return None if tried >= self.tries else min(self.longest, self.first * 2 ** min(tried, 30))


Listing: TypeAlias = Literal["tools", "resources", "prompts"]
TOOLS: tuple[Listing, ...] = ("tools",)
EVERYTHING: tuple[Listing, ...] = ("tools", "resources", "prompts")

Transports: TypeAlias = Collection[TransportName]


if TYPE_CHECKING:
    import ssl

    import httpx2
    from mcp.client.session import ElicitationFnT, ListRootsFnT, LoggingFnT, MessageHandlerFnT, SamplingFnT
    from mcp_types import LoggingLevel, SamplingCapability

    Auth: TypeAlias = httpx2.Auth | tuple[str, str] | Callable[[httpx2.Request], httpx2.Request]

Direction: TypeAlias = Literal["sent", "received"]

Mode: TypeAlias = Literal["auto", "legacy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settings of one server, or of all. Network settings have the names and meanings of httpx's, and apply to URLs.

    Each callback advertises its capability to the server. The callbacks have the types of the SDK, so a callback for
    `mcp.Client` works here too.

    Raises:
        UnusableInput: a callback is not a function, `stderr` is an async one, or `mode`, `secrets`, `restart`,
            `limits`, `phrases` or `lock` has a wrong value.
    """

    mode: Mode = "auto"
    """As for `mcp.Client`: "auto" uses MCP 2026-07-28 with servers that support it, "legacy" the versions before it.

    Servers can send requests during a call only in the older versions. "legacy" is for servers that depend on it, such
    as those that call `ctx.elicit` of the Python SDK.
    """
    strict: bool = False
    """Reject commands that are not absolute paths, as ACP requires, instead of searching with a warning."""
    stderr: Callable[[str, str], object] | None = None
    """Called with the name of a stdio server and each line of its standard error, redacted.

    It is called in a thread, one line after another, so it may print or block. Lines that arrive faster than it
    handles them are left out, and a line says so. If it raises, a warning is added and it is not called again.
    """
    traffic: Callable[[str, Direction, str], object] | None = None
    """Called with the name of a server, "sent" or "received", and each message as a redacted line of JSON.

    It is called in the event loop before the message is forwarded, so it must not block. If it raises, a warning is
    added and it is not called again. Secrets that are split over several fields of a message, or encoded in an unknown
    way, are not redacted.
    """
    sampling: SamplingFnT | None = None
    """Handles `sampling/createMessage`: the server requests a completion from your model."""
    sampling_capabilities: SamplingCapability | None = None
    """The supported parts of sampling, such as tools."""
    elicitation: ElicitationFnT | None = None
    """Handles `elicitation/create`: the server asks the user."""
    roots: ListRootsFnT | None = None
    """Handles `roots/list`: the server requests the directories that it may work in."""
    logging: LoggingFnT | None = None
    """Called with each log message of the server."""
    log_level: LoggingLevel | None = None
    """The lowest level that a 2026-07-28 server is asked to log; with `logging`, "debug" if you do not set it. Older
    servers decide for themselves."""
    message: MessageHandlerFnT | None = None
    """Called with every notification of the server, such as a changed list of tools, also with log messages and
    progress. From MCP 2026-07-28 on, a server reports changes only within
    `async with server.session.listen(tools_list_changed=True):`."""
    restart: Restart | None = None
    """Restarts of a server that dies after it was ready; None for no restarts."""
    limits: Limits = field(default_factory=Limits)
    """The largest messages and lists that are accepted from the server."""
    secrets: Collection[str] = field(default=(), repr=False)
    """Further values to redact, such as keys in arguments. The values of `env` and headers, and the user-info and query
    of a URL, are always redacted. `mcp_launch.config.Entry.secrets` has the values that a file takes from variables."""
    lock: ToolLock | None = None
    """The tools that the server had before: `mcp_launch.ToolLock`. A server whose tools differ fails with the code
    `changed`, and its facts have the difference. Its tools are listed for that at each start, whatever `lists` says."""
    phrases: Phrases = field(default_factory=Phrases)
    """The phrases in failures of servers that were not configured in ACP: `mcp_launch.config.Config.phrases`."""
    auth: Auth | StoredLogins | None = field(default=None, repr=False)
    """The login for a server with a URL: `StoredLogins()` for what `mcp-launch login` has stored, a `(user, password)`
    pair, a function that changes each request, or an `httpx2.Auth` such as the SDK's `OAuthClientProvider`. Except for
    `StoredLogins`, it replaces an `Authorization` header of the specification. An interactive login counts against the
    budgets and the `timeout`, so allow enough time."""
    verify: ssl.SSLContext | str | os.PathLike[str] | bool = True
    """The trusted TLS certificates: True for those of the system (or of `SSL_CERT_FILE` and `SSL_CERT_DIR`, see
    `trust_env`), the path of a file or directory of certificates, or an SSL context. False trusts every certificate,
    with a warning."""
    cert: str | os.PathLike[str] | tuple[str, ...] | None = field(default=None, repr=False)
    """The client's own certificate: the path of a PEM file, or `(certificate, key)`, or `(certificate, key, password)`.
    An SSL context given as `verify` has its own."""
    proxy: str | httpx2.Proxy | None = field(default=None, repr=False)
    """The URL of the proxy for all requests, with user-info if it requires a login. None uses the environment, see
    `trust_env`."""
    trust_env: bool = True
    """True if `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, `SSL_CERT_FILE` and `SSL_CERT_DIR` are used.
    Requests to loopback never go to a proxy of the environment."""

    def __post_init__(self) -> None:
        # Otherwise a mistake would only show when the callback is needed, or never.
        for name in ("stderr", "traffic", "sampling", "elicitation", "roots", "logging", "message"):
            callback = getattr(self, name)
            if callback is not None and not callable(callback):
                raise UnusableInput(f"{name} must be a function, not a {type(callback).__name__}")
        if iscoroutinefunction(self.stderr) or iscoroutinefunction(getattr(self.stderr, "__call__", None)):  # noqa: B004
            raise UnusableInput("stderr must be a plain function, not an async one: it is called in a thread")
        for name, kind, called in (
            ("restart", Restart | None, "an mcp_launch.Restart"),
            ("limits", Limits, "mcp_launch.Limits"),
            ("phrases", Phrases, "those of an mcp_launch.config.Config"),
            ("lock", ToolLock | None, "an mcp_launch.ToolLock"),
        ):
            if not isinstance(given := getattr(self, name), kind):
                raise UnusableInput(f"{name} must be {called}, not a {type(given).__name__}")
        if self.mode not in get_args(Mode):
            raise UnusableInput(f'mode must be "auto" or "legacy", not {self.mode!r}')
        secrets: Any = self.secrets
        if isinstance(secrets, str) or not isinstance(secrets, Collection) or {*map(type, self.secrets)} - {str}:
            raise UnusableInput("secrets must be a collection of strings")


OptionsFor: TypeAlias = Options | Mapping[str, Options] | Callable[[str], Options]
"""The options of all servers, a map from name to options, or a function that returns them for a name."""


def options_for(name: str, options: OptionsFor | None) -> Options:
    """Return the options of the server with this name; the defaults if a map does not have it.

    Raises:
        UnusableInput: the value is not `Options`.
    """
    # `Any` because callers may not use a type checker.
    given: Any = options
    if isinstance(options, Mapping):
        given = given.get(name)
    elif callable(options):
        given = given(name)
    if not isinstance(given, Options | None):
        raise UnusableInput(f"the options of {name} must be mcp_launch.Options, not {type(given).__name__}")
    return given or Options()

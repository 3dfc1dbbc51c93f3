"""What the caller decides about a server, beyond what its specification says."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mcp_launch.failures import UnusableInput, Wording
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
    """Refuse, by the name of its argument, what is no number of at least 0: nobody would wait for it in the end.

    Raises:
        UnusableInput: one of them is negative, NaN, or no number.
    """
    for argument, value in given.items():
        # Not `value < 0`, which is false for NaN.
        if not (isinstance(value, int | float) and value >= 0):
            raise UnusableInput(f"{argument} must be a number of at least 0, not {value!r}")


DEEPEST = 200
"""Levels of nesting in a message. The JSON parser has this limit, and it cannot be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one message of a server, and of all pages of a list together.

    A response beyond a limit fails its request with the code `invalid_response`. Any other message beyond a limit is
    dropped with a warning, and a list is cut with a warning. The defaults are for a hostile server: less than 700 MB
    of memory for any message. The tools of GitHub's whole REST API, 1,223 with all schemas, need 12 MB and 0.9 million
    values.

    Raises:
        UnusableInput: one of them is not a positive integer.
    """

    bytes: int = 64 * 1024 * 1024
    """Bytes, after decompression."""
    values: int = 2_000_000
    """JSON values, where the keys of objects count too, and an empty array or object counts twice."""
    items: int = 20_000
    """Items of arrays that MCP itself defines, such as tools, resources or content blocks. Arrays in schemas,
    structured content and metadata do not count."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value: object = getattr(self, each.name)
            if type(value) is not int or value < 1:
                raise UnusableInput(f"Limits.{each.name} must be a positive integer, not {value!r}")


def allow_more(limit: str) -> str:
    """Return how to raise a limit, as the end of a message."""
    return f"Options(limits=Limits({limit}=…)) allows more"


def megabytes(size: int) -> str:
    """Return a number of bytes as text."""
    return f"{size / (1 << 20):g} MB" if size >= 1 << 20 else f"{size:,} bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Seconds for each stage; the `timeout` of a launch bounds connect, handshake and list together.

    Raises:
        UnusableInput: one of them is negative, or no number.
    """

    connect: float = 10.0
    """Until an HTTP connection stands, or an SSE server has named its endpoint."""
    handshake: float = 30.0
    """Until the session is initialised. A first `npx` or `uvx` run downloads its package in this time."""
    probe: float = 0.7
    """Until the probe of the 2026-07-28 era is answered, from when the server has received it; then the older handshake
    is tried."""
    list: float = 15.0
    """Until the tools are listed."""
    call: float = 300.0
    """From a request on a ready session to its response, including the time for writing it and for waiting for a
    connection. Each call can ask for another time."""
    validate: float = 5.0
    """For validating the result of a tool against its output schema; a schema that takes longer is rejected."""
    close: float = 5.0
    """Until the server is gone. Half of it is for leaving by itself, the rest for SIGTERM and SIGKILL."""

    def __post_init__(self) -> None:
        refuse_no_numbers(**{each.name: getattr(self, each.name) for each in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Start a server again that was ready and died, after a wait that doubles from one time to the next.

    Raises:
        UnusableInput: one of them is negative, or no number.
    """

    tries: int = 5
    """Attempts in a row; they are counted anew once the server has been ready for as long as the `longest` wait."""
    first: float = 0.5
    """Seconds before the first attempt."""
    longest: float = 30.0
    """Seconds that no wait exceeds."""

    def __post_init__(self) -> None:
        refuse_no_numbers(tries=self.tries, first=self.first, longest=self.longest)

    def wait(self, tried: int) -> float | None:
        """Seconds until the next attempt, after `tried` of them; None when the server is given up."""
        # The exponent is bounded, because a float overflows.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settings of one server, or of all; those of the network are httpx's, by name and meaning, and mean URLs.

    The server is told that we can do what there is a callback for. The callbacks have the types of the SDK, so that one
    written for `mcp.Client` works here too.

    Raises:
        UnusableInput: a callback is not a function, `stderr` is an async one, or `secrets`, `restart`, `limits` or
            `wording` has the wrong type.
    """

    strict: bool = False
    """Refuse a command that is no absolute path, as ACP asks for, instead of searching for it with a warning."""
    stderr: Callable[[str, str], object] | None = None
    """Takes the name of a stdio server and each line of its standard error as it comes, without secrets.

    Called in a thread, one line after another, so that it may print or wait. Nobody waits for it: lines that
    come faster than it takes them are left out, and a line says so; when it raises, that is a warning and it is not
    called again.
    """
    traffic: Callable[[str, Direction, str], object] | None = None
    """Takes the name of a server, whether it was sent or received, and each message as a line of JSON without secrets.

    Called in the event loop, before the message goes on: it must not wait. Secrets that are spread over several
    members of a message, or encoded in a way that nobody foresaw, are not recognised.
    """
    sampling: SamplingFnT | None = None
    """Answers `sampling/createMessage`: the server asks for a completion of our model."""
    sampling_capabilities: SamplingCapability | None = None
    """What of sampling is supported, such as tools."""
    elicitation: ElicitationFnT | None = None
    """Answers `elicitation/create`: the server asks the user."""
    roots: ListRootsFnT | None = None
    """Answers `roots/list`: the server asks which directories it may work in."""
    logging: LoggingFnT | None = None
    """Takes what the server logs."""
    log_level: LoggingLevel | None = None
    """From which level on a server of the 2026-07-28 era is asked to log; older ones decide for themselves."""
    message: MessageHandlerFnT | None = None
    """Takes every other notification of the server, such as that its list of tools changed."""
    restart: Restart | None = None
    """Whether it is started again when it dies after it was ready."""
    limits: Limits = field(default_factory=Limits)
    """How large a message of the server, or a list of what it offers, may be: `mcp_launch.Limits`."""
    secrets: Collection[str] = field(default=(), repr=False)
    """Further values to redact, such as keys in arguments. The values of `env` and headers, and the user-info and query
    of a URL, are redacted in any case. `mcp_launch.config.Entry.secrets` has what a file takes from variables."""
    wording: Wording = field(default_factory=Wording)
    """How its failure says what to try, where it was not named as ACP does it: `mcp_launch.failures.Wording`."""
    auth: Auth | None = field(default=None, repr=False)
    """Who logs in to a server with a URL: a `(user, password)` pair, a function that changes each request, or an
    `httpx2.Auth`, of which the SDK's `OAuthClientProvider` is one. It goes before an `Authorization` header of the
    specification. A login by a person counts against the budgets and the `timeout`: allow for it there."""
    verify: ssl.SSLContext | str | os.PathLike[str] | bool = True
    """Whose TLS certificates are trusted: True for those that the system trusts (or `SSL_CERT_FILE` and `SSL_CERT_DIR`
    name, see `trust_env`), the path of a file or directory of certificates, or a context of one's own. False trusts
    whatever is shown, with a warning."""
    cert: str | os.PathLike[str] | tuple[str, ...] | None = field(default=None, repr=False)
    """The client's own certificate: the path of a PEM file, or `(certificate, key)`, or `(certificate, key, password)`.
    A context given as `verify` has its own."""
    proxy: str | httpx2.Proxy | None = field(default=None, repr=False)
    """The URL of the proxy that is used for all requests; user-info in it logs in there. None leaves it to the
    environment, see `trust_env`."""
    trust_env: bool = True
    """Whether `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, `SSL_CERT_FILE` and `SSL_CERT_DIR` count. Requests
    to loopback never go to a proxy of the environment."""

    def __post_init__(self) -> None:
        # Otherwise a mistake would show only when the callback is needed, or never.
        for name in ("stderr", "traffic", "sampling", "elicitation", "roots", "logging", "message"):
            callback = getattr(self, name)
            if callback is not None and not callable(callback):
                raise UnusableInput(f"{name} must be a function, not a {type(callback).__name__}")
        if iscoroutinefunction(self.stderr) or iscoroutinefunction(getattr(self.stderr, "__call__", None)):  # noqa: B004
            raise UnusableInput("stderr must be a plain function, not an async one: it is called in a thread")
        given: Any = self.restart
        if not isinstance(given, Restart | None):
            raise UnusableInput(f"restart must be an mcp_launch.Restart, not a {type(given).__name__}")
        given = self.limits
        if not isinstance(given, Limits):
            raise UnusableInput(f"limits must be mcp_launch.Limits, not a {type(given).__name__}")
        given = self.secrets
        if isinstance(given, str) or not isinstance(given, Collection) or {*map(type, self.secrets)} - {str}:
            raise UnusableInput("secrets must be a collection of strings")
        given = self.wording
        if not isinstance(given, Wording):
            raise UnusableInput(f"wording must be mcp_launch.failures.Wording, not a {type(given).__name__}")


OptionsFor: TypeAlias = Options | Mapping[str, Options] | Callable[[str], Options]
"""The settings of all servers, those of each by its name, or a function that gives them for a name."""


def options_for(name: str, options: OptionsFor | None) -> Options:
    """The settings of the server of that name; the defaults if a map does not have it.

    Raises:
        UnusableInput: they are no `Options`.
    """
    # `Any`: callers may use no type checker.
    given: Any = options
    if isinstance(options, Mapping):
        given = given.get(name)
    elif callable(options):
        given = given(name)
    if not isinstance(given, Options | None):
        raise UnusableInput(f"the options of {name} must be mcp_launch.Options, not {type(given).__name__}")
    return given or Options()

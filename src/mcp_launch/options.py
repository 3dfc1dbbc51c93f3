"""What the caller decides about a server, beyond what its specification says."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mcp_launch.failures import UnusableInput
from mcp_launch.limits import Limits
from mcp_launch.restart import Restart
from mcp_launch.wording import Wording

if TYPE_CHECKING:
    import ssl

    import httpx2
    from mcp.client.session import ElicitationFnT, ListRootsFnT, LoggingFnT, MessageHandlerFnT, SamplingFnT
    from mcp_types import LoggingLevel, SamplingCapability

    Auth: TypeAlias = httpx2.Auth | tuple[str, str] | Callable[[httpx2.Request], httpx2.Request]

Direction: TypeAlias = Literal["sent", "received"]

__all__ = ["Direction", "Options", "OptionsFor", "options_for"]


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
    """How its failure says what to try, where it was not named as ACP does it: `mcp_launch.wording.Wording`."""
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
            raise UnusableInput(f"wording must be mcp_launch.wording.Wording, not a {type(given).__name__}")


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

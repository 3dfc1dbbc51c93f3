"""The environment that a server process is given.

A server does not see our whole environment, which may hold keys that are meant for others. It inherits what a process
needs to work (`INHERITED`), and then gets the `env` of its specification; of duplicates the last wins.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

__all__ = ["HARMLESS", "INHERITED", "child_environment", "inherited_proxies"]

_POSIX = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
_WINDOWS = (
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_NO_PROXIES = ("NO_PROXY", "no_proxy")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")

INHERITED = frozenset(
    (*(_WINDOWS if sys.platform == "win32" else _POSIX), "LANG", *_PROXIES, *_NO_PROXIES, *_CERTIFICATES)
)
"""The variables a server inherits, beside all that start with `LC_`."""
HARMLESS = INHERITED.difference(_PROXIES) | {"PWD"}
"""Variables whose values are no secrets: which directories, languages and certificates there are."""


def child_environment(
    env: Iterable[tuple[str, str]] = (), *, parent: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of a server: what it inherits from `parent` (ours by default), then its own `env`."""
    variables = os.environ if parent is None else parent
    # The names first: reading a value of `os.environ` costs more than all the rest here.
    names = [name for name in variables if name in INHERITED or name.startswith("LC_")]
    # A value that starts with "()" is a shell function of an old bash, not text.
    inherited = {name: value for name in names if not (value := variables[name]).startswith("()")}
    return inherited | dict(env)


def inherited_proxies() -> list[str]:
    """Return the URLs of the proxies that a server inherits, which may hold passwords."""
    return [os.environ[name] for name in _PROXIES if name in os.environ]

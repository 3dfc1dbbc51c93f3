"""The logins that `mcp-launch login` has stored: `Options(auth=StoredLogins())` uses them.

Each login is a file in a folder that only this user can read. Its tokens are in the keyring of the system if the
package `keyring` is installed and has a usable backend; otherwise they are in the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from mcp_launch.failures import UnusableInput

__all__ = ["StoredLogins"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLogins:
    """The `auth` of `Options` that uses the logins of this user, which `mcp-launch login` has stored.

    A server with a URL gets the access token that is stored for this URL, and no other server does. The token is
    refreshed and stored again when it has expired. A server without a stored login is reached without one. An entry
    with an `Authorization` header keeps its header. Logging in requires the user, so it is left to `mcp-launch login`.
    """

    learn: Callable[[str], object] | None = field(default=None, repr=False)
    """Called with each token before it is sent, so that you can redact it in the results that you show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The secrets of a login."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    client_secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A login as it is stored."""

    key: str
    """The name of its file, and of its entry in the keyring."""
    server: str
    """The URL of the server, without secrets."""
    issuer: str
    """The authorization server."""
    client_id: str
    client_given: bool
    """True if the user has registered the client, and not `mcp-launch login`."""
    auth_method: str | None
    """The method of authentication at the token endpoint."""
    redirect_uri: str
    token_endpoint: str
    resource: str | None
    """The resource that the tokens are for; None if the server does not publish resource metadata."""
    scope: str | None
    expires_at: float | None
    """Seconds since 1970; None if the authorization server did not say."""
    refreshes: bool
    """True if there is a refresh token."""
    tokens: Tokens | None = None
    """None if they are in the keyring."""

    @property
    def has_expired(self) -> bool:
        """True if the access token has expired, or will in the next seconds."""
        return self.expires_at is not None and time.time() > self.expires_at - 5

    @property
    def place(self) -> Literal["keyring", "file"]:
        """The place of its tokens."""
        return "file" if self.tokens else "keyring"


def key_of(url: str) -> str:
    """Return the name of the stored login for a URL, which does not depend on user-info, query and fragment."""
    parts = urlsplit(url)
    port = None if parts.port == {"http": 80, "https": 443}.get(parts.scheme) else parts.port
    meant = f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}"
    return hashlib.sha256(meant.encode()).hexdigest()[:32]


def find(url: str) -> Login | None:
    """Return the login for a URL, if there is one.

    Raises:
        UnusableInput: its file is not valid.
    """
    return read(key_of(url))


def stored() -> list[Login]:
    """Return all logins of this user, by server.

    Raises:
        UnusableInput: a file is not valid.
    """
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir(_folder())
    found = (read(name.removesuffix(".json")) for name in names if name.endswith(".json"))
    return sorted((each for each in found if each), key=lambda each: each.server)


def read(key: str) -> Login | None:
    """Return the login with this key, if there is one.

    Raises:
        UnusableInput: its file is not valid.
    """
    path = _path(key)
    try:
        with open(path, encoding="utf-8") as file:
            members: dict[str, Any] = json.load(file)
        tokens = members.pop("tokens")
        return Login(**members, tokens=tokens and Tokens(**tokens))
    except OSError:
        return None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UnusableInput(f"{path}: is not a stored login; delete it and log in again") from None


def tokens_of(login: Login) -> Tokens:
    """Return the tokens of a login. This may block until the user has unlocked the keyring.

    Raises:
        UnusableInput: the keyring cannot be read.
    """
    if login.tokens:
        return login.tokens
    why = 'this requires the extra "keyring"'
    if keyring := _keyring():
        try:
            if (text := keyring.get_password(_SERVICE, login.key)) is not None:
                return Tokens(**json.loads(text))
            why = "it has no entry for this server"
        except Exception as error:  # noqa: BLE001 - each backend raises its own
            why = str(error) or type(error).__name__
    raise UnusableInput(f"the tokens for {login.server} cannot be read from the keyring of the system: {why}")


def store(login: Login, tokens: Tokens) -> Login:
    """Store a login in place of an earlier one, and return it as stored. This may block like `tokens_of`.

    Raises:
        OSError: the file cannot be written.
    """
    login = replace(login, tokens=tokens)
    if keyring := _keyring():
        # Some limit the length of an entry, such as that of Windows; tokens that are too long stay in the file.
        with suppress(Exception):
            keyring.set_password(_SERVICE, login.key, json.dumps(asdict(tokens)))
            login = replace(login, tokens=None)
    folder = _folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)
    os.chmod(folder, 0o700)
    path = _path(login.key)
    beside = f"{path}.{os.getpid()}.tmp"
    with suppress(FileNotFoundError):
        os.unlink(beside)
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(asdict(login), file, indent=2)
    os.replace(beside, path)
    return login


def forget(login: Login) -> None:
    """Delete a login and its tokens."""
    if login.place == "keyring" and (keyring := _keyring()):
        with suppress(Exception):
            keyring.delete_password(_SERVICE, login.key)
    for path in (_path(login.key), lock_of(login)):
        with suppress(FileNotFoundError):
            os.unlink(path)


def lock_of(login: Login) -> str:
    """Return the path of the file that a process locks while it refreshes the tokens."""
    return f"{_path(login.key)}.lock"


_SERVICE = "mcp-launch"


def _folder() -> str:
    """Return the folder of the logins, in the data directory of the XDG base directory specification."""
    # The specification requires that relative paths are ignored.
    given = os.environ.get("XDG_DATA_HOME", "")
    data = given if os.path.isabs(given) else os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "mcp-launch", "logins")


def _path(key: str) -> str:
    return os.path.join(_folder(), f"{key}.json")


def _keyring() -> Any:
    """Return the keyring of the system; None if there is none that is safe to use."""
    try:
        import keyring  # noqa: PLC0415 - optional, and slow to import

        backend: Any = keyring.get_keyring()
    except (ImportError, RuntimeError):
        return None
    # Those below are a file in plain text, or raise an error for each use.
    return backend if backend.priority >= 1 else None

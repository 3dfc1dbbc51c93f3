"""`mcp-launch login`, `logout` and `whoami`: logs in to servers, and deletes and prints stored logins."""

from __future__ import annotations

import getpass
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from http import HTTPStatus

import anyio

from acp_bindings._standard_streams import printable
from mcp_launch import logins
from mcp_launch._command.authorization import LoginFailed, Wanted, client_for, first_response, log_in
from mcp_launch._command.inputs import Session, Typed
from mcp_launch._command.run import run
from mcp_launch._command.show.text import complain, remark, write, write_json
from mcp_launch._spec import HttpServer, parse_server
from mcp_launch._transports.network import network
from mcp_launch._transports.oauth import has_credentials
from mcp_launch.failures import LaunchFailure, UnusableInput
from mcp_launch.logins import Login, StoredLogins
from mcp_launch.options import Options

_SECRET_VARIABLE = "MCP_LAUNCH_CLIENT_SECRET"  # noqa: S105 - the name of a variable


def log_in_once(session: Session, wanted: Wanted) -> int:
    """Log in to the server of a session, print what was stored, and return the exit status."""
    spec = _web_server(session)

    async def use(_: object) -> int:
        try:
            login = await log_in(spec, wanted)
        except LoginFailed as error:
            complain(f"{spec.name}: {error}")
            return 1
        except LaunchFailure as failure:
            complain(str(failure))
            return 1
        write(printable(f"logged in: {_line(login)}"))
        return 0

    return run(Typed(), [], use)


async def log_in_where_required(sessions: Sequence[Session], *, timeout: float) -> None:
    """Log in to each server that rejects its first request with 401 within *timeout* seconds. Errors are printed."""
    refused: dict[str, HttpServer] = {}

    async def ask(session: Session) -> None:
        # Otherwise the launch says what is wrong with the entry, an option or the server.
        with suppress(LaunchFailure, LoginFailed, UnusableInput):
            spec = _web_server(session)
            auth = network(spec, Options(auth=StoredLogins())).auth
            async with client_for(spec) as client:
                response = await first_response(client, spec, auth=auth)
            if response.status_code == HTTPStatus.UNAUTHORIZED:
                # By login, because several files may have the same URL.
                refused[logins.key_of(spec.url)] = spec

    with anyio.move_on_after(timeout):
        async with anyio.create_task_group() as tasks:
            for session in sessions:
                for entry in session.entries:
                    tasks.start_soon(ask, replace(session, entries=[entry]))
    for spec in refused.values():
        remark(printable(f"{spec.name}: logging in"))
        try:
            await log_in(spec, Wanted())
        except LoginFailed as error:
            complain(f"{spec.name}: {error}")


def log_out(session: Session | None) -> int:
    """Delete the login of the server of a session, or all logins, and return the exit status."""
    found = [logins.find(_web_server(session).url)] if session else logins.stored()
    for login in filter(None, found):
        logins.forget(login)
        write(printable(f"logged out: {login.server}"))
    if found == [None]:
        complain("no login is stored for this server")
        return 1
    return 0


def show_logins(session: Session | None, *, as_json: bool) -> int:
    """Print what is stored, without tokens, and return 1 if there is no login for the server of a session."""
    found = [logins.find(_web_server(session).url)] if session else logins.stored()
    known = [each for each in found if each]
    if as_json:
        hidden = ("key", "tokens", "redirect_uri", "resource")
        documents = [{"place": each.place, **asdict(each)} for each in known]
        write_json({"logins": [{key: value for key, value in each.items() if key not in hidden} for each in documents]})
    else:
        for each in known:
            write(printable(_line(each)))
        if not known:
            remark("no login is stored" + (" for this server" if session else ""))
    return 1 if session and not known else 0


def ask_secret(*, asked: bool) -> str | None:
    """Return the secret of the client from the environment, or from the user if *asked* for and not set there."""
    given = os.environ.get(_SECRET_VARIABLE)
    return given or (getpass.getpass("Client secret: ") if asked else None)


def _line(login: Login) -> str:
    until = "until the server rejects it"
    if login.expires_at is not None:
        when = datetime.fromtimestamp(login.expires_at).astimezone().isoformat(" ", "seconds")
        until = f"{'expired' if login.has_expired else 'until'} {when}"
    if login.refreshes:
        until += ", then refreshed"
    place = "the keyring" if login.place == "keyring" else "a file"
    scopes = f"scopes {login.scope}" if login.scope else "no named scopes"
    return f"{login.server}: client {login.client_id} of {login.issuer}, {scopes}, {until}, tokens in {place}"


def _web_server(session: Session) -> HttpServer:
    """Return the specification of the only server of a session, which must have a URL and no credentials of its own."""
    (server,) = session.servers
    try:
        spec = parse_server(server, phrases=session.phrases)
    except LaunchFailure as failure:
        raise UnusableInput(str(failure)) from None
    if not isinstance(spec, HttpServer):
        raise UnusableInput(f"{spec.name}: is started by a command; only servers with a URL have logins")
    if has_credentials(spec):
        raise UnusableInput(
            f"{spec.name}: has an Authorization header or a password, which is sent instead of a login; remove it"
        )
    return replace(spec, secrets=tuple(session.secrets))

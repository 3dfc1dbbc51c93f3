"""ACP v2 draft: auth. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from acp_bindings._model import AnsweredBy, Extensible, Response

from .common import AuthMethodId


class LoginAuthRequest(Extensible, AnsweredBy["LoginAuthResponse"]):
    """Request parameters for the `auth/login` method.

    Specifies which authentication method to use.

    Agents MUST support this method when their `initialize` response included a non-empty `authMethods` list. Clients
    MUST NOT call this method when `authMethods` was omitted or empty.
    """

    method_id: AuthMethodId
    """The ID of the authentication method to use. Must be one of the methods advertised in the initialize response."""


class LoginAuthResponse(Response):
    """Response to the `auth/login` method."""


class LogoutAuthRequest(Extensible, AnsweredBy["LogoutAuthResponse"]):
    """Request parameters for the `auth/logout` method.

    Terminates the current authenticated session.

    Agents MUST support this method when their `initialize` response included a non-empty `authMethods` list. Clients
    MUST NOT call this method when `authMethods` was omitted or empty.
    """


class LogoutAuthResponse(Response):
    """Response to the `auth/logout` method."""

"""ACP v1 unstable: auth. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Literal, TypeAlias

from acp_bindings._model import AnsweredBy, Extensible, Response
from acp_bindings._types import Lenient, LenientList


class AuthAccount(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    An account or credential the agent has configured, such as a signed-in user account or an API key.

    All fields are display information only. Clients MUST NOT use them as stable account identifiers, and SHOULD NOT log
    them or send them elsewhere, such as to telemetry.
    """

    label: str
    """Human-readable name for the account, suitable for display on its own, for example `Claude Max`, `OpenAI API key`,
    or `Vertex AI`.
    """

    active: Lenient[bool | None] = None
    """Whether the agent currently uses this account by default.

    Several accounts MAY be active, for example one per provider.

    Optional. Omitted and `null` are equivalent and mean the agent does not indicate whether this account is in effect.
    """

    name: Lenient[str | None] = None
    """Display name of the user, such as a username or full name.

    Optional. Omitted and `null` are equivalent and mean no name is reported.
    """

    email: Lenient[str | None] = None
    """Email address of the user.

    Optional. Omitted and `null` are equivalent and mean no email is reported.
    """

    organization: Lenient[str | None] = None
    """Display name of the organization, team, or workspace the account is using.

    Optional. Omitted and `null` are equivalent and mean no organization is reported.
    """


AuthState: TypeAlias = Literal["authenticated", "unauthenticated", "not_required", "unknown"] | str
"""**UNSTABLE**

This capability is not part of the spec yet, and may be removed or changed at any point.

The agent's overall authentication state.

- `authenticated`: Credentials are configured. This does not guarantee that they are valid.
- `unauthenticated`: The user needs to sign in. This includes credentials that are missing, expired, or known to be
  invalid.
- `not_required`: No authentication is needed, for example because the agent uses a local model.
- `unknown`: The agent cannot currently determine the state.
"""


class AuthStatusRequest(Extensible, AnsweredBy["AuthStatusResponse"]):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Request parameters for the `auth/status` method.

    Queries the agent's current authentication state without changing it.

    Agents MUST NOT reject it with `auth_required` (`-32000`), since Clients call it to learn whether authentication is
    required.
    """


class AuthStatusResponse(Response):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Response to the `auth/status` method.
    """

    state: AuthState
    """Whether the agent can start sessions without the user signing in first.

    This is the only field clients should act on. Clients MUST treat values they do not recognize as `unknown`.
    """

    accounts: LenientList[list[AuthAccount]] = []
    """The accounts the agent has configured, for display.

    Optional. Omitted and empty are equivalent and mean no accounts are reported. Agents that hold credentials for
    several providers or accounts SHOULD list each of them and mark the ones in effect with `active`.
    """


class AuthStatusUpdateNotification(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Notification sent by the agent when its authentication status changes.

    Carries the same fields as the `auth/status` response. Agents that advertise the `auth.status` capability MAY send
    it at any time after `initialize`, and SHOULD only send it when the reported status differs from the last one sent
    on the connection.
    """

    state: AuthState
    """Whether the agent can start sessions without the user signing in first.

    This is the only field clients should act on. Clients MUST treat values they do not recognize as `unknown`.
    """

    accounts: LenientList[list[AuthAccount]] = []
    """The accounts the agent has configured, for display.

    Optional. Omitted and empty are equivalent and mean no accounts are reported. Agents that hold credentials for
    several providers or accounts SHOULD list each of them and mark the ones in effect with `active`.
    """

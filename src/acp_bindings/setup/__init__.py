"""The rules of the Agent Client Protocol around its types, without I/O.

Versions and the handshake that settles on one, capabilities and what they gate, logging in, the lifecycle of a
connection. Importing this package loads no models; each of its names loads what it needs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answers import error_from as error_from
    from .answers import is_closed as is_closed
    from .auth import auth_methods_for as auth_methods_for
    from .auth import login as login
    from .auth import logout as logout
    from .errors import (
        AuthMethodRefused as AuthMethodRefused,
    )
    from .errors import (
        AuthRequired as AuthRequired,
    )
    from .errors import (
        BadProtocolVersion as BadProtocolVersion,
    )
    from .errors import (
        CapabilityNotAdvertised as CapabilityNotAdvertised,
    )
    from .errors import (
        EndlessListing as EndlessListing,
    )
    from .errors import (
        InitializedAlready as InitializedAlready,
    )
    from .errors import (
        InvalidParams as InvalidParams,
    )
    from .errors import (
        McpServersRefused as McpServersRefused,
    )
    from .errors import (
        MethodNotAdvertised as MethodNotAdvertised,
    )
    from .errors import (
        NotInitialized as NotInitialized,
    )
    from .errors import (
        RefusedServer as RefusedServer,
    )
    from .errors import (
        RequestError as RequestError,
    )
    from .errors import (
        SessionNotFound as SessionNotFound,
    )
    from .errors import (
        UnknownCapability as UnknownCapability,
    )
    from .errors import (
        UnsupportedProtocolVersion as UnsupportedProtocolVersion,
    )
    from .gates import (
        GatedServers as GatedServers,
    )
    from .gates import (
        check_capability as check_capability,
    )
    from .gates import (
        check_message as check_message,
    )
    from .gates import (
        check_method as check_method,
    )
    from .gates import (
        gate_mcp_servers as gate_mcp_servers,
    )
    from .gates import (
        refuse_servers as refuse_servers,
    )
    from .gates import (
        refuse_unadvertised as refuse_unadvertised,
    )
    from .handshake import (
        AgentHandshake as AgentHandshake,
    )
    from .handshake import (
        ClientHandshake as ClientHandshake,
    )
    from .handshake import (
        Settled as Settled,
    )
    from .lifecycle import Lifecycle as Lifecycle
    from .listing import SessionListing as SessionListing
    from .opening import OPENING as OPENING
    from .peer import AgentPeer as AgentPeer
    from .peer import ClientPeer as ClientPeer
    from .peer import Peer as Peer
    from .peer import method_id as method_id
    from .remarks import Remark as Remark
    from .remarks import Severity as Severity
    from .versions import latest_supported as latest_supported
    from .versions import negotiate as negotiate
    from .versions import version_of as version_of
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "answers": "error_from is_closed",
            "auth": "auth_methods_for login logout",
            "capabilities": "",
            "errors": """
            AuthMethodRefused AuthRequired BadProtocolVersion CapabilityNotAdvertised EndlessListing InitializedAlready
            InvalidParams McpServersRefused MethodNotAdvertised NotInitialized RefusedServer RequestError
            SessionNotFound UnknownCapability UnsupportedProtocolVersion
        """,
            "gates": """
            GatedServers check_capability check_message check_method gate_mcp_servers refuse_servers
            refuse_unadvertised
        """,
            "handshake": "AgentHandshake ClientHandshake Settled",
            "lifecycle": "Lifecycle",
            "listing": "SessionListing",
            "misspelt": "",
            "opening": "OPENING",
            "peer": "AgentPeer ClientPeer Peer method_id",
            "remarks": "Remark Severity",
            "versions": "latest_supported negotiate version_of",
        },
    )

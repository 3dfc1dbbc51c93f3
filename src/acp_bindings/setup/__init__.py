"""The rules of the Agent Client Protocol around its types, without I/O.

Versions and the handshake that settles on one, capabilities and what they gate, logging in, the lifecycle of a
connection; sessions: their requests, the records to come back by, paths, MCP servers, history and its replay. Importing
this package loads no models; each of its names loads what it needs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answers import error_from as error_from
    from .answers import is_closed as is_closed
    from .auth import auth_methods_for as auth_methods_for
    from .auth import login as login
    from .auth import logout as logout
    from .commands import CommandNotFound as CommandNotFound
    from .commands import resolve_command as resolve_command
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
    from .history import asks_for_history as asks_for_history
    from .history import history_line as history_line
    from .history import is_history as is_history
    from .history import read_history as read_history
    from .history import replay as replay
    from .history import user_chunks as user_chunks
    from .lifecycle import Lifecycle as Lifecycle
    from .listing import SessionListing as SessionListing
    from .opening import OPENING as OPENING
    from .paths import Flavour as Flavour
    from .paths import NotAbsolute as NotAbsolute
    from .paths import check_paths as check_paths
    from .paths import is_absolute as is_absolute
    from .paths import require_absolute as require_absolute
    from .peer import AgentPeer as AgentPeer
    from .peer import ClientPeer as ClientPeer
    from .peer import Peer as Peer
    from .peer import method_id as method_id
    from .records import ServersMissing as ServersMissing
    from .records import SessionRecord as SessionRecord
    from .records import load_remarks as load_remarks
    from .records import new_session_remarks as new_session_remarks
    from .remarks import Remark as Remark
    from .remarks import Severity as Severity
    from .roots import OutsideRoots as OutsideRoots
    from .roots import Roots as Roots
    from .servers import servers_for as servers_for
    from .servers import servers_remarks as servers_remarks
    from .sessions import close_session as close_session
    from .sessions import delete_session as delete_session
    from .sessions import fork_session as fork_session
    from .sessions import list_sessions as list_sessions
    from .sessions import load_session as load_session
    from .sessions import new_session as new_session
    from .sessions import resume_session as resume_session
    from .updates import ReplayCollector as ReplayCollector
    from .updates import SessionIdReused as SessionIdReused
    from .updates import Update as Update
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
            "claude_code": "",
            "commands": "CommandNotFound resolve_command",
            "errors": """
                AuthMethodRefused AuthRequired BadProtocolVersion CapabilityNotAdvertised
                EndlessListing InitializedAlready InvalidParams McpServersRefused
                MethodNotAdvertised NotInitialized RefusedServer RequestError SessionNotFound
                UnknownCapability UnsupportedProtocolVersion
            """,
            "gates": """
                GatedServers check_capability check_message check_method gate_mcp_servers
                refuse_servers refuse_unadvertised
            """,
            "handshake": "AgentHandshake ClientHandshake Settled",
            "headers": "",
            "history": "asks_for_history history_line is_history read_history replay user_chunks",
            "lifecycle": "Lifecycle",
            "listing": "SessionListing",
            "misspelt": "",
            "opening": "OPENING",
            "paths": "Flavour NotAbsolute check_paths is_absolute require_absolute",
            "peer": "AgentPeer ClientPeer Peer method_id",
            "records": "ServersMissing SessionRecord load_remarks new_session_remarks",
            "remarks": "Remark Severity",
            "roots": "OutsideRoots Roots",
            "servers": "servers_for servers_remarks",
            "sessions": """
                close_session delete_session fork_session list_sessions load_session new_session
                resume_session
            """,
            "unions": "",
            "updates": "ReplayCollector SessionIdReused Update",
            "versions": "latest_supported negotiate version_of",
        },
    )

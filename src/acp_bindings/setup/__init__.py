"""The rules of the Agent Client Protocol around its types, under any transport.

Versions and the handshake that settles on one, capabilities and what they gate, logging in, the lifecycle of a
connection; sessions: their requests, the records to come back by, paths, MCP servers, history and its replay. Importing
this package loads no models; each of its names loads what it needs.

Nothing here sends or opens anything. Of this system, `commands` looks for programs and `roots` for where links lead,
and `claude_code` asks the environment where sessions are; all other modules know only what they are given.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._responses import error_from as error_from, is_closed as is_closed
    from ._auth import auth_methods_for as auth_methods_for, login as login, logout as logout
    from ._paths import CommandNotFound as CommandNotFound, resolve_command as resolve_command
    from .errors import (
        AuthMethodRefused as AuthMethodRefused,
        AuthRequired as AuthRequired,
        BadProtocolVersion as BadProtocolVersion,
        CapabilityNotAdvertised as CapabilityNotAdvertised,
        EndlessListing as EndlessListing,
        InitializedAlready as InitializedAlready,
        InvalidParams as InvalidParams,
        McpServersRefused as McpServersRefused,
        MethodNotAdvertised as MethodNotAdvertised,
        NotInitialized as NotInitialized,
        RefusedServer as RefusedServer,
        RequestError as RequestError,
        SessionNotFound as SessionNotFound,
        UnknownCapability as UnknownCapability,
        UnsupportedProtocolVersion as UnsupportedProtocolVersion,
    )
    from ._gates import (
        GatedServers as GatedServers,
        check_capability as check_capability,
        check_message as check_message,
        check_method as check_method,
        gate_mcp_servers as gate_mcp_servers,
        refuse_unadvertised as refuse_unadvertised,
    )
    from ._handshake import AgentHandshake as AgentHandshake, ClientHandshake as ClientHandshake, Settled as Settled
    from ._handshake import Lifecycle as Lifecycle
    from ._handshake import OPENING as OPENING
    from ._paths import (
        Flavour as Flavour,
        NotAbsolute as NotAbsolute,
        check_paths as check_paths,
        is_absolute as is_absolute,
        require_absolute as require_absolute,
    )
    from ._peer import AgentPeer as AgentPeer, ClientPeer as ClientPeer, Peer as Peer, method_id as method_id
    from .errors import Remark as Remark, Severity as Severity
    from ._paths import OutsideRoots as OutsideRoots, Roots as Roots
    from ._servers import servers_for as servers_for, servers_remarks as servers_remarks
    from ._history import (
        asks_for_history as asks_for_history,
        history_line as history_line,
        is_history as is_history,
        read_history as read_history,
        replay as replay,
        user_chunks as user_chunks,
    )
    from ._requests import SessionListing as SessionListing
    from ._records import ServersMissing as ServersMissing, SessionRecord as SessionRecord, load_remarks as load_remarks
    from ._requests import (
        close_session as close_session,
        delete_session as delete_session,
        fork_session as fork_session,
        list_sessions as list_sessions,
        load_session as load_session,
        new_session as new_session,
        resume_session as resume_session,
    )
    from ._updates import ReplayCollector as ReplayCollector, SessionIdReused as SessionIdReused, Update as Update
    from ._versions import latest_supported as latest_supported, negotiate as negotiate, version_of as version_of
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_auth": "auth_methods_for login logout",
            "capabilities": "",
            "claude_code": "",
            "errors": """
                AuthMethodRefused AuthRequired BadProtocolVersion CapabilityNotAdvertised
                EndlessListing InitializedAlready InvalidParams McpServersRefused
                MethodNotAdvertised NotInitialized RefusedServer Remark RequestError
                SessionNotFound Severity UnknownCapability UnsupportedProtocolVersion
            """,
            "_gates": """
                GatedServers check_capability check_message check_method gate_mcp_servers
                refuse_unadvertised
            """,
            "_handshake": "AgentHandshake ClientHandshake Lifecycle OPENING Settled",
            "_history": "asks_for_history history_line is_history read_history replay user_chunks",
            "_paths": """
                CommandNotFound Flavour NotAbsolute OutsideRoots Roots check_paths is_absolute
                require_absolute resolve_command
            """,
            "_peer": "AgentPeer ClientPeer Peer method_id",
            "_records": "ServersMissing SessionRecord load_remarks",
            "_requests": """
                SessionListing close_session delete_session fork_session list_sessions
                load_session new_session resume_session
            """,
            "_responses": "error_from is_closed",
            "_servers": "servers_for servers_remarks",
            "unions": "",
            "_updates": "ReplayCollector SessionIdReused Update",
            "_versions": "latest_supported negotiate version_of",
        },
    )

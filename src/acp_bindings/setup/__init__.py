"""The rules of the Agent Client Protocol around its types, for any transport.

They cover versions and the handshake, capabilities, login, the lifecycle of a connection, and sessions: requests,
records, paths, MCP servers, history and replay. Importing this package does not load any models; each name loads what
it needs. All exceptions and remarks are in `acp_bindings.setup.errors`, too.

Nothing here sends messages or opens files. Only `resolve_command` and `Roots` access the file system.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._auth import login as login, logout as logout
    from ._gates import check_message as check_message, gate_mcp_servers as gate_mcp_servers
    from ._handshake import (
        OPENING as OPENING,
        AgentHandshake as AgentHandshake,
        ClientHandshake as ClientHandshake,
        Lifecycle as Lifecycle,
    )
    from ._history import History as History
    from ._paths import (
        CommandNotFound as CommandNotFound,
        NotAbsolute as NotAbsolute,
        OutsideRoots as OutsideRoots,
        Roots as Roots,
        check_paths as check_paths,
        require_absolute as require_absolute,
        resolve_command as resolve_command,
    )
    from ._peer import AgentPeer as AgentPeer, ClientPeer as ClientPeer, Peer as Peer
    from ._records import ServersMissing as ServersMissing, SessionRecord as SessionRecord
    from ._requests import (
        SessionListing as SessionListing,
        close_session as close_session,
        delete_session as delete_session,
        fork_session as fork_session,
        list_sessions as list_sessions,
        load_session as load_session,
        new_session as new_session,
        resume_session as resume_session,
    )
    from ._error_responses import error_from as error_from, is_closed as is_closed
    from ._servers import servers_for as servers_for, servers_remarks as servers_remarks
    from ._updates import ReplayCollector as ReplayCollector, Update as Update
    from .errors import (
        AuthMethodRefused as AuthMethodRefused,
        AuthRequired as AuthRequired,
        CapabilityNotAdvertised as CapabilityNotAdvertised,
        InvalidParams as InvalidParams,
        McpServersRefused as McpServersRefused,
        NotInitialized as NotInitialized,
        Remark as Remark,
        RequestError as RequestError,
        SessionNotFound as SessionNotFound,
        UnsupportedProtocolVersion as UnsupportedProtocolVersion,
    )
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_auth": "login logout",
            "_gates": "check_message gate_mcp_servers",
            "_handshake": "OPENING AgentHandshake ClientHandshake Lifecycle",
            "_history": "History",
            "_paths": "CommandNotFound NotAbsolute OutsideRoots Roots check_paths require_absolute resolve_command",
            "_peer": "AgentPeer ClientPeer Peer",
            "_records": "ServersMissing SessionRecord",
            "_requests": """
                SessionListing close_session delete_session fork_session list_sessions load_session new_session
                resume_session
            """,
            "_error_responses": "error_from is_closed",
            "_servers": "servers_for servers_remarks",
            "_updates": "ReplayCollector Update",
            "capabilities": "",
            "errors": """
                AuthMethodRefused AuthRequired CapabilityNotAdvertised InvalidParams McpServersRefused NotInitialized
                Remark RequestError SessionNotFound UnsupportedProtocolVersion
            """,
            "unions": "",
        },
    )

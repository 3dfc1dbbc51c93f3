"""Clients of agents: sessions, prompts as streams, and ready answers for what agents ask. Needs the extra `connection`.

    async with Client("editor", version="1.0").connect(["my-agent", "--acp"]) as agent:
        async with agent.session(cwd="/home/me/project") as session:
            async for update in session.prompt("What does this do?"):
                print(update)

All of it is in the classes of `acp_bindings.v1`, whichever version the agent speaks. Only updates that v1 does not have
are in those of v2, so annotate an update as `object`. Importing this package loads nothing; its names load what they
need.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._client import Client as Client
    from ._client_session import Session as Session
    from ._client_session import SessionOpening as SessionOpening
    from ._connected_agent import ConnectedAgent as ConnectedAgent
    from ._files import Files as Files
    from ._permission import Allow as Allow
    from ._permission import Decision as Decision
    from ._permission import PermissionPolicy as PermissionPolicy
    from ._permission import PermissionQuestion as PermissionQuestion
    from ._permission import Reject as Reject
    from ._prompt_turn import PromptTurn as PromptTurn
    from ._reconnecting import Reconnect as Reconnect
    from ._reconnecting import Reconnected as Reconnected
    from ._state import Message as Message
    from ._state import SessionState as SessionState
    from ._state import Usage as Usage
    from ._terminals import Terminals as Terminals
    from ._turns import SessionBusy as SessionBusy
    from ._turns import SessionClosed as SessionClosed
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_client": "Client",
            "_client_session": "Session SessionOpening",
            "_connected_agent": "ConnectedAgent",
            "_files": "Files",
            "_permission": "Allow Decision PermissionPolicy PermissionQuestion Reject",
            "_prompt_turn": "PromptTurn",
            "_reconnecting": "Reconnect Reconnected",
            "_state": "Message SessionState Usage",
            "_terminals": "Terminals",
            "_turns": "SessionBusy SessionClosed",
        },
        extra="connection",
    )

"""Clients of agents: sessions, prompts as streams, and ready answers for what agents ask. Needs the extra `connection`.

    async with Client("editor", version="1.0").connect(["my-agent", "--acp"]) as agent:
        async with agent.session(cwd="/home/me/project") as session:
            async for update in session.prompt("What does this do?"):
                print(update)

All of it is in the classes of `acp_bindings.v1`, whichever version the agent speaks. Importing this package loads
nothing; its names load what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_bindings._lazy import lazy_names

if TYPE_CHECKING:
    from acp_bindings.client._client import Client
    from acp_bindings.client._client_session import Session, SessionOpening
    from acp_bindings.client._connected_agent import ConnectedAgent
    from acp_bindings.client._files import Files
    from acp_bindings.client._permission import Allow, Decision, PermissionPolicy, PermissionQuestion, Reject
    from acp_bindings.client._prompt_turn import PromptTurn
    from acp_bindings.client._reconnecting import Reconnect, Reconnected
    from acp_bindings.client._state import Message, SessionState, Usage
    from acp_bindings.client._terminals import Terminals
    from acp_bindings.client._turns import SessionBusy, SessionClosed
else:
    _, _load, __dir__ = lazy_names(
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
    )

    def __getattr__(name: str) -> Any:
        try:
            return _load(name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"acp_bindings.client needs {error.name}: pip install 'acp-bindings[connection]'"
            ) from error


__all__ = [
    "Allow",
    "Client",
    "ConnectedAgent",
    "Decision",
    "Files",
    "Message",
    "PermissionPolicy",
    "PermissionQuestion",
    "PromptTurn",
    "Reconnect",
    "Reconnected",
    "Reject",
    "Session",
    "SessionBusy",
    "SessionClosed",
    "SessionOpening",
    "SessionState",
    "Terminals",
    "Usage",
]

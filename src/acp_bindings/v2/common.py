"""ACP v2 draft: common. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Any, TypeAlias

from acp_bindings._model import Extensible
from acp_bindings._types import Int64, Secret, UInt16

AbsolutePath: TypeAlias = str
"""An absolute filesystem path used by the protocol.

Uses the native syntax of the machine the Agent runs on, such as `/home/user/project`, `C:\\Users\\user\\project`, or
`\\\\server\\share\\project`. It is not a URI.
"""


AuthMethodId: TypeAlias = str
"""Typed identifier used for auth method values on the wire."""


class EnvVariable(Extensible):
    """An environment variable to set when launching a process."""

    name: str
    """The name of the environment variable."""

    value: Secret[str]
    """The value to set for the environment variable."""


ExtNotification: TypeAlias = Any
"""Allows either side to send an arbitrary notification that is not part of the ACP spec.

Extension notifications provide a way to send one-way messages for custom functionality while maintaining protocol
compatibility.

See protocol docs: [Extensibility](https://agentclientprotocol.com/protocol/v2/extensibility)
"""


ExtRequest: TypeAlias = Any
"""Allows for sending an arbitrary request that is not part of the ACP spec.

Extension methods provide a way to add custom functionality while maintaining protocol compatibility.

See protocol docs: [Extensibility](https://agentclientprotocol.com/protocol/v2/extensibility)
"""


ExtResponse: TypeAlias = Any
"""Allows for sending an arbitrary response to an extension request that is not part of the ACP spec.

Extension methods provide a way to add custom functionality while maintaining protocol compatibility.

See protocol docs: [Extensibility](https://agentclientprotocol.com/protocol/v2/extensibility)
"""


MediaType: TypeAlias = str
"""An Internet media type identifying the format of protocol content."""


ProtocolVersion: TypeAlias = UInt16
"""Protocol version identifier.

This version is only bumped for breaking changes. Non-breaking changes should be introduced via capabilities.
"""


RequestId: TypeAlias = Int64 | str
"""A JSON-RPC request ID: a string or an integer. Unlike base JSON-RPC, it MUST NOT be `null`.

The receiver MUST reply with the same value in the response. Each side chooses IDs for its own requests, so the same ID
can be in use in both directions. A sender MUST NOT reuse an ID while a request with it is still awaiting a response.
"""


SessionConfigId: TypeAlias = str
"""Unique identifier for a session configuration option."""


SessionConfigValueId: TypeAlias = str
"""Unique identifier for a session configuration option value."""


SessionId: TypeAlias = str
"""A unique identifier for a conversation session between a client and agent.

Each session has its own context, conversation history, and state, so one agent can run several independent sessions.

See protocol docs: [Session ID](https://agentclientprotocol.com/protocol/v2/session-setup#session-id)
"""


TerminalId: TypeAlias = str
"""Unique identifier for an agent-owned terminal within a session."""


ToolCallId: TypeAlias = str
"""Unique identifier for a tool call within a session."""

"""ACP v1: common. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Any, TypeAlias

from acp_bindings._model import Extensible, Model
from acp_bindings._types import Int32, Int64, Secret


class EnvVariable(Extensible):
    """An environment variable to set when launching an MCP server."""

    name: str
    """The name of the environment variable."""

    value: Secret[str]
    """The value to set for the environment variable."""


ErrorCode: TypeAlias = Int32
"""Predefined error codes for common JSON-RPC and ACP-specific errors.

Standard errors use the JSON-RPC 2.0 codes. ACP-specific errors use the JSON-RPC server-error range (-32000 to -32099),
and request cancellation uses -32800 from the range LSP reserves (-32899 to -32800).

- `-32700`: **Parse error**: Invalid JSON was received by the server. An error occurred on the server while parsing the
  JSON text.
- `-32600`: **Invalid request**: The JSON sent is not a valid Request object.
- `-32601`: **Method not found**: The method does not exist or is not available.
- `-32602`: **Invalid params**: Invalid method parameter(s).
- `-32603`: **Internal error**: Internal JSON-RPC error.
- `-32800`: **Request cancelled**: Execution of the method was aborted either due to a cancellation request from the
  caller or because of resource constraints or shutdown.
- `-32000`: **Authentication required**: Authentication is required before this operation can be performed.
- `-32002`: **Resource not found**: A given resource, such as a session or file, was not found.
"""


class Error(Model):
    """JSON-RPC error object.

    Represents an error that occurred during method execution, following the JSON-RPC 2.0 error object specification
    with optional additional data.

    See protocol docs: [JSON-RPC Error Object](https://www.jsonrpc.org/specification#error_object)
    """

    code: ErrorCode
    """A number indicating the error type that occurred.

    This must be an integer as defined in the JSON-RPC specification.
    """

    message: str
    """A string providing a short description of the error.

    The message should be limited to a concise single sentence.
    """

    data: Any = None
    """Optional primitive or structured value that contains additional information about the error.

    This may include debugging information or context-specific details.
    """


ExtNotification: TypeAlias = Any
"""Allows either side to send an arbitrary notification that is not part of the ACP spec.

Extension notifications provide a way to send one-way messages for custom functionality while maintaining protocol
compatibility.

See protocol docs: [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility)
"""


ExtRequest: TypeAlias = Any
"""Allows for sending an arbitrary request that is not part of the ACP spec.

Extension methods provide a way to add custom functionality while maintaining protocol compatibility.

See protocol docs: [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility)
"""


ExtResponse: TypeAlias = Any
"""Allows for sending an arbitrary response to an extension request that is not part of the ACP spec.

Extension methods provide a way to add custom functionality while maintaining protocol compatibility.

See protocol docs: [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility)
"""


RequestId: TypeAlias = Int64 | str | None
"""JSON RPC Request Id.

An identifier established by the Client that MUST contain a String, Number, or NULL value if included. If it is not
included it is assumed to be a notification. The value SHOULD normally not be Null \\[1\\] and Numbers SHOULD NOT contain
fractional parts \\[2\\]

The Server MUST reply with the same value in the Response object if included. This member is used to correlate the
context between the two objects.

\\[1\\] The use of Null as a value for the id member in a Request object is discouraged, because this specification uses a
value of Null for Responses with an unknown id. Also, because JSON-RPC 1.0 uses an id value of Null for Notifications
this could cause confusion in handling.

\\[2\\] Fractional parts may be problematic, since many decimal fractions cannot be represented exactly as binary
fractions.
"""


SessionConfigId: TypeAlias = str
"""Unique identifier for a session configuration option."""


SessionConfigValueId: TypeAlias = str
"""Unique identifier for a session configuration option value."""


SessionId: TypeAlias = str
"""A unique identifier for a conversation session between a client and agent.

Each session has its own context, conversation history, and state, so one agent can run several independent sessions.

See protocol docs: [Session ID](https://agentclientprotocol.com/protocol/v1/session-setup#session-id)
"""


TerminalId: TypeAlias = str
"""Typed identifier used for terminal values on the wire."""


ToolCallId: TypeAlias = str
"""Unique identifier for a tool call within a session."""

"""ACP v2 draft: methods. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from acp_bindings.methods import Methods

METHODS = Methods(
    __name__,
    requests={
        "auth/login": ("agent", "LoginAuthRequest", "LoginAuthResponse"),
        "auth/logout": ("agent", "LogoutAuthRequest", "LogoutAuthResponse"),
        "elicitation/create": ("client", "CreateElicitationRequest", "CreateElicitationResponse"),
        "initialize": ("agent", "InitializeRequest", "InitializeResponse"),
        "session/close": ("agent", "CloseSessionRequest", "CloseSessionResponse"),
        "session/delete": ("agent", "DeleteSessionRequest", "DeleteSessionResponse"),
        "session/list": ("agent", "ListSessionsRequest", "ListSessionsResponse"),
        "session/new": ("agent", "NewSessionRequest", "NewSessionResponse"),
        "session/prompt": ("agent", "PromptRequest", "PromptResponse"),
        "session/request_permission": ("client", "RequestPermissionRequest", "RequestPermissionResponse"),
        "session/resume": ("agent", "ResumeSessionRequest", "ResumeSessionResponse"),
        "session/set_config_option": ("agent", "SetSessionConfigOptionRequest", "SetSessionConfigOptionResponse"),
        "terminal/cancel": ("agent", "CancelTerminalRequest", "CancelTerminalResponse"),
        "tool_call/cancel": ("agent", "CancelToolCallRequest", "CancelToolCallResponse"),
    },
    notifications={
        "$/cancel_request": ("protocol", "CancelRequestNotification"),
        "elicitation/complete": ("client", "CompleteElicitationNotification"),
        "session/cancel": ("agent", "CancelSessionNotification"),
        "session/update": ("client", "UpdateSessionNotification"),
    },
)
"""Who handles each method, and the types of what it carries and of what answers it."""

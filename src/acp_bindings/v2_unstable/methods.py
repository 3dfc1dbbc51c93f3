"""ACP v2 unstable draft: methods. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from acp_bindings.methods import Methods

METHODS = Methods(
    __name__,
    requests={
        "auth/login": ("agent", "LoginAuthRequest", "LoginAuthResponse"),
        "auth/logout": ("agent", "LogoutAuthRequest", "LogoutAuthResponse"),
        "auth/status": ("agent", "AuthStatusRequest", "AuthStatusResponse"),
        "elicitation/create": ("client", "CreateElicitationRequest", "CreateElicitationResponse"),
        "initialize": ("agent", "InitializeRequest", "InitializeResponse"),
        "mcp/message": ("client", "MessageMcpRequest", "MessageMcpResponse"),
        "providers/disable": ("agent", "DisableProviderRequest", "DisableProviderResponse"),
        "providers/list": ("agent", "ListProvidersRequest", "ListProvidersResponse"),
        "providers/set": ("agent", "SetProviderRequest", "SetProviderResponse"),
        "proxy/initialize": ("proxy", "InitializeProxyRequest", "InitializeProxyResponse"),
        "proxy/successor": ("proxy", "ProxySuccessorRequest", "ProxySuccessorResponse"),
        "session/archive": ("agent", "ArchiveSessionRequest", "ArchiveSessionResponse"),
        "session/close": ("agent", "CloseSessionRequest", "CloseSessionResponse"),
        "session/delete": ("agent", "DeleteSessionRequest", "DeleteSessionResponse"),
        "session/fork": ("agent", "ForkSessionRequest", "ForkSessionResponse"),
        "session/list": ("agent", "ListSessionsRequest", "ListSessionsResponse"),
        "session/new": ("agent", "NewSessionRequest", "NewSessionResponse"),
        "session/prompt": ("agent", "PromptRequest", "PromptResponse"),
        "session/request_permission": ("client", "RequestPermissionRequest", "RequestPermissionResponse"),
        "session/resume": ("agent", "ResumeSessionRequest", "ResumeSessionResponse"),
        "session/set_config_option": ("agent", "SetSessionConfigOptionRequest", "SetSessionConfigOptionResponse"),
        "session/set_title": ("agent", "SetSessionTitleRequest", "SetSessionTitleResponse"),
        "session/status": ("agent", "SessionStatusRequest", "SessionStatusResponse"),
        "session/unarchive": ("agent", "UnarchiveSessionRequest", "UnarchiveSessionResponse"),
        "terminal/cancel": ("agent", "CancelTerminalRequest", "CancelTerminalResponse"),
        "tool_call/cancel": ("agent", "CancelToolCallRequest", "CancelToolCallResponse"),
    },
    notifications={
        "$/cancel_request": ("protocol", "CancelRequestNotification"),
        "auth/status_update": ("client", "AuthStatusUpdateNotification"),
        "elicitation/complete": ("client", "CompleteElicitationNotification"),
        "mcp/message": ("agent", "MessageMcpNotification"),
        "proxy/successor": ("proxy", "ProxySuccessorNotification"),
        "session/cancel": ("agent", "CancelSessionNotification"),
        "session/update": ("client", "UpdateSessionNotification"),
    },
)
"""Who handles each method, and the types of what it carries and of what answers it."""

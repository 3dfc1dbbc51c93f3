"""ACP v1: methods. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from acp_bindings.methods import Methods

METHODS = Methods(
    __name__,
    requests={
        "authenticate": ("agent", "AuthenticateRequest", "AuthenticateResponse"),
        "elicitation/create": ("client", "CreateElicitationRequest", "CreateElicitationResponse"),
        "fs/read_text_file": ("client", "ReadTextFileRequest", "ReadTextFileResponse"),
        "fs/write_text_file": ("client", "WriteTextFileRequest", "WriteTextFileResponse"),
        "initialize": ("agent", "InitializeRequest", "InitializeResponse"),
        "logout": ("agent", "LogoutRequest", "LogoutResponse"),
        "session/close": ("agent", "CloseSessionRequest", "CloseSessionResponse"),
        "session/delete": ("agent", "DeleteSessionRequest", "DeleteSessionResponse"),
        "session/list": ("agent", "ListSessionsRequest", "ListSessionsResponse"),
        "session/load": ("agent", "LoadSessionRequest", "LoadSessionResponse"),
        "session/new": ("agent", "NewSessionRequest", "NewSessionResponse"),
        "session/prompt": ("agent", "PromptRequest", "PromptResponse"),
        "session/request_permission": ("client", "RequestPermissionRequest", "RequestPermissionResponse"),
        "session/resume": ("agent", "ResumeSessionRequest", "ResumeSessionResponse"),
        "session/set_config_option": ("agent", "SetSessionConfigOptionRequest", "SetSessionConfigOptionResponse"),
        "session/set_mode": ("agent", "SetSessionModeRequest", "SetSessionModeResponse"),
        "terminal/create": ("client", "CreateTerminalRequest", "CreateTerminalResponse"),
        "terminal/kill": ("client", "KillTerminalRequest", "KillTerminalResponse"),
        "terminal/output": ("client", "TerminalOutputRequest", "TerminalOutputResponse"),
        "terminal/release": ("client", "ReleaseTerminalRequest", "ReleaseTerminalResponse"),
        "terminal/wait_for_exit": ("client", "WaitForTerminalExitRequest", "WaitForTerminalExitResponse"),
    },
    notifications={
        "$/cancel_request": ("protocol", "CancelRequestNotification"),
        "elicitation/complete": ("client", "CompleteElicitationNotification"),
        "session/cancel": ("agent", "CancelNotification"),
        "session/update": ("client", "SessionNotification"),
    },
)
"""Who handles each method, and the types of what it carries and of what answers it."""

"""ACP v1. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .common import (
        EnvVariable as EnvVariable,
        Error as Error,
        ErrorCode as ErrorCode,
        ExtNotification as ExtNotification,
        ExtRequest as ExtRequest,
        ExtResponse as ExtResponse,
        RequestId as RequestId,
        SessionConfigId as SessionConfigId,
        SessionConfigValueId as SessionConfigValueId,
        SessionId as SessionId,
        TerminalId as TerminalId,
        ToolCallId as ToolCallId,
    )
    from .connection import (
        AgentAuthCapabilities as AgentAuthCapabilities,
        AgentCapabilities as AgentCapabilities,
        AuthCapabilities as AuthCapabilities,
        AuthenticateRequest as AuthenticateRequest,
        AuthenticateResponse as AuthenticateResponse,
        AuthMethod as AuthMethod,
        AuthMethodAgent as AuthMethodAgent,
        AuthMethodId as AuthMethodId,
        AuthMethodTerminal as AuthMethodTerminal,
        BooleanConfigOptionCapabilities as BooleanConfigOptionCapabilities,
        CancelRequestNotification as CancelRequestNotification,
        ClientCapabilities as ClientCapabilities,
        ClientSessionCapabilities as ClientSessionCapabilities,
        CompactionCapabilities as CompactionCapabilities,
        ElicitationCapabilities as ElicitationCapabilities,
        ElicitationFormCapabilities as ElicitationFormCapabilities,
        ElicitationUrlCapabilities as ElicitationUrlCapabilities,
        FileSystemCapabilities as FileSystemCapabilities,
        Implementation as Implementation,
        InitializeRequest as InitializeRequest,
        InitializeResponse as InitializeResponse,
        LogoutCapabilities as LogoutCapabilities,
        LogoutRequest as LogoutRequest,
        LogoutResponse as LogoutResponse,
        McpCapabilities as McpCapabilities,
        NoticeCapabilities as NoticeCapabilities,
        PromptCapabilities as PromptCapabilities,
        ProtocolVersion as ProtocolVersion,
        SessionAdditionalDirectoriesCapabilities as SessionAdditionalDirectoriesCapabilities,
        SessionCapabilities as SessionCapabilities,
        SessionCloseCapabilities as SessionCloseCapabilities,
        SessionConfigOptionsCapabilities as SessionConfigOptionsCapabilities,
        SessionDeleteCapabilities as SessionDeleteCapabilities,
        SessionListCapabilities as SessionListCapabilities,
        SessionResumeCapabilities as SessionResumeCapabilities,
    )
    from .content_block import (
        Annotations as Annotations,
        AudioContent as AudioContent,
        BlobResourceContents as BlobResourceContents,
        ContentBlock as ContentBlock,
        EmbeddedResource as EmbeddedResource,
        EmbeddedResourceResource as EmbeddedResourceResource,
        ImageContent as ImageContent,
        ResourceLink as ResourceLink,
        Role as Role,
        TextContent as TextContent,
        TextResourceContents as TextResourceContents,
    )
    from .elicitation import (
        BooleanPropertySchema as BooleanPropertySchema,
        CompleteElicitationNotification as CompleteElicitationNotification,
        CreateElicitationRequest as CreateElicitationRequest,
        CreateElicitationRequestForm as CreateElicitationRequestForm,
        CreateElicitationRequestFormRequest as CreateElicitationRequestFormRequest,
        CreateElicitationRequestFormSession as CreateElicitationRequestFormSession,
        CreateElicitationRequestUrl as CreateElicitationRequestUrl,
        CreateElicitationRequestUrlRequest as CreateElicitationRequestUrlRequest,
        CreateElicitationRequestUrlSession as CreateElicitationRequestUrlSession,
        CreateElicitationResponse as CreateElicitationResponse,
        CreateElicitationResponseAccept as CreateElicitationResponseAccept,
        CreateElicitationResponseCancel as CreateElicitationResponseCancel,
        CreateElicitationResponseDecline as CreateElicitationResponseDecline,
        ElicitationAcceptAction as ElicitationAcceptAction,
        ElicitationContentValue as ElicitationContentValue,
        ElicitationContentValueStringArray as ElicitationContentValueStringArray,
        ElicitationFormMode as ElicitationFormMode,
        ElicitationFormModeRequest as ElicitationFormModeRequest,
        ElicitationFormModeSession as ElicitationFormModeSession,
        ElicitationId as ElicitationId,
        ElicitationPropertySchema as ElicitationPropertySchema,
        ElicitationRequestScope as ElicitationRequestScope,
        ElicitationSchema as ElicitationSchema,
        ElicitationSchemaType as ElicitationSchemaType,
        ElicitationSessionScope as ElicitationSessionScope,
        ElicitationUrlMode as ElicitationUrlMode,
        ElicitationUrlModeRequest as ElicitationUrlModeRequest,
        ElicitationUrlModeSession as ElicitationUrlModeSession,
        EnumOption as EnumOption,
        IntegerPropertySchema as IntegerPropertySchema,
        MultiSelectItems as MultiSelectItems,
        MultiSelectPropertySchema as MultiSelectPropertySchema,
        NumberPropertySchema as NumberPropertySchema,
        OtherCreateElicitationRequest as OtherCreateElicitationRequest,
        OtherCreateElicitationRequestRequest as OtherCreateElicitationRequestRequest,
        OtherCreateElicitationRequestSession as OtherCreateElicitationRequestSession,
        OtherCreateElicitationResponse as OtherCreateElicitationResponse,
        OtherElicitationPropertySchema as OtherElicitationPropertySchema,
        OtherMultiSelectItems as OtherMultiSelectItems,
        StringFormat as StringFormat,
        StringMultiSelectItems as StringMultiSelectItems,
        StringPropertySchema as StringPropertySchema,
        TitledMultiSelectItems as TitledMultiSelectItems,
    )
    from .fs import (
        ReadTextFileRequest as ReadTextFileRequest,
        ReadTextFileResponse as ReadTextFileResponse,
        WriteTextFileRequest as WriteTextFileRequest,
        WriteTextFileResponse as WriteTextFileResponse,
    )
    from .methods import METHODS as METHODS
    from .session import (
        CancelNotification as CancelNotification,
        CloseSessionRequest as CloseSessionRequest,
        CloseSessionResponse as CloseSessionResponse,
        DeleteSessionRequest as DeleteSessionRequest,
        DeleteSessionResponse as DeleteSessionResponse,
        HttpHeader as HttpHeader,
        ListSessionsRequest as ListSessionsRequest,
        ListSessionsResponse as ListSessionsResponse,
        LoadSessionRequest as LoadSessionRequest,
        LoadSessionResponse as LoadSessionResponse,
        McpServer as McpServer,
        McpServerHttp as McpServerHttp,
        McpServerSse as McpServerSse,
        McpServerStdio as McpServerStdio,
        NewSessionRequest as NewSessionRequest,
        NewSessionResponse as NewSessionResponse,
        PermissionOption as PermissionOption,
        PermissionOptionId as PermissionOptionId,
        PermissionOptionKind as PermissionOptionKind,
        PromptRequest as PromptRequest,
        PromptResponse as PromptResponse,
        RequestPermissionOutcome as RequestPermissionOutcome,
        RequestPermissionOutcomeCancelled as RequestPermissionOutcomeCancelled,
        RequestPermissionRequest as RequestPermissionRequest,
        RequestPermissionResponse as RequestPermissionResponse,
        ResumeSessionRequest as ResumeSessionRequest,
        ResumeSessionResponse as ResumeSessionResponse,
        SelectedPermissionOutcome as SelectedPermissionOutcome,
        SessionInfo as SessionInfo,
        SessionMode as SessionMode,
        SessionModeState as SessionModeState,
        SetSessionConfigOptionRequest as SetSessionConfigOptionRequest,
        SetSessionConfigOptionRequestBoolean as SetSessionConfigOptionRequestBoolean,
        SetSessionConfigOptionRequestValueId as SetSessionConfigOptionRequestValueId,
        SetSessionConfigOptionResponse as SetSessionConfigOptionResponse,
        SetSessionModeRequest as SetSessionModeRequest,
        SetSessionModeResponse as SetSessionModeResponse,
        StopReason as StopReason,
    )
    from .session_config_option import (
        SessionConfigBoolean as SessionConfigBoolean,
        SessionConfigGroupId as SessionConfigGroupId,
        SessionConfigOption as SessionConfigOption,
        SessionConfigOptionBoolean as SessionConfigOptionBoolean,
        SessionConfigOptionCategory as SessionConfigOptionCategory,
        SessionConfigOptionSelect as SessionConfigOptionSelect,
        SessionConfigSelect as SessionConfigSelect,
        SessionConfigSelectGroup as SessionConfigSelectGroup,
        SessionConfigSelectOption as SessionConfigSelectOption,
        SessionConfigSelectOptions as SessionConfigSelectOptions,
        SessionConfigSelectOptionsGrouped as SessionConfigSelectOptionsGrouped,
        SessionConfigSelectOptionsUngrouped as SessionConfigSelectOptionsUngrouped,
    )
    from .session_types import (
        Content as Content,
        Diff as Diff,
        SessionModeId as SessionModeId,
        Terminal as Terminal,
        ToolCallContent as ToolCallContent,
        ToolCallLocation as ToolCallLocation,
        ToolCallStatus as ToolCallStatus,
        ToolCallUpdate as ToolCallUpdate,
        ToolKind as ToolKind,
    )
    from .session_update import (
        AgentMessageChunk as AgentMessageChunk,
        AgentThoughtChunk as AgentThoughtChunk,
        AvailableCommand as AvailableCommand,
        AvailableCommandInput as AvailableCommandInput,
        AvailableCommandsUpdate as AvailableCommandsUpdate,
        CompactionId as CompactionId,
        CompactionStatus as CompactionStatus,
        CompactionSummaryChunk as CompactionSummaryChunk,
        CompactionUpdate as CompactionUpdate,
        ConfigOptionUpdate as ConfigOptionUpdate,
        ContentChunk as ContentChunk,
        Cost as Cost,
        CurrentModeUpdate as CurrentModeUpdate,
        MessageId as MessageId,
        Notice as Notice,
        NoticeSeverity as NoticeSeverity,
        OtherSessionUpdate as OtherSessionUpdate,
        Plan as Plan,
        PlanEntry as PlanEntry,
        PlanEntryPriority as PlanEntryPriority,
        PlanEntryStatus as PlanEntryStatus,
        SessionInfoUpdate as SessionInfoUpdate,
        SessionNotification as SessionNotification,
        SessionToolCallUpdate as SessionToolCallUpdate,
        SessionUpdate as SessionUpdate,
        ToolCall as ToolCall,
        UnstructuredCommandInput as UnstructuredCommandInput,
        UsageUpdate as UsageUpdate,
        UserMessageChunk as UserMessageChunk,
    )
    from .terminal import (
        CreateTerminalRequest as CreateTerminalRequest,
        CreateTerminalResponse as CreateTerminalResponse,
        KillTerminalRequest as KillTerminalRequest,
        KillTerminalResponse as KillTerminalResponse,
        ReleaseTerminalRequest as ReleaseTerminalRequest,
        ReleaseTerminalResponse as ReleaseTerminalResponse,
        TerminalExitStatus as TerminalExitStatus,
        TerminalOutputRequest as TerminalOutputRequest,
        TerminalOutputResponse as TerminalOutputResponse,
        WaitForTerminalExitRequest as WaitForTerminalExitRequest,
        WaitForTerminalExitResponse as WaitForTerminalExitResponse,
    )
else:
    from acp_bindings._lazy import lazy_names

    # The names of each module. A module is imported when one of its names is first used.
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "common": """
                EnvVariable Error ErrorCode ExtNotification ExtRequest ExtResponse RequestId SessionConfigId
                SessionConfigValueId SessionId TerminalId ToolCallId
            """,
            "connection": """
                AgentAuthCapabilities AgentCapabilities AuthCapabilities AuthMethod AuthMethodAgent AuthMethodId
                AuthMethodTerminal AuthenticateRequest AuthenticateResponse BooleanConfigOptionCapabilities
                CancelRequestNotification ClientCapabilities ClientSessionCapabilities CompactionCapabilities
                ElicitationCapabilities ElicitationFormCapabilities ElicitationUrlCapabilities
                FileSystemCapabilities Implementation InitializeRequest InitializeResponse LogoutCapabilities
                LogoutRequest LogoutResponse McpCapabilities NoticeCapabilities PromptCapabilities ProtocolVersion
                SessionAdditionalDirectoriesCapabilities SessionCapabilities SessionCloseCapabilities
                SessionConfigOptionsCapabilities SessionDeleteCapabilities SessionListCapabilities
                SessionResumeCapabilities
            """,
            "content_block": """
                Annotations AudioContent BlobResourceContents ContentBlock EmbeddedResource EmbeddedResourceResource
                ImageContent ResourceLink Role TextContent TextResourceContents
            """,
            "elicitation": """
                BooleanPropertySchema CompleteElicitationNotification CreateElicitationRequest
                CreateElicitationRequestForm CreateElicitationRequestFormRequest CreateElicitationRequestFormSession
                CreateElicitationRequestUrl CreateElicitationRequestUrlRequest CreateElicitationRequestUrlSession
                CreateElicitationResponse CreateElicitationResponseAccept CreateElicitationResponseCancel
                CreateElicitationResponseDecline ElicitationAcceptAction ElicitationContentValue
                ElicitationContentValueStringArray ElicitationFormMode ElicitationFormModeRequest
                ElicitationFormModeSession ElicitationId ElicitationPropertySchema ElicitationRequestScope
                ElicitationSchema ElicitationSchemaType ElicitationSessionScope ElicitationUrlMode
                ElicitationUrlModeRequest ElicitationUrlModeSession EnumOption IntegerPropertySchema
                MultiSelectItems MultiSelectPropertySchema NumberPropertySchema OtherCreateElicitationRequest
                OtherCreateElicitationRequestRequest OtherCreateElicitationRequestSession
                OtherCreateElicitationResponse OtherElicitationPropertySchema OtherMultiSelectItems StringFormat
                StringMultiSelectItems StringPropertySchema TitledMultiSelectItems
            """,
            "fs": """
                ReadTextFileRequest ReadTextFileResponse WriteTextFileRequest WriteTextFileResponse
            """,
            "methods": "METHODS",
            "session": """
                CancelNotification CloseSessionRequest CloseSessionResponse DeleteSessionRequest
                DeleteSessionResponse HttpHeader ListSessionsRequest ListSessionsResponse LoadSessionRequest
                LoadSessionResponse McpServer McpServerHttp McpServerSse McpServerStdio NewSessionRequest
                NewSessionResponse PermissionOption PermissionOptionId PermissionOptionKind PromptRequest
                PromptResponse RequestPermissionOutcome RequestPermissionOutcomeCancelled RequestPermissionRequest
                RequestPermissionResponse ResumeSessionRequest ResumeSessionResponse SelectedPermissionOutcome
                SessionInfo SessionMode SessionModeState SetSessionConfigOptionRequest
                SetSessionConfigOptionRequestBoolean SetSessionConfigOptionRequestValueId
                SetSessionConfigOptionResponse SetSessionModeRequest SetSessionModeResponse StopReason
            """,
            "session_config_option": """
                SessionConfigBoolean SessionConfigGroupId SessionConfigOption SessionConfigOptionBoolean
                SessionConfigOptionCategory SessionConfigOptionSelect SessionConfigSelect SessionConfigSelectGroup
                SessionConfigSelectOption SessionConfigSelectOptions SessionConfigSelectOptionsGrouped
                SessionConfigSelectOptionsUngrouped
            """,
            "session_types": """
                Content Diff SessionModeId Terminal ToolCallContent ToolCallLocation ToolCallStatus ToolCallUpdate
                ToolKind
            """,
            "session_update": """
                AgentMessageChunk AgentThoughtChunk AvailableCommand AvailableCommandInput AvailableCommandsUpdate
                CompactionId CompactionStatus CompactionSummaryChunk CompactionUpdate ConfigOptionUpdate
                ContentChunk Cost CurrentModeUpdate MessageId Notice NoticeSeverity OtherSessionUpdate Plan
                PlanEntry PlanEntryPriority PlanEntryStatus SessionInfoUpdate SessionNotification
                SessionToolCallUpdate SessionUpdate ToolCall UnstructuredCommandInput UsageUpdate UserMessageChunk
            """,
            "terminal": """
                CreateTerminalRequest CreateTerminalResponse KillTerminalRequest KillTerminalResponse
                ReleaseTerminalRequest ReleaseTerminalResponse TerminalExitStatus TerminalOutputRequest
                TerminalOutputResponse WaitForTerminalExitRequest WaitForTerminalExitResponse
            """,
        },
    )

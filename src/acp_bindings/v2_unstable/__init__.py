"""ACP v2 unstable draft. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .auth import (
        AuthAccount as AuthAccount,
        AuthState as AuthState,
        AuthStatusRequest as AuthStatusRequest,
        AuthStatusResponse as AuthStatusResponse,
        AuthStatusUpdateNotification as AuthStatusUpdateNotification,
        LoginAuthRequest as LoginAuthRequest,
        LoginAuthResponse as LoginAuthResponse,
        LogoutAuthRequest as LogoutAuthRequest,
        LogoutAuthResponse as LogoutAuthResponse,
    )
    from .common import (
        AbsolutePath as AbsolutePath,
        AuthMethodId as AuthMethodId,
        EnvVariable as EnvVariable,
        ExtNotification as ExtNotification,
        ExtRequest as ExtRequest,
        ExtResponse as ExtResponse,
        McpServerAcpId as McpServerAcpId,
        MediaType as MediaType,
        ProtocolVersion as ProtocolVersion,
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
        AuthMethod as AuthMethod,
        AuthMethodAgent as AuthMethodAgent,
        AuthMethodTerminal as AuthMethodTerminal,
        AuthStatusCapabilities as AuthStatusCapabilities,
        CancelRequestNotification as CancelRequestNotification,
        ClientAuthCapabilities as ClientAuthCapabilities,
        ClientCapabilities as ClientCapabilities,
        ElicitationCapabilities as ElicitationCapabilities,
        ElicitationFormCapabilities as ElicitationFormCapabilities,
        ElicitationUrlCapabilities as ElicitationUrlCapabilities,
        Implementation as Implementation,
        InitializeRequest as InitializeRequest,
        InitializeResponse as InitializeResponse,
        McpAcpCapabilities as McpAcpCapabilities,
        McpCapabilities as McpCapabilities,
        McpHttpCapabilities as McpHttpCapabilities,
        McpStdioCapabilities as McpStdioCapabilities,
        OtherAuthMethod as OtherAuthMethod,
        PromptAudioCapabilities as PromptAudioCapabilities,
        PromptCapabilities as PromptCapabilities,
        PromptEmbeddedContextCapabilities as PromptEmbeddedContextCapabilities,
        PromptImageCapabilities as PromptImageCapabilities,
        ProvidersCapabilities as ProvidersCapabilities,
        SessionAdditionalDirectoriesCapabilities as SessionAdditionalDirectoriesCapabilities,
        SessionArchiveCapabilities as SessionArchiveCapabilities,
        SessionCapabilities as SessionCapabilities,
        SessionDeleteCapabilities as SessionDeleteCapabilities,
        SessionForkCapabilities as SessionForkCapabilities,
        SessionStatusCapabilities as SessionStatusCapabilities,
        SessionSystemPromptCapabilities as SessionSystemPromptCapabilities,
        SessionSystemPromptModeCapabilities as SessionSystemPromptModeCapabilities,
        SessionSystemPromptOverrideCapabilities as SessionSystemPromptOverrideCapabilities,
        SessionTitleCapabilities as SessionTitleCapabilities,
        TerminalAuthCapabilities as TerminalAuthCapabilities,
    )
    from .content_block import (
        Annotations as Annotations,
        AudioContent as AudioContent,
        BlobResourceContents as BlobResourceContents,
        ContentBlock as ContentBlock,
        EmbeddedResource as EmbeddedResource,
        EmbeddedResourceResource as EmbeddedResourceResource,
        Icon as Icon,
        IconTheme as IconTheme,
        ImageContent as ImageContent,
        OtherContentBlock as OtherContentBlock,
        ResourceLink as ResourceLink,
        Role as Role,
        TextContent as TextContent,
        TextResourceContents as TextResourceContents,
    )
    from .diff_change import (
        DiffChange as DiffChange,
        DiffChangeAdd as DiffChangeAdd,
        DiffChangeCopy as DiffChangeCopy,
        DiffChangeDelete as DiffChangeDelete,
        DiffChangeModify as DiffChangeModify,
        DiffChangeMove as DiffChangeMove,
        DiffFileType as DiffFileType,
        DiffPathChange as DiffPathChange,
        DiffPathPairChange as DiffPathPairChange,
        OtherDiffChange as OtherDiffChange,
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
    from .mcp import (
        McpError as McpError,
        McpRequestId as McpRequestId,
        MessageMcpNotification as MessageMcpNotification,
        MessageMcpRequest as MessageMcpRequest,
        MessageMcpResponse as MessageMcpResponse,
        MessageMcpResponseError as MessageMcpResponseError,
        MessageMcpResponseResult as MessageMcpResponseResult,
    )
    from .methods import METHODS as METHODS
    from .providers import (
        DisableProviderRequest as DisableProviderRequest,
        DisableProviderResponse as DisableProviderResponse,
        ListProvidersRequest as ListProvidersRequest,
        ListProvidersResponse as ListProvidersResponse,
        LlmProtocol as LlmProtocol,
        ProviderCurrentConfig as ProviderCurrentConfig,
        ProviderId as ProviderId,
        ProviderInfo as ProviderInfo,
        SetProviderRequest as SetProviderRequest,
        SetProviderResponse as SetProviderResponse,
    )
    from .proxy import (
        InitializeProxyRequest as InitializeProxyRequest,
        InitializeProxyResponse as InitializeProxyResponse,
        ProxySuccessorNotification as ProxySuccessorNotification,
        ProxySuccessorRequest as ProxySuccessorRequest,
        ProxySuccessorResponse as ProxySuccessorResponse,
    )
    from .session import (
        ArchiveSessionRequest as ArchiveSessionRequest,
        ArchiveSessionResponse as ArchiveSessionResponse,
        CancelledPermissionOutcome as CancelledPermissionOutcome,
        CancelSessionNotification as CancelSessionNotification,
        CloseSessionRequest as CloseSessionRequest,
        CloseSessionResponse as CloseSessionResponse,
        CommandPermissionSubject as CommandPermissionSubject,
        DeleteSessionRequest as DeleteSessionRequest,
        DeleteSessionResponse as DeleteSessionResponse,
        ForkSessionRequest as ForkSessionRequest,
        ForkSessionResponse as ForkSessionResponse,
        HttpHeader as HttpHeader,
        ListSessionsRequest as ListSessionsRequest,
        ListSessionsResponse as ListSessionsResponse,
        McpServer as McpServer,
        McpServerAcp as McpServerAcp,
        McpServerHttp as McpServerHttp,
        McpServerStdio as McpServerStdio,
        NewSessionRequest as NewSessionRequest,
        NewSessionResponse as NewSessionResponse,
        OtherMcpServer as OtherMcpServer,
        OtherReplayFrom as OtherReplayFrom,
        OtherRequestPermissionOutcome as OtherRequestPermissionOutcome,
        OtherRequestPermissionSubject as OtherRequestPermissionSubject,
        OtherSetSessionConfigOptionRequest as OtherSetSessionConfigOptionRequest,
        PermissionOption as PermissionOption,
        PermissionOptionId as PermissionOptionId,
        PermissionOptionKind as PermissionOptionKind,
        PromptRequest as PromptRequest,
        PromptResponse as PromptResponse,
        ReplayFrom as ReplayFrom,
        ReplayFromStart as ReplayFromStart,
        RequestPermissionOutcome as RequestPermissionOutcome,
        RequestPermissionRequest as RequestPermissionRequest,
        RequestPermissionResponse as RequestPermissionResponse,
        RequestPermissionSubject as RequestPermissionSubject,
        ResumeSessionRequest as ResumeSessionRequest,
        ResumeSessionResponse as ResumeSessionResponse,
        SelectedPermissionOutcome as SelectedPermissionOutcome,
        SessionArchiveFilter as SessionArchiveFilter,
        SessionInfo as SessionInfo,
        SessionListCursor as SessionListCursor,
        SessionStatus as SessionStatus,
        SessionStatusRequest as SessionStatusRequest,
        SessionStatusResponse as SessionStatusResponse,
        SetSessionConfigOptionRequest as SetSessionConfigOptionRequest,
        SetSessionConfigOptionRequestBoolean as SetSessionConfigOptionRequestBoolean,
        SetSessionConfigOptionRequestId as SetSessionConfigOptionRequestId,
        SetSessionConfigOptionResponse as SetSessionConfigOptionResponse,
        SetSessionTitleRequest as SetSessionTitleRequest,
        SetSessionTitleResponse as SetSessionTitleResponse,
        SystemPrompt as SystemPrompt,
        SystemPromptMode as SystemPromptMode,
        ToolCallPermissionSubject as ToolCallPermissionSubject,
        UnarchiveSessionRequest as UnarchiveSessionRequest,
        UnarchiveSessionResponse as UnarchiveSessionResponse,
    )
    from .session_config_option import (
        OtherSessionConfigOption as OtherSessionConfigOption,
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
        AvailableCommand as AvailableCommand,
        AvailableCommandInput as AvailableCommandInput,
        BackgroundSubagent as BackgroundSubagent,
        BackgroundTerminal as BackgroundTerminal,
        BackgroundToolCall as BackgroundToolCall,
        BackgroundWork as BackgroundWork,
        Command as Command,
        Content as Content,
        Diff as Diff,
        DiffPatch as DiffPatch,
        DiffPatchFormat as DiffPatchFormat,
        Error as Error,
        ErrorCode as ErrorCode,
        ErrorData as ErrorData,
        ErrorStopReason as ErrorStopReason,
        IdleStateUpdate as IdleStateUpdate,
        MessageId as MessageId,
        OtherAvailableCommand as OtherAvailableCommand,
        OtherAvailableCommandInput as OtherAvailableCommandInput,
        OtherBackgroundWork as OtherBackgroundWork,
        OtherStateUpdate as OtherStateUpdate,
        OtherToolCallContent as OtherToolCallContent,
        RequiresActionStateUpdate as RequiresActionStateUpdate,
        RunningStateUpdate as RunningStateUpdate,
        SessionNotFoundErrorData as SessionNotFoundErrorData,
        StateUpdate as StateUpdate,
        Terminal as Terminal,
        TextCommandInput as TextCommandInput,
        ToolCallCancelCapabilities as ToolCallCancelCapabilities,
        ToolCallCapabilities as ToolCallCapabilities,
        ToolCallContent as ToolCallContent,
        ToolCallLocation as ToolCallLocation,
        ToolCallStatus as ToolCallStatus,
        ToolCallUpdate as ToolCallUpdate,
        ToolKind as ToolKind,
        UnknownStateUpdate as UnknownStateUpdate,
        UnsupportedProtocolVersionErrorData as UnsupportedProtocolVersionErrorData,
        Usage as Usage,
    )
    from .session_update import (
        AgentMessage as AgentMessage,
        AgentMessageChunk as AgentMessageChunk,
        AgentThought as AgentThought,
        AgentThoughtChunk as AgentThoughtChunk,
        AvailableCommandsUpdate as AvailableCommandsUpdate,
        CompactionId as CompactionId,
        CompactionStatus as CompactionStatus,
        CompactionSummaryChunk as CompactionSummaryChunk,
        CompactionUpdate as CompactionUpdate,
        ConfigOptionUpdate as ConfigOptionUpdate,
        ContentChunk as ContentChunk,
        Cost as Cost,
        Notice as Notice,
        NoticeSeverity as NoticeSeverity,
        OtherPlanUpdateContent as OtherPlanUpdateContent,
        OtherSessionUpdate as OtherSessionUpdate,
        PlanEntry as PlanEntry,
        PlanEntryPriority as PlanEntryPriority,
        PlanEntryStatus as PlanEntryStatus,
        PlanFile as PlanFile,
        PlanId as PlanId,
        PlanItems as PlanItems,
        PlanMarkdown as PlanMarkdown,
        PlanRemoved as PlanRemoved,
        PlanUpdate as PlanUpdate,
        PlanUpdateContent as PlanUpdateContent,
        SessionCancelCapabilities as SessionCancelCapabilities,
        SessionInfoUpdate as SessionInfoUpdate,
        SessionMessage as SessionMessage,
        SessionMessageChunk as SessionMessageChunk,
        SessionStateUpdate as SessionStateUpdate,
        SessionStateUpdateIdle as SessionStateUpdateIdle,
        SessionStateUpdateOther as SessionStateUpdateOther,
        SessionStateUpdateRequiresAction as SessionStateUpdateRequiresAction,
        SessionStateUpdateRunning as SessionStateUpdateRunning,
        SessionStateUpdateUnknown as SessionStateUpdateUnknown,
        SessionToolCallUpdate as SessionToolCallUpdate,
        SessionUpdate as SessionUpdate,
        SubagentSessionCapabilities as SubagentSessionCapabilities,
        SubagentUpdate as SubagentUpdate,
        TerminalCancelCapabilities as TerminalCancelCapabilities,
        TerminalCapabilities as TerminalCapabilities,
        TerminalExitStatus as TerminalExitStatus,
        TerminalOutput as TerminalOutput,
        TerminalOutputChunk as TerminalOutputChunk,
        TerminalSize as TerminalSize,
        TerminalUpdate as TerminalUpdate,
        ToolCallContentChunk as ToolCallContentChunk,
        UpdateSessionNotification as UpdateSessionNotification,
        UsageUpdate as UsageUpdate,
        UserMessage as UserMessage,
        UserMessageChunk as UserMessageChunk,
    )
    from .terminal import (
        CancelTerminalRequest as CancelTerminalRequest,
        CancelTerminalResponse as CancelTerminalResponse,
    )
    from .tool_call import (
        CancelToolCallRequest as CancelToolCallRequest,
        CancelToolCallResponse as CancelToolCallResponse,
    )
else:
    from acp_bindings._lazy import lazy_names

    # The names of each module. A module is imported when one of its names is first used.
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "auth": """
                AuthAccount AuthState AuthStatusRequest AuthStatusResponse AuthStatusUpdateNotification
                LoginAuthRequest LoginAuthResponse LogoutAuthRequest LogoutAuthResponse
            """,
            "common": """
                AbsolutePath AuthMethodId EnvVariable ExtNotification ExtRequest ExtResponse McpServerAcpId
                MediaType ProtocolVersion RequestId SessionConfigId SessionConfigValueId SessionId TerminalId
                ToolCallId
            """,
            "connection": """
                AgentAuthCapabilities AgentCapabilities AuthMethod AuthMethodAgent AuthMethodTerminal
                AuthStatusCapabilities CancelRequestNotification ClientAuthCapabilities ClientCapabilities
                ElicitationCapabilities ElicitationFormCapabilities ElicitationUrlCapabilities Implementation
                InitializeRequest InitializeResponse McpAcpCapabilities McpCapabilities McpHttpCapabilities
                McpStdioCapabilities OtherAuthMethod PromptAudioCapabilities PromptCapabilities
                PromptEmbeddedContextCapabilities PromptImageCapabilities ProvidersCapabilities
                SessionAdditionalDirectoriesCapabilities SessionArchiveCapabilities SessionCapabilities
                SessionDeleteCapabilities SessionForkCapabilities SessionStatusCapabilities
                SessionSystemPromptCapabilities SessionSystemPromptModeCapabilities
                SessionSystemPromptOverrideCapabilities SessionTitleCapabilities TerminalAuthCapabilities
            """,
            "content_block": """
                Annotations AudioContent BlobResourceContents ContentBlock EmbeddedResource EmbeddedResourceResource
                Icon IconTheme ImageContent OtherContentBlock ResourceLink Role TextContent TextResourceContents
            """,
            "diff_change": """
                DiffChange DiffChangeAdd DiffChangeCopy DiffChangeDelete DiffChangeModify DiffChangeMove
                DiffFileType DiffPathChange DiffPathPairChange OtherDiffChange
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
            "mcp": """
                McpError McpRequestId MessageMcpNotification MessageMcpRequest MessageMcpResponse
                MessageMcpResponseError MessageMcpResponseResult
            """,
            "methods": "METHODS",
            "providers": """
                DisableProviderRequest DisableProviderResponse ListProvidersRequest ListProvidersResponse
                LlmProtocol ProviderCurrentConfig ProviderId ProviderInfo SetProviderRequest SetProviderResponse
            """,
            "proxy": """
                InitializeProxyRequest InitializeProxyResponse ProxySuccessorNotification ProxySuccessorRequest
                ProxySuccessorResponse
            """,
            "session": """
                ArchiveSessionRequest ArchiveSessionResponse CancelSessionNotification CancelledPermissionOutcome
                CloseSessionRequest CloseSessionResponse CommandPermissionSubject DeleteSessionRequest
                DeleteSessionResponse ForkSessionRequest ForkSessionResponse HttpHeader ListSessionsRequest
                ListSessionsResponse McpServer McpServerAcp McpServerHttp McpServerStdio NewSessionRequest
                NewSessionResponse OtherMcpServer OtherReplayFrom OtherRequestPermissionOutcome
                OtherRequestPermissionSubject OtherSetSessionConfigOptionRequest PermissionOption PermissionOptionId
                PermissionOptionKind PromptRequest PromptResponse ReplayFrom ReplayFromStart
                RequestPermissionOutcome RequestPermissionRequest RequestPermissionResponse RequestPermissionSubject
                ResumeSessionRequest ResumeSessionResponse SelectedPermissionOutcome SessionArchiveFilter
                SessionInfo SessionListCursor SessionStatus SessionStatusRequest SessionStatusResponse
                SetSessionConfigOptionRequest SetSessionConfigOptionRequestBoolean SetSessionConfigOptionRequestId
                SetSessionConfigOptionResponse SetSessionTitleRequest SetSessionTitleResponse SystemPrompt
                SystemPromptMode ToolCallPermissionSubject UnarchiveSessionRequest UnarchiveSessionResponse
            """,
            "session_config_option": """
                OtherSessionConfigOption SessionConfigBoolean SessionConfigGroupId SessionConfigOption
                SessionConfigOptionBoolean SessionConfigOptionCategory SessionConfigOptionSelect SessionConfigSelect
                SessionConfigSelectGroup SessionConfigSelectOption SessionConfigSelectOptions
                SessionConfigSelectOptionsGrouped SessionConfigSelectOptionsUngrouped
            """,
            "session_types": """
                AvailableCommand AvailableCommandInput BackgroundSubagent BackgroundTerminal BackgroundToolCall
                BackgroundWork Command Content Diff DiffPatch DiffPatchFormat Error ErrorCode ErrorData
                ErrorStopReason IdleStateUpdate MessageId OtherAvailableCommand OtherAvailableCommandInput
                OtherBackgroundWork OtherStateUpdate OtherToolCallContent RequiresActionStateUpdate
                RunningStateUpdate SessionNotFoundErrorData StateUpdate Terminal TextCommandInput
                ToolCallCancelCapabilities ToolCallCapabilities ToolCallContent ToolCallLocation ToolCallStatus
                ToolCallUpdate ToolKind UnknownStateUpdate UnsupportedProtocolVersionErrorData Usage
            """,
            "session_update": """
                AgentMessage AgentMessageChunk AgentThought AgentThoughtChunk AvailableCommandsUpdate CompactionId
                CompactionStatus CompactionSummaryChunk CompactionUpdate ConfigOptionUpdate ContentChunk Cost Notice
                NoticeSeverity OtherPlanUpdateContent OtherSessionUpdate PlanEntry PlanEntryPriority PlanEntryStatus
                PlanFile PlanId PlanItems PlanMarkdown PlanRemoved PlanUpdate PlanUpdateContent
                SessionCancelCapabilities SessionInfoUpdate SessionMessage SessionMessageChunk SessionStateUpdate
                SessionStateUpdateIdle SessionStateUpdateOther SessionStateUpdateRequiresAction
                SessionStateUpdateRunning SessionStateUpdateUnknown SessionToolCallUpdate SessionUpdate
                SubagentSessionCapabilities SubagentUpdate TerminalCancelCapabilities TerminalCapabilities
                TerminalExitStatus TerminalOutput TerminalOutputChunk TerminalSize TerminalUpdate
                ToolCallContentChunk UpdateSessionNotification UsageUpdate UserMessage UserMessageChunk
            """,
            "terminal": "CancelTerminalRequest CancelTerminalResponse",
            "tool_call": "CancelToolCallRequest CancelToolCallResponse",
        },
    )

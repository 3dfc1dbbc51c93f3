"""ACP v2 draft. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .auth import (
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
        CancelRequestNotification as CancelRequestNotification,
        ClientAuthCapabilities as ClientAuthCapabilities,
        ClientCapabilities as ClientCapabilities,
        ElicitationCapabilities as ElicitationCapabilities,
        ElicitationFormCapabilities as ElicitationFormCapabilities,
        ElicitationUrlCapabilities as ElicitationUrlCapabilities,
        Implementation as Implementation,
        InitializeRequest as InitializeRequest,
        InitializeResponse as InitializeResponse,
        McpCapabilities as McpCapabilities,
        McpHttpCapabilities as McpHttpCapabilities,
        McpStdioCapabilities as McpStdioCapabilities,
        OtherAuthMethod as OtherAuthMethod,
        PromptAudioCapabilities as PromptAudioCapabilities,
        PromptCapabilities as PromptCapabilities,
        PromptEmbeddedContextCapabilities as PromptEmbeddedContextCapabilities,
        PromptImageCapabilities as PromptImageCapabilities,
        SessionAdditionalDirectoriesCapabilities as SessionAdditionalDirectoriesCapabilities,
        SessionCapabilities as SessionCapabilities,
        SessionDeleteCapabilities as SessionDeleteCapabilities,
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
    from .methods import METHODS as METHODS
    from .session import (
        CancelledPermissionOutcome as CancelledPermissionOutcome,
        CancelSessionNotification as CancelSessionNotification,
        CloseSessionRequest as CloseSessionRequest,
        CloseSessionResponse as CloseSessionResponse,
        CommandPermissionSubject as CommandPermissionSubject,
        DeleteSessionRequest as DeleteSessionRequest,
        DeleteSessionResponse as DeleteSessionResponse,
        HttpHeader as HttpHeader,
        ListSessionsRequest as ListSessionsRequest,
        ListSessionsResponse as ListSessionsResponse,
        McpServer as McpServer,
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
        SessionInfo as SessionInfo,
        SessionListCursor as SessionListCursor,
        SetSessionConfigOptionRequest as SetSessionConfigOptionRequest,
        SetSessionConfigOptionRequestBoolean as SetSessionConfigOptionRequestBoolean,
        SetSessionConfigOptionRequestId as SetSessionConfigOptionRequestId,
        SetSessionConfigOptionResponse as SetSessionConfigOptionResponse,
        ToolCallPermissionSubject as ToolCallPermissionSubject,
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
        Command as Command,
        Content as Content,
        Diff as Diff,
        DiffPatch as DiffPatch,
        DiffPatchFormat as DiffPatchFormat,
        MessageId as MessageId,
        OtherAvailableCommand as OtherAvailableCommand,
        OtherAvailableCommandInput as OtherAvailableCommandInput,
        OtherToolCallContent as OtherToolCallContent,
        Terminal as Terminal,
        TextCommandInput as TextCommandInput,
        ToolCallCancelCapabilities as ToolCallCancelCapabilities,
        ToolCallCapabilities as ToolCallCapabilities,
        ToolCallContent as ToolCallContent,
        ToolCallLocation as ToolCallLocation,
        ToolCallStatus as ToolCallStatus,
        ToolCallUpdate as ToolCallUpdate,
        ToolKind as ToolKind,
    )
    from .session_update import (
        AgentMessage as AgentMessage,
        AgentMessageChunk as AgentMessageChunk,
        AgentThought as AgentThought,
        AgentThoughtChunk as AgentThoughtChunk,
        AvailableCommandsUpdate as AvailableCommandsUpdate,
        BackgroundTerminal as BackgroundTerminal,
        BackgroundToolCall as BackgroundToolCall,
        BackgroundWork as BackgroundWork,
        CompactionId as CompactionId,
        CompactionStatus as CompactionStatus,
        CompactionSummaryChunk as CompactionSummaryChunk,
        CompactionUpdate as CompactionUpdate,
        ConfigOptionUpdate as ConfigOptionUpdate,
        ContentChunk as ContentChunk,
        Cost as Cost,
        Error as Error,
        ErrorCode as ErrorCode,
        ErrorData as ErrorData,
        ErrorStopReason as ErrorStopReason,
        IdleStateUpdate as IdleStateUpdate,
        Notice as Notice,
        NoticeSeverity as NoticeSeverity,
        OtherBackgroundWork as OtherBackgroundWork,
        OtherPlanUpdateContent as OtherPlanUpdateContent,
        OtherSessionUpdate as OtherSessionUpdate,
        OtherStateUpdate as OtherStateUpdate,
        PlanEntry as PlanEntry,
        PlanEntryPriority as PlanEntryPriority,
        PlanEntryStatus as PlanEntryStatus,
        PlanId as PlanId,
        PlanItems as PlanItems,
        PlanUpdate as PlanUpdate,
        PlanUpdateContent as PlanUpdateContent,
        RequiresActionStateUpdate as RequiresActionStateUpdate,
        RunningStateUpdate as RunningStateUpdate,
        SessionInfoUpdate as SessionInfoUpdate,
        SessionNotFoundErrorData as SessionNotFoundErrorData,
        SessionStateUpdate as SessionStateUpdate,
        SessionStateUpdateIdle as SessionStateUpdateIdle,
        SessionStateUpdateOther as SessionStateUpdateOther,
        SessionStateUpdateRequiresAction as SessionStateUpdateRequiresAction,
        SessionStateUpdateRunning as SessionStateUpdateRunning,
        SessionToolCallUpdate as SessionToolCallUpdate,
        SessionUpdate as SessionUpdate,
        StateUpdate as StateUpdate,
        TerminalCancelCapabilities as TerminalCancelCapabilities,
        TerminalCapabilities as TerminalCapabilities,
        TerminalExitStatus as TerminalExitStatus,
        TerminalOutput as TerminalOutput,
        TerminalOutputChunk as TerminalOutputChunk,
        TerminalSize as TerminalSize,
        TerminalUpdate as TerminalUpdate,
        ToolCallContentChunk as ToolCallContentChunk,
        UnsupportedProtocolVersionErrorData as UnsupportedProtocolVersionErrorData,
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
            "auth": "LoginAuthRequest LoginAuthResponse LogoutAuthRequest LogoutAuthResponse",
            "common": """
                AbsolutePath AuthMethodId EnvVariable ExtNotification ExtRequest ExtResponse MediaType
                ProtocolVersion RequestId SessionConfigId SessionConfigValueId SessionId TerminalId ToolCallId
            """,
            "connection": """
                AgentAuthCapabilities AgentCapabilities AuthMethod AuthMethodAgent AuthMethodTerminal
                CancelRequestNotification ClientAuthCapabilities ClientCapabilities ElicitationCapabilities
                ElicitationFormCapabilities ElicitationUrlCapabilities Implementation InitializeRequest
                InitializeResponse McpCapabilities McpHttpCapabilities McpStdioCapabilities OtherAuthMethod
                PromptAudioCapabilities PromptCapabilities PromptEmbeddedContextCapabilities PromptImageCapabilities
                SessionAdditionalDirectoriesCapabilities SessionCapabilities SessionDeleteCapabilities
                TerminalAuthCapabilities
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
            "methods": "METHODS",
            "session": """
                CancelSessionNotification CancelledPermissionOutcome CloseSessionRequest CloseSessionResponse
                CommandPermissionSubject DeleteSessionRequest DeleteSessionResponse HttpHeader ListSessionsRequest
                ListSessionsResponse McpServer McpServerHttp McpServerStdio NewSessionRequest NewSessionResponse
                OtherMcpServer OtherReplayFrom OtherRequestPermissionOutcome OtherRequestPermissionSubject
                OtherSetSessionConfigOptionRequest PermissionOption PermissionOptionId PermissionOptionKind
                PromptRequest PromptResponse ReplayFrom ReplayFromStart RequestPermissionOutcome
                RequestPermissionRequest RequestPermissionResponse RequestPermissionSubject ResumeSessionRequest
                ResumeSessionResponse SelectedPermissionOutcome SessionInfo SessionListCursor
                SetSessionConfigOptionRequest SetSessionConfigOptionRequestBoolean SetSessionConfigOptionRequestId
                SetSessionConfigOptionResponse ToolCallPermissionSubject
            """,
            "session_config_option": """
                OtherSessionConfigOption SessionConfigBoolean SessionConfigGroupId SessionConfigOption
                SessionConfigOptionBoolean SessionConfigOptionCategory SessionConfigOptionSelect SessionConfigSelect
                SessionConfigSelectGroup SessionConfigSelectOption SessionConfigSelectOptions
                SessionConfigSelectOptionsGrouped SessionConfigSelectOptionsUngrouped
            """,
            "session_types": """
                AvailableCommand AvailableCommandInput Command Content Diff DiffPatch DiffPatchFormat MessageId
                OtherAvailableCommand OtherAvailableCommandInput OtherToolCallContent Terminal TextCommandInput
                ToolCallCancelCapabilities ToolCallCapabilities ToolCallContent ToolCallLocation ToolCallStatus
                ToolCallUpdate ToolKind
            """,
            "session_update": """
                AgentMessage AgentMessageChunk AgentThought AgentThoughtChunk AvailableCommandsUpdate
                BackgroundTerminal BackgroundToolCall BackgroundWork CompactionId CompactionStatus
                CompactionSummaryChunk CompactionUpdate ConfigOptionUpdate ContentChunk Cost Error ErrorCode
                ErrorData ErrorStopReason IdleStateUpdate Notice NoticeSeverity OtherBackgroundWork
                OtherPlanUpdateContent OtherSessionUpdate OtherStateUpdate PlanEntry PlanEntryPriority
                PlanEntryStatus PlanId PlanItems PlanUpdate PlanUpdateContent RequiresActionStateUpdate
                RunningStateUpdate SessionInfoUpdate SessionNotFoundErrorData SessionStateUpdate
                SessionStateUpdateIdle SessionStateUpdateOther SessionStateUpdateRequiresAction
                SessionStateUpdateRunning SessionToolCallUpdate SessionUpdate StateUpdate TerminalCancelCapabilities
                TerminalCapabilities TerminalExitStatus TerminalOutput TerminalOutputChunk TerminalSize
                TerminalUpdate ToolCallContentChunk UnsupportedProtocolVersionErrorData UpdateSessionNotification
                UsageUpdate UserMessage UserMessageChunk
            """,
            "terminal": "CancelTerminalRequest CancelTerminalResponse",
            "tool_call": "CancelToolCallRequest CancelToolCallResponse",
        },
    )

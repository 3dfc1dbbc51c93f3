"""ACP v2 unstable draft: providers. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Literal, TypeAlias

from acp_bindings._model import AnsweredBy, Extensible, Response
from acp_bindings._types import LenientList, Secret


class DisableProviderResponse(Response):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Response to `providers/disable`.
    """


class ListProvidersRequest(Extensible, AnsweredBy["ListProvidersResponse"]):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Request parameters for `providers/list`.
    """


LlmProtocol: TypeAlias = Literal["anthropic", "openai", "azure", "vertex", "bedrock"] | str
"""**UNSTABLE**

This capability is not part of the spec yet, and may be removed or changed at any point.

Well-known API protocol identifiers for LLM providers.

Agents and clients MUST handle unknown protocol identifiers gracefully.

Protocol names beginning with `_` are free for custom use, like other ACP extension methods. Protocol names that do not
begin with `_` are reserved for the ACP spec.

- `anthropic`: Anthropic API protocol.
- `openai`: OpenAI API protocol.
- `azure`: Azure OpenAI API protocol.
- `vertex`: Google Vertex AI API protocol.
- `bedrock`: AWS Bedrock API protocol.
"""


class ProviderCurrentConfig(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Current effective non-secret routing configuration for a provider.
    """

    api_type: LlmProtocol
    """Protocol currently used by this provider."""

    base_url: str
    """Base URL currently used by this provider."""


ProviderId: TypeAlias = str
"""**UNSTABLE**

This capability is not part of the spec yet, and may be removed or changed at any point.

Unique identifier for a configurable LLM provider.
"""


class DisableProviderRequest(Extensible, AnsweredBy["DisableProviderResponse"]):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Request parameters for `providers/disable`.
    """

    provider_id: ProviderId
    """Provider ID to disable."""


class ProviderInfo(Extensible):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Information about a configurable LLM provider.
    """

    provider_id: ProviderId
    """Provider identifier, for example "main" or "openai"."""

    supported: LenientList[list[LlmProtocol]]
    """Supported protocol types for this provider."""

    required: bool
    """Whether this provider is mandatory and cannot be disabled via `providers/disable`.

    If true, clients must not call `providers/disable` for this provider ID.
    """

    current: ProviderCurrentConfig | None = None
    """Current effective non-secret routing config. Null or omitted means provider is disabled."""


class ListProvidersResponse(Response):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Response to `providers/list`.
    """

    providers: list[ProviderInfo]
    """Configurable providers with current routing info suitable for UI display."""


class SetProviderRequest(Extensible, AnsweredBy["SetProviderResponse"]):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Request parameters for `providers/set`.

    Replaces the full configuration for one provider ID.
    """

    provider_id: ProviderId
    """Provider ID to configure."""

    api_type: LlmProtocol
    """Protocol type for this provider."""

    base_url: str
    """Base URL for requests sent through this provider."""

    headers: Secret[dict[str, str]] = {}
    """Full headers map for this provider. May include authorization, routing, or other integration-specific headers."""


class SetProviderResponse(Response):
    """**UNSTABLE**

    This capability is not part of the spec yet, and may be removed or changed at any point.

    Response to `providers/set`.
    """

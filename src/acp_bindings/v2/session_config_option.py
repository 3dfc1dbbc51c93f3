"""ACP v2 draft: session_config_option. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from acp_bindings._model import Extensible, Model
from acp_bindings._types import FirstMatch, Lenient, LenientList, Tagged, Unlike

from .common import SessionConfigId, SessionConfigValueId


class SessionConfigBoolean(Model):
    """A boolean on/off toggle session configuration option payload."""

    current_value: bool
    """The current value of the boolean option."""


SessionConfigGroupId: TypeAlias = str
"""Unique identifier for a session configuration option value group."""


SessionConfigOptionCategory: TypeAlias = Literal["mode", "model", "model_config", "thought_level"] | str
"""Semantic category for a session configuration option.

This is intended to help Clients distinguish broadly common selectors (e.g. model selector vs session mode selector vs
thought/reasoning level) for UX purposes (keyboard shortcuts, icons, placement). It MUST NOT be required for
correctness. Clients MUST handle missing or unknown categories gracefully.

Category names beginning with `_` are free for custom use, like other ACP extension methods. Category names that do not
begin with `_` are reserved for the ACP spec.

- `mode`: Session mode selector.
- `model`: Model selector.
- `model_config`: Model-related configuration parameter.
- `thought_level`: Thought/reasoning level selector.
"""


class OtherSessionConfigOption(Extensible):
    """Custom or future session configuration option payload.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.

    Clients that do not understand this option type should preserve the raw payload when storing, replaying, proxying,
    or forwarding configuration data, and otherwise ignore the option. The Agent keeps using its `currentValue`.
    """

    type: Annotated[str, Unlike("boolean", "select")]
    config_id: SessionConfigId
    """Unique identifier for the configuration option."""

    name: str
    """Human-readable label for the option."""

    description: Lenient[str | None] = None
    """Optional description for the Client to display to the user.

    Omitted and `null` are equivalent and mean no description is provided.
    """

    category: Lenient[SessionConfigOptionCategory | None] = None
    """Optional semantic category for this option (UX only).

    Omitted and `null` are equivalent and mean no category is provided.
    """


class SessionConfigOptionBoolean(SessionConfigBoolean, Extensible):
    """Boolean on/off toggle."""

    type: Literal["boolean"] = "boolean"
    config_id: SessionConfigId
    """Unique identifier for the configuration option."""

    name: str
    """Human-readable label for the option."""

    description: Lenient[str | None] = None
    """Optional description for the Client to display to the user.

    Omitted and `null` are equivalent and mean no description is provided.
    """

    category: Lenient[SessionConfigOptionCategory | None] = None
    """Optional semantic category for this option (UX only).

    Omitted and `null` are equivalent and mean no category is provided.
    """


class SessionConfigSelectOption(Extensible):
    """A possible value for a session configuration option."""

    value: SessionConfigValueId
    """Unique identifier for this option value."""

    name: str
    """Human-readable label for this option value."""

    description: Lenient[str | None] = None
    """Optional description for this option value.

    Omitted and `null` are equivalent and mean no description is provided.
    """


class SessionConfigSelectGroup(Extensible):
    """A group of possible values for a session configuration option."""

    group_id: SessionConfigGroupId
    """Unique identifier for this group."""

    name: str
    """Human-readable label for this group."""

    options: LenientList[Annotated[list[SessionConfigSelectOption], Field(min_length=1)]]
    """The set of option values in this group. MUST contain at least one value."""


SessionConfigSelectOptionsGrouped: TypeAlias = Annotated[list[SessionConfigSelectGroup], Field(min_length=1)]
"""A list of options grouped under headers."""


SessionConfigSelectOptionsUngrouped: TypeAlias = Annotated[list[SessionConfigSelectOption], Field(min_length=1)]
"""A flat list of options with no grouping."""


SessionConfigSelectOptions: TypeAlias = Annotated[
    SessionConfigSelectOptionsUngrouped | SessionConfigSelectOptionsGrouped, FirstMatch()
]
"""Possible values for a session configuration option."""


class SessionConfigSelect(Model):
    """A single-value selector (dropdown) session configuration option payload."""

    current_value: SessionConfigValueId
    """The currently selected value. MUST be one of the `value`s in `options`."""

    options: SessionConfigSelectOptions
    """The set of selectable options.

    MUST contain at least one value, and each `value` MUST be unique within the option, including across groups.
    """


class SessionConfigOptionSelect(SessionConfigSelect, Extensible):
    """Single-value selector (dropdown)."""

    type: Literal["select"] = "select"
    config_id: SessionConfigId
    """Unique identifier for the configuration option."""

    name: str
    """Human-readable label for the option."""

    description: Lenient[str | None] = None
    """Optional description for the Client to display to the user.

    Omitted and `null` are equivalent and mean no description is provided.
    """

    category: Lenient[SessionConfigOptionCategory | None] = None
    """Optional semantic category for this option (UX only).

    Omitted and `null` are equivalent and mean no category is provided.
    """


SessionConfigOption: TypeAlias = Annotated[
    SessionConfigOptionSelect | SessionConfigOptionBoolean | OtherSessionConfigOption, Tagged("type")
]
"""A session configuration option selector and its current state."""

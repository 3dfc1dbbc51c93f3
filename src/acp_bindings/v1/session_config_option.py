"""ACP v1: session_config_option. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Literal, TypeAlias

from acp_bindings._model import Extensible, Model
from acp_bindings._types import FirstMatch, Lenient, LenientList, Tagged

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


class SessionConfigOptionBoolean(SessionConfigBoolean, Extensible):
    """Boolean on/off toggle."""

    type: Literal["boolean"] = "boolean"
    id: SessionConfigId
    """Unique identifier for the configuration option."""

    name: str
    """Human-readable label for the option."""

    description: Lenient[str | None] = None
    """Optional description for the Client to display to the user."""

    category: Lenient[SessionConfigOptionCategory | None] = None
    """Optional semantic category for this option (UX only)."""


class SessionConfigSelectOption(Extensible):
    """A possible value for a session configuration option."""

    value: SessionConfigValueId
    """Unique identifier for this option value."""

    name: str
    """Human-readable label for this option value."""

    description: Lenient[str | None] = None
    """Optional description for this option value."""


class SessionConfigSelectGroup(Extensible):
    """A group of possible values for a session configuration option."""

    group: SessionConfigGroupId
    """Unique identifier for this group."""

    name: str
    """Human-readable label for this group."""

    options: LenientList[list[SessionConfigSelectOption]]
    """The set of option values in this group."""


SessionConfigSelectOptionsGrouped: TypeAlias = list[SessionConfigSelectGroup]
"""A list of options grouped under headers."""


SessionConfigSelectOptionsUngrouped: TypeAlias = list[SessionConfigSelectOption]
"""A flat list of options with no grouping."""


SessionConfigSelectOptions: TypeAlias = Annotated[
    SessionConfigSelectOptionsUngrouped | SessionConfigSelectOptionsGrouped, FirstMatch()
]
"""Possible values for a session configuration option."""


class SessionConfigSelect(Model):
    """A single-value selector (dropdown) session configuration option payload."""

    current_value: SessionConfigValueId
    """The currently selected value."""

    options: SessionConfigSelectOptions
    """The set of selectable options."""


class SessionConfigOptionSelect(SessionConfigSelect, Extensible):
    """Single-value selector (dropdown)."""

    type: Literal["select"] = "select"
    id: SessionConfigId
    """Unique identifier for the configuration option."""

    name: str
    """Human-readable label for the option."""

    description: Lenient[str | None] = None
    """Optional description for the Client to display to the user."""

    category: Lenient[SessionConfigOptionCategory | None] = None
    """Optional semantic category for this option (UX only)."""


SessionConfigOption: TypeAlias = Annotated[SessionConfigOptionSelect | SessionConfigOptionBoolean, Tagged("type")]
"""A session configuration option selector and its current state."""

"""What the one who launches decides about a server, beyond what its specification says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_launch.failures import UnusableInput
from mcp_launch.restart import Restart

if TYPE_CHECKING:
    from mcp.client.session import ElicitationFnT, ListRootsFnT, LoggingFnT, MessageHandlerFnT, SamplingFnT
    from mcp_types import LoggingLevel, SamplingCapability

__all__ = ["Options", "OptionsFor", "options_for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settings of one server, or of all.

    A callback that is set is also what the server is told that we can do. They are the SDK's, so that what is written
    for `mcp.Client` serves here too.
    """

    sampling: SamplingFnT | None = None
    """Answers `sampling/createMessage`: the server asks for a completion of our model."""
    sampling_capabilities: SamplingCapability | None = None
    """What of sampling is supported, such as tools."""
    elicitation: ElicitationFnT | None = None
    """Answers `elicitation/create`: the server asks the user."""
    roots: ListRootsFnT | None = None
    """Answers `roots/list`: the server asks which directories it may work in."""
    logging: LoggingFnT | None = None
    """Takes what the server logs."""
    log_level: LoggingLevel | None = None
    """From which level on a server of the 2026-07-28 era is asked to log; older ones decide for themselves."""
    message: MessageHandlerFnT | None = None
    """Takes every other notification of the server, such as that its list of tools changed."""
    restart: Restart | None = None
    """Whether it is started again when it dies after it was ready."""


OptionsFor: TypeAlias = Options | Mapping[str, Options] | Callable[[str], Options]
"""The settings of all servers, those of each by its name, or a function that gives them for a name."""


def options_for(name: str, options: OptionsFor | None) -> Options:
    """The settings of the server of that name; a map that lacks it leaves it the usual ones.

    Raises:
        UnusableInput: they are no settings.
    """
    # What comes from outside is what it is, whatever its type says.
    given: Any = options
    if isinstance(options, Mapping):
        given = given.get(name)
    elif callable(options):
        given = given(name)
    if not isinstance(given, Options | None):
        raise UnusableInput(f"the options of {name} must be mcp_launch.Options, not {type(given).__name__}")
    return given or Options()

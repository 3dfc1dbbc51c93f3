"""The settings that an agent offers in its sessions: modes, config options and slash commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from inspect import isasyncgen, isawaitable
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_core import from_json

from acp_bindings import v1
from acp_bindings._from_v1 import commands_from_v1, options_from_v1
from acp_bindings.encoding import encode
from acp_bindings.setup.errors import InvalidParams

if TYPE_CHECKING:
    from acp_bindings.agent._session import Session

OnSet: TypeAlias = "Callable[[Session[Any], Any], Awaitable[None]]"
"""Called with the session and the new value, before it is announced. It may raise a `RequestError` to refuse."""

Values: TypeAlias = Mapping[str, str] | Mapping[str, Mapping[str, str]]
"""The names of the values of an option by id; or such mappings by the name of a group."""


async def outcome_of(answer: object, what: str) -> Any:
    """Return what a function of the agent's author returns, which is *what* in the message if it is not async."""
    if isasyncgen(answer):
        raise TypeError(f"{what} must not contain `yield`; show text with turn.say")
    if not isawaitable(answer):
        raise TypeError(f"{what} must be an async function")
    return await answer


MODE = "mode"
"""The id of the config option that has the modes."""


@dataclass(frozen=True)
class Option:
    """A setting of a session that the user may change: one of several values, or on and off."""

    id: str
    name: str
    values: Values | None
    """The names of the values by id; None for on and off."""
    default: str | bool
    description: str | None = None
    category: str | None = None
    on_set: OnSet | None = None

    def check(self, value: object) -> str | bool:
        """Return *value* if it is valid.

        Raises:
            InvalidParams: it is not one of the values.
        """
        if self.values is None:
            if isinstance(value, bool):
                return value
            raise InvalidParams(f"{self.id}: must be true or false")
        known = [id_ for name, each in self.values.items() for id_ in ([name] if isinstance(each, str) else each)]
        if isinstance(value, str) and value in known:
            return value
        raise InvalidParams(f"{self.id}: must be one of {', '.join(known)}")

    def restored(self, value: object) -> str | bool:
        """Return a stored *value* if it is still valid, otherwise the default."""
        try:
            return self.default if value is None else self.check(value)
        except InvalidParams:
            return self.default

    def to_json(self, value: str | bool) -> dict[str, Any]:
        """Return the config option of v1 with its current *value*."""
        more = {"description": self.description, "category": self.category}
        json: dict[str, Any] = {"id": self.id, "name": self.name, "currentValue": value}
        json |= {name: text for name, text in more.items() if text is not None}
        if self.values is None:
            return {"type": "boolean", **json}
        return {"type": "select", **json, "options": _options(self.values)}


def _options(values: Values) -> list[dict[str, Any]]:
    """Return the values of an option as v1 has them."""
    return [
        {"value": name, "name": each}
        if isinstance(each, str)
        else {"group": name, "name": name, "options": _options(each)}
        for name, each in values.items()
    ]


@dataclass(frozen=True)
class Command:
    """A slash command."""

    name: str
    description: str
    hint: str | None
    handler: Callable[[Any], Awaitable[Any]]

    def to_v1(self) -> v1.AvailableCommand:
        """Return the command as v1 has it."""
        more: Any = {} if self.hint is None else {"input": v1.UnstructuredCommandInput(hint=self.hint)}
        return v1.AvailableCommand(name=self.name, description=self.description, **more)


class Offers:
    """The modes, options and commands of an agent."""

    def __init__(self) -> None:
        self.modes: dict[str, dict[str, str]] = {}
        """The names and descriptions of the modes, by id."""
        self.on_mode: OnSet | None = None
        self.options: dict[str, Option] = {}
        self.commands: dict[str, Command] = {}

    def opening(self, session: Session[Any]) -> dict[str, Any]:
        """Return the fields of *session* in the response to `session/new`, `session/load` and `session/resume`."""
        said: dict[str, Any] = {}
        client = session.client
        if self.modes and client.version == 1:
            modes = [{"id": id_, **mode} for id_, mode in self.modes.items()]
            said["modes"] = {"currentModeId": session.mode, "availableModes": modes}
        if options := self.config_options(session):
            said["configOptions"] = options
        if client.version > 1 and (commands := self.available_commands(session)):
            said["availableCommands"] = commands_from_v1(from_json(encode(commands)))
        return said

    def available_commands(self, session: Session[Any]) -> list[v1.AvailableCommand]:
        """Return the commands of the agent and of *session*."""
        return [*(each.to_v1() for each in self.commands.values()), *session.commands]

    def config_options(self, session: Session[Any]) -> list[dict[str, Any]]:
        """Return the config options of *session* in the version of its client, if the client supports them."""
        client = session.client
        options = [
            option.to_json(session.options[id_])
            for id_, option in self.options.items()
            if option.values is not None or client.supports("config_options.boolean")
        ]
        if self.modes:
            values = [{"value": id_, **mode} for id_, mode in self.modes.items()]
            choice = {"type": "select", "id": MODE, "name": "Mode", "category": "mode", "currentValue": session.mode}
            options.insert(0, {**choice, "options": values})
        return options if client.version == 1 else options_from_v1(options)

    def restored(self, kept: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the options that a stored session has, or the defaults, by id."""
        return {id_: option.restored(kept.get(id_)) for id_, option in self.options.items()}

    def check_mode(self, mode: object) -> str:
        """Return the id of a mode.

        Raises:
            InvalidParams: the agent does not have this mode.
        """
        if isinstance(mode, str) and mode in self.modes:
            return mode
        raise InvalidParams(
            f"mode: must be one of {', '.join(self.modes)}" if self.modes else "this agent has no modes"
        )

    def option(self, id_: str) -> Option:
        """Return the option with an id.

        Raises:
            InvalidParams: the agent does not have this option.
        """
        if (found := self.options.get(id_)) is None:
            known = f"; it has {', '.join(self.options)}" if self.options else ""
            raise InvalidParams(f'configId: the agent does not have the option "{id_}"{known}')
        return found

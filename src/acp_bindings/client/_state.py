"""The state of a session: the updates of an agent, folded into one view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from pydantic.alias_generators import to_snake

from acp_bindings import v1
from acp_bindings._json import members_of
from acp_bindings._models.base import Model, known_member
from acp_bindings._to_v1 import made, to_v1

if TYPE_CHECKING:
    from acp_bindings.jsonrpc import ProtocolPackage
    from acp_bindings.setup.unions import SessionUpdate

Role: TypeAlias = Literal["user", "agent", "thought"]
Activity: TypeAlias = Literal["idle", "running", "requires_action"] | str


@dataclass(frozen=True)
class Message:
    """A message of the user or the agent, or a thought of the agent, with all its chunks joined."""

    role: Role
    content: tuple[v1.ContentBlock, ...]
    """The content. Consecutive chunks of plain text are one block."""
    message_id: str | None = None
    """The id, if the agent has sent one."""

    @property
    def text(self) -> str:
        """All text of the message."""
        return "".join(each.text for each in self.content if isinstance(each, v1.TextContent))


@dataclass(frozen=True)
class Usage:
    """The context and cost that the agent has reported, and the sums of the tokens of all turns."""

    used: int | None = None
    """Tokens in the context; None if the agent has not reported it."""
    size: int | None = None
    """The size of the context in tokens."""
    cost: v1.Cost | None = None
    """The cost of the session so far."""
    tokens: Mapping[str, int] = field(default_factory=dict[str, int])
    """The tokens of all turns of this connection by kind, such as `input_tokens`, if the agent reports them."""


@dataclass(frozen=True)
class SessionState:
    """A snapshot of a session. It does not change; two snapshots are equal if all they contain is equal.

    The objects in it are shared with the updates that you get. Do not change them.
    """

    entries: tuple[Message | v1.ToolCall, ...] = ()
    """The messages, thoughts and tool calls, in the order in which they began."""
    plan: tuple[v1.PlanEntry, ...] = ()
    """The entries of the plan; in v2 those of all plans."""
    mode: str | None = None
    """The id of the current mode. It is the value of the config option of the category `mode`, if there is one."""
    modes: tuple[v1.SessionMode, ...] = ()
    """The available modes."""
    config_options: tuple[v1.SessionConfigOption, ...] = ()
    """The config options with their current values."""
    commands: tuple[v1.AvailableCommand, ...] = ()
    """The available slash commands."""
    usage: Usage = Usage()
    """Context, cost and tokens."""
    title: str | None = None
    """The title of the session."""
    updated_at: str | None = None
    """The time of the last activity that the agent has reported, in ISO 8601."""
    activity: Activity = "idle"
    """`running` during a turn, `requires_action` while an agent of v2 waits for the user, otherwise `idle`."""
    stop_reason: str | None = None
    """The reason for which the last turn ended; None before that, and if it failed."""
    notices: tuple[v1.Notice, ...] = ()
    """The last 100 notices of the agent, for example about an MCP server that failed. The newest is the last one."""

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the user and the agent, without thoughts."""
        return tuple(each for each in self.entries if isinstance(each, Message) and each.role != "thought")

    @cached_property
    def thoughts(self) -> tuple[Message, ...]:
        """The thoughts of the agent."""
        return tuple(each for each in self.entries if isinstance(each, Message) and each.role == "thought")

    @cached_property
    def tool_calls(self) -> tuple[v1.ToolCall, ...]:
        """The tool calls, each with all its updates merged."""
        # To look for `v1.ToolCall` takes four times as long.
        return tuple(each for each in self.entries if not isinstance(each, Message))

    def tool_call(self, tool_call_id: str) -> v1.ToolCall | None:
        """Return the tool call with that id, or None."""
        newest_first = (each for each in reversed(self.entries) if not isinstance(each, Message))
        return next((each for each in newest_first if each.tool_call_id == tool_call_id), None)


_ROLES: Mapping[str, Role] = {"user_message": "user", "agent_message": "agent", "agent_thought": "thought"}
"""The updates of v2 that create or replace a whole message."""
_CHUNKS: Mapping[str, Role] = {f"{kind}_chunk": role for kind, role in _ROLES.items()}
_CHUNK_OF: Mapping[Role, str] = {role: f"{kind.title().replace('_', '')}Chunk" for kind, role in _ROLES.items()}
"""The name of the class of chunks for each role."""
_PLAIN = frozenset({"type", "text"})


class _Draft:
    """A message that may still grow. Plain text is stored as strings, which are joined when the message is read."""

    __slots__ = ("id", "kind", "local", "parts", "role")

    def __init__(self, role: Role, id_: str | None, kind: type[Any], *, local: bool = False) -> None:
        self.role: Role = role
        self.id = id_
        self.kind = kind
        """The class of its chunks."""
        self.local = local
        """True if it is a prompt that the agent has not echoed."""
        self.parts: list[Any] = []

    def message(self) -> Message:
        joined = list(_joined(self.parts))
        self.parts = [*map(_part, joined)]
        return Message(self.role, tuple(joined), self.id)


def _joined(parts: Iterable[Any]) -> Iterator[v1.ContentBlock]:
    run: list[str] = []
    for part in parts:
        if type(part) is str:
            run.append(part)
            continue
        if run:
            yield v1.TextContent(text="".join(run))
            run = []
        yield part
    if run:
        yield v1.TextContent(text="".join(run))


def _part(content: Any) -> Any:
    """Return plain text as a string, and other content as it is."""
    if type(content) is v1.TextContent and content.__pydantic_fields_set__ <= _PLAIN and not content.__pydantic_extra__:
        return content.text
    return content


class Folding:
    """Folds the updates of one session. `state` is the view of what was folded so far."""

    def __init__(self, protocol: ProtocolPackage) -> None:
        self._protocol: Any = protocol
        self._entries: list[_Draft | v1.ToolCall] = []
        self._view: list[Message | v1.ToolCall] = []
        """The entries as they were last looked at."""
        self._changed: set[int] = set()
        """The indices of entries that have changed since then; the one that chunks are appended to counts anyway."""
        self._own: set[int] = set()
        """The indices of tool calls that were not returned to anyone yet, so that they can be changed."""
        self._at: dict[tuple[str, str], int] = {}
        """The indices of messages and tool calls that have ids."""
        self._current: _Draft | None = None
        """The message that the next chunk continues."""
        self._current_at = 0
        self._plans: dict[str, tuple[v1.PlanEntry, ...]] = {}
        self._rest: dict[str, Any] = {"usage": Usage()}
        """The fields of the state other than the entries."""
        self._state: SessionState | None = None
        self._lock = RLock()
        """Held while something is folded or viewed, because user interfaces look at the state in other threads."""

    @property
    def state(self) -> SessionState:
        """The view of everything that was folded."""
        with self._lock:
            if self._state is None:
                if self._current:
                    self._changed.add(self._current_at)
                for index in sorted(self._changed):
                    entry = self._entries[index]
                    self._view[index : index + 1] = [entry.message() if isinstance(entry, _Draft) else entry]
                self._changed.clear()
                self._own.clear()
                self._state = SessionState(entries=tuple(self._view), **self._rest)
            return self._state

    def take(self, update: Any) -> None:
        """Fold an update of v1, or one of v2 that v1 does not have."""
        with self._lock:
            current = self._current
            if current is not None and type(update) is current.kind and update.message_id == current.id:
                # Nearly all updates are chunks that continue a message.
                content = update.content
                current.parts.append(_part(content))
                self._state = None
                return
            self._state = None
            kind = _kind(update)
            if role := _CHUNKS.get(kind):
                self._chunk(role, update)
            elif fold := _FOLDS.get(kind):
                fold(self, update)

    def in_v1(self, update: Any) -> Sequence[SessionUpdate]:
        """Return an update of any version in the classes of v1, given what was folded before."""
        kind = _kind(update)
        if kind in _ROLES and (_ROLES[kind], update.message_id) not in self._at and update.content:
            chunk = getattr(self._protocol, _CHUNK_OF[_ROLES[kind]])
            return [to_v1(chunk(message_id=update.message_id, content=each)) for each in update.content]
        if kind == "tool_call_content_chunk":
            return [self._appended(update)]
        found = to_v1(update)
        if isinstance(found, v1.SessionToolCallUpdate) and ("tool", found.tool_call_id) not in self._at:
            return [_created(found)] if self._protocol is not v1 else [found]
        return [found]

    def say(self, blocks: Iterable[v1.ContentBlock]) -> None:
        """Add a prompt of the user, which the agent may echo."""
        with self._lock:
            draft = self._begin(_Draft("user", None, v1.UserMessageChunk, local=True))
            draft.parts += map(_part, blocks)
            self._settle()  # a chunk of the user is an echo, which does not continue it
            self._state = None

    def end_prompt(self) -> None:
        """Take messages of the user from now on as other messages, not as an echo of the prompt."""
        if (index := self._unechoed()) is not None:
            cast("_Draft", self._entries[index]).local = False

    def ask(self, tool_call: v1.ToolCallUpdate, *, merge: bool) -> None:
        """Add the tool call of a permission request: as an update, or only if it is new."""
        if merge or ("tool", tool_call.tool_call_id) not in self._at:
            with self._lock:
                self._state = None
                self.take_tool_call(tool_call)

    def change(self, **fields: Any) -> None:
        """Set fields of the state other than the entries."""
        with self._lock:
            self._rest.update(fields)
            self._state = None

    def opened(self, response: Any) -> None:
        """Fold the response that created, loaded or resumed the session."""
        if (modes := known_member(response, "modes")) is not None:
            given = v1.SessionModeState.model_validate(modes.model_dump())
            self.change(mode=given.current_mode_id, modes=tuple(given.available_modes))
        if options := known_member(response, "config_options"):
            self.options(options)
        if commands := known_member(response, "available_commands"):
            self.take(to_v1(self._protocol.AvailableCommandsUpdate(available_commands=commands)))

    def options(self, options: Sequence[Any]) -> None:
        """Fold all config options, in the classes of the negotiated version."""
        self.take(to_v1(self._protocol.ConfigOptionUpdate(config_options=list(options))))

    def add_tokens(self, end: Any) -> None:
        """Add the tokens that the *end* of a turn may have: an object in an unstable package, JSON in a stable one."""
        given: Any = getattr(end, "usage", None)
        said: dict[str, Any] = given.model_dump() if isinstance(given, Model) else members_of(given)
        usage_before: Usage = self._rest["usage"]
        tokens = dict(usage_before.tokens)
        for name, value in said.items():
            if name.endswith("Tokens") and type(value) is int:
                tokens[to_snake(name)] = tokens.get(to_snake(name), 0) + value
        self.change(usage=replace(usage_before, tokens=tokens))

    def _chunk(self, role: Role, update: Any) -> None:
        draft, id_, part = self._current, cast("str | None", update.message_id), _part(update.content)
        if id_ is not None and (known := self._at.get((role, id_))) is not None:
            self._settle()
            draft, self._current_at = cast("_Draft", self._entries[known]), known
        elif role == "user" and (index := self._unechoed()) is not None:
            self._settle()
            draft, self._current_at = cast("_Draft", self._entries[index]), index
            draft.local, draft.parts, draft.id = False, [], id_
            if id_ is not None:
                self._at[role, id_] = index
        elif draft is None or draft.role != role or id_ is not None:
            if part == "":
                return  # Qwen Code sends an empty chunk with the usage after each response of its model
            draft = self._begin(_Draft(role, id_, getattr(v1, _CHUNK_OF[role])))
        self._current = draft
        draft.parts.append(part)

    def _unechoed(self) -> int | None:
        """Return the index of the prompt, if the agent has not echoed it."""
        for index in reversed(range(len(self._entries))):
            entry = self._entries[index]
            if isinstance(entry, _Draft) and entry.role == "user":
                return index if entry.local else None
        return None

    def _begin(self, draft: _Draft) -> _Draft:
        self._settle()
        if draft.id is not None:
            self._at[draft.role, draft.id] = len(self._entries)
        self._current, self._current_at = draft, self._add(draft)
        return draft

    def _settle(self) -> None:
        """Let the current message be seen as it is now; another one becomes the current one."""
        if self._current is not None:
            self._changed.add(self._current_at)
            self._current = None

    def _add(self, entry: _Draft | v1.ToolCall) -> int:
        index = len(self._entries)
        self._entries.append(entry)
        self._changed.add(index)
        return index

    def take_message(self, update: Any) -> None:
        """Fold an update of v2 that creates or replaces a message."""
        kind: str = update.session_update
        role, key = _ROLES[kind], (_ROLES[kind], update.message_id)
        self._settle()
        if key not in self._at:
            if role == "user" and (index := self._unechoed()) is not None:
                local = cast("_Draft", self._entries[index])
                local.local, local.id, self._at[key] = False, update.message_id, index
            else:
                self._begin(_Draft(role, update.message_id, getattr(v1, _CHUNK_OF[role])))
        if "content" in update.model_fields_set:
            draft = cast("_Draft", self._entries[self._at[key]])
            blocks = [
                to_v1(getattr(self._protocol, _CHUNK_OF[role])(message_id="", content=each))
                for each in update.content or ()
            ]
            contents = [cast("Any", each).content for each in blocks]
            draft.parts = [*map(_part, contents)]
        self._changed.add(self._at[key])

    def take_tool_call(self, update: Any) -> None:
        key = "tool", update.tool_call_id
        index = self._at.get(key)
        if index is None:
            self._settle()
            index = self._at[key] = self._add(update if isinstance(update, v1.ToolCall) else _created(update))
            if self._entries[index] is not update:
                self._own.add(index)
            return
        call = cast("v1.ToolCall", self._entries[index])
        if index not in self._own:
            call = self._entries[index] = call.__copy__()
            self._own.add(index)
            self._changed.add(index)
        values = cast("dict[str, Any]", vars(update))
        for name in update.__pydantic_fields_set__ - _NOT_MERGED:
            value = values[name] if name in values else getattr(update, name, None)
            if value is not None or name in _MAY_BE_NULL:
                # The types are those of a tool call, and the values were checked when they were read.
                vars(call)[name] = value
                call.__pydantic_fields_set__.add(name)

    def _appended(self, update: Any) -> SessionUpdate:
        """Return the whole content of a tool call to which an update of v2 appends something."""
        id_: str = update.tool_call_id
        added: Any = to_v1(self._protocol.SessionToolCallUpdate(tool_call_id=id_, content=[update.content]))
        index = self._at.get(("tool", id_))
        if index is None:
            return _created(added)
        content = cast("v1.ToolCall", self._entries[index]).content
        # It was checked when it came: checking it again for each chunk would take the square of its length.
        vars(added)["content"] = [*content, *(added.content or ())]
        return cast("SessionUpdate", added)

    def take_plan(self, update: Any) -> None:
        entries: tuple[v1.PlanEntry, ...] = ()
        if isinstance(update, v1.Plan):
            id_, entries = str((update.model_extra or {}).get("planId", "")), tuple(update.entries)
        else:
            # A plan of a kind that v1 does not have, or one that was removed.
            id_ = known_member(known_member(update, "plan") or update, "plan_id")
        self._plans[id_] = entries
        self.change(plan=tuple(entry for plan in self._plans.values() for entry in plan))

    def take_mode(self, update: v1.CurrentModeUpdate) -> None:
        self.change(mode=update.current_mode_id)

    def take_options(self, update: v1.ConfigOptionUpdate) -> None:
        self.change(config_options=tuple(update.config_options))
        for option in update.config_options:
            if option.category == "mode" and isinstance(option, v1.SessionConfigOptionSelect):
                modes = (
                    v1.SessionMode(id=each.value, name=each.name, description=each.description)
                    for each in choices(option)
                )
                self.change(mode=option.current_value, modes=tuple(modes))
                return

    def take_commands(self, update: v1.AvailableCommandsUpdate) -> None:
        self.change(commands=tuple(update.available_commands))

    def take_info(self, update: v1.SessionInfoUpdate) -> None:
        self.change(
            **{name: getattr(update, name) for name in ("title", "updated_at") if name in update.model_fields_set}
        )

    def take_usage(self, update: v1.UsageUpdate) -> None:
        usage = replace(self._rest["usage"], used=update.used, size=update.size)
        if "cost" in update.model_fields_set:
            usage = replace(usage, cost=update.cost)
        self.change(usage=usage)

    def take_notice(self, update: v1.Notice) -> None:
        notices: tuple[v1.Notice, ...] = self._rest.get("notices", ())
        self.change(notices=(*notices, update)[-_NOTICES:])


_NOTICES = 100
"""The number of notices that are kept."""
_NOT_MERGED = frozenset({"session_update", "tool_call_id"})
_MAY_BE_NULL = frozenset({"raw_input", "raw_output"})

_FOLDS: Mapping[str, Any] = {
    "user_message": Folding.take_message,
    "agent_message": Folding.take_message,
    "agent_thought": Folding.take_message,
    "tool_call": Folding.take_tool_call,
    "tool_call_update": Folding.take_tool_call,
    "plan": Folding.take_plan,
    "plan_update": Folding.take_plan,
    "plan_removed": Folding.take_plan,
    "current_mode_update": Folding.take_mode,
    "config_option_update": Folding.take_options,
    "available_commands_update": Folding.take_commands,
    "session_info_update": Folding.take_info,
    "usage_update": Folding.take_usage,
    "notice": Folding.take_notice,
}


def choices(option: v1.SessionConfigOptionSelect) -> Iterator[v1.SessionConfigSelectOption]:
    """Yield the values to choose from, without their groups."""
    for each in option.options:
        if isinstance(each, v1.SessionConfigSelectGroup):
            yield from each.options
        else:
            yield each


def _kind(update: Any) -> str:
    """Return the kind of an update, or nothing if it is not a kind of its version and so may have any fields."""
    return "" if type(update).__name__ == "OtherSessionUpdate" else update.session_update


def _created(update: v1.ToolCallUpdate) -> v1.ToolCall:
    """Return the tool call that an update creates."""
    values = {name: getattr(update, name) for name in update.model_fields_set & _OF_TOOL_CALL}
    said = {name: value for name, value in values.items() if value is not None or name in _MAY_BE_NULL}
    return cast("v1.ToolCall", made(v1.ToolCall, {**_NEW_TOOL_CALL, **said}, {"session_update", "title", *said}))


_NEW_TOOL_CALL: Mapping[str, Any] = {
    "session_update": "tool_call",  # first, as in other tool calls
    "title": "",
    **{
        name: info.get_default(call_default_factory=True)
        for name, info in v1.ToolCall.model_fields.items()
        if not info.is_required()
    },
}
_OF_TOOL_CALL = frozenset({"tool_call_id", *_NEW_TOOL_CALL}) - {"session_update"}

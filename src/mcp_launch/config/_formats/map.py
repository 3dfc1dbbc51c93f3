"""The formats with a map of servers, which all clients except ACP use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import ceil, inf
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

from mcp_launch._json_values import as_items, as_members, is_empty, kind_of
from mcp_launch.config._detection import HOLDERS, is_server, meant_by
from mcp_launch.config._documents import Path, unusable
from mcp_launch.config._entries import Entry
from mcp_launch.config._formats.format import EntryReading, Format, Reading, Writing
from mcp_launch.config._references import Reference, Text, map_leaves
from mcp_launch.failures import NoServers, Phrases, did_you_mean

MEMBERS = frozenset({"command", "args", "env", "url", "headers"})
"""The members in which most clients replace references."""
# "stdio" has this name in all of them, unlike in ACP, where it depends on the version.
OF_CLIENTS = Phrases(absolute="", words=(("stdio", "stdio"),), has_maps=True)
"""The wording for clients, which find programs on PATH themselves."""

_OF_PROCESS, _OF_URL = frozenset({"command", "args", "env"}), frozenset({"url", "headers"})
_BOOLEAN = "true or false"
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "a string": lambda value: isinstance(value, str | Text),
    "a number": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf,
    _BOOLEAN: lambda value: isinstance(value, bool),
}


class MapFormat(Format):
    """A format with a map of servers, which its class attributes describe.

    A client with other rules overrides the method concerned.
    """

    phrases = OF_CLIENTS
    command: str = "command"
    env: str = "env"
    headers: str = "headers"
    urls: Mapping[str, str] = {"url": "http"}
    """The members for a URL, with the transport if there is no type; the first one present is used."""
    transports: tuple[str, ...] = ("stdio", "http", "sse")
    """The transports that the client supports."""
    elsewhere: str = ""
    """What to do with a server that has another transport."""
    needs_type: bool = False
    """True if a server without a type is a command, even if it has a URL."""
    guesses_sse: bool = False
    """True if a URL that ends in /sse means SSE if there is no type."""
    timeout: tuple[str, float] | None = None
    """The member for the timeout, and its unit in seconds."""
    whole_timeout: bool = False
    """True if the client rejects fractions of the unit."""
    disabled: tuple[str, bool] | None = None
    """The member that disables a server, and its value for that."""
    disables_apart: bool = False
    """True if another part of the file disables servers."""
    unread: frozenset[str] = frozenset()
    """Members that the client supports but that are not supported here, so that the server may behave differently."""
    instead: Mapping[str, str] = {}
    """The effect of members that only other clients have, and what to write instead."""
    misplaced: str = "has no effect in a server of this type"
    """The effect of members of another type of server."""
    expands = MEMBERS
    keeps: tuple[str, ...] = ()
    """Members of the file itself that are preserved when it is written."""

    SHARED: ClassVar = frozenset({"description", "envFile"})
    """Members with the same meaning in every client that supports them."""

    def read(self, reading: Reading) -> Iterator[Entry]:
        """Yield the entries of the first map that is present."""
        for at in self.at:
            if at[-1] not in as_members(_inside(reading.document.value, at[:-1])):
                continue
            found = _inside(reading.document.value, at)
            if found is None:
                return
            where = ".".join(at)
            if not isinstance(found, dict):
                raise reading.refuse(f"{where} must be a map of servers, not {kind_of(found)}", path=at)
            servers = as_members(found)
            if is_server(servers) and not any(map(is_server, servers.values())):
                raise reading.refuse(f'{where} is a server, not a map of servers; write {{"NAME": {{…}}}}', path=at)
            if len(servers) == 1 and any(map(is_server, as_members(servers.get(at[-1])).values())):
                raise reading.refuse(f"{where} contains {at[-1]} again; remove one of the two", path=(*at, at[-1]))
            yield from self.read_map(servers, at, reading)
            return
        holders = " or ".join(f'"{".".join(at)}"' for at in self.at)
        none = f"contains no {holders}, where {self.title} looks for servers"
        others = [member for member in HOLDERS if as_members(as_members(reading.document.value).get(member))]
        if others:
            raise reading.refuse(f'{none}; rename "{others[0]}", which other clients use')
        raise NoServers(str(reading.refuse(none + meant_by(reading.document.value, self.at[0][0]))))

    def read_map(self, servers: Mapping[str, Any], at: Path, reading: Reading) -> Iterator[Entry]:
        for name, raw in servers.items():
            one = EntryReading(reading, name, (*at, name))
            if not isinstance(raw, dict):
                one.note("wrong_type", f"a server must be a map, not {kind_of(raw)}")
                # Without members it cannot be launched, which the launcher reports too.
                yield Entry(name, None, reading.document.key_place(one.path), {"name": name}, path=one.path)
            elif (entry := self.read_entry(cast("dict[str, Any]", raw), one)) is not None:
                yield entry

    def read_entry(self, raw: dict[str, Any], at: EntryReading) -> Entry | None:
        """Return an entry, or None, with a finding, if it is not a server that can be launched."""
        self._note_unknown(raw, at)
        document = at.reading.document
        seen = {
            member: self.syntax.parse_all(value, document.place, (*at.path, member))
            if member in self.expands
            else value
            for member, value in raw.items()
        }
        kind = self.transport(seen)
        if at.reading.client == self.name:
            self._note_refused(kind, seen, at)
        server, used = self.shape(kind, seen, at)
        for member in self.members():
            self.note_unexpanded(member, self.literally(member, seen, raw), at)
        own = partial(_own, at)
        timed, unit = self.timeout or (None, 1.0)
        off, meant = self.disabled or (None, True)
        cwd, timeout, disabled = own(seen, self.cwd, "a string"), own(raw, timed, "a number"), own(raw, off, _BOOLEAN)
        fields = {self.cwd: cwd, timed: timeout, off: disabled}
        used |= {"type", "transport", *(member for member, value in fields.items() if member and value is not None)}
        return Entry(
            at.name,
            None,
            document.key_place(at.path),
            server,
            written_cwd=cwd,
            disabled=disabled is meant,
            timeout=None if timeout is None else timeout * unit,
            extra={member: value for member, value in raw.items() if member not in used},
            path=at.path,
        )

    def literally(self, member: str, seen: Mapping[str, Any], raw: Mapping[str, Any]) -> Any:
        """Return the value of a member in which only the references that the client replaces are parsed."""
        del raw
        return seen.get(member)

    def transport(self, raw: Mapping[str, Any]) -> Any:
        """Return ACP's name of the transport; an unknown type is unchanged."""
        kind = raw.get("type", raw.get("transport"))
        if kind is None:
            member = next((each for each in self.urls if each in raw), None)
            return "stdio" if member is None else self.guess(member, raw[member])
        if isinstance(kind, str) and kind.lower().replace("-", "").replace("_", "") in ("streamablehttp", "http"):
            return "http"
        return kind

    def shape(self, kind: Any, raw: Mapping[str, Any], at: EntryReading) -> tuple[dict[str, Any], set[str]]:
        """Return the server in ACP's format, and the members of *raw* that were used."""
        server: dict[str, Any] = {"type": kind, "name": at.name}
        if kind == "sse":
            server["headers"] = []  # required by ACP and omitted in these maps
        wanted = _OF_PROCESS | _OF_URL
        # If the type contradicts the members, the launcher gets all of them and says which type is meant.
        if kind == "stdio" and self.command in raw:
            wanted = _OF_PROCESS
        elif kind in ("http", "sse") and not raw.keys().isdisjoint(self.urls):
            wanted = _OF_URL
        used: set[str] = set()
        for theirs, ours in self.members().items():
            if theirs in raw and ours in wanted and (ours != "url" or "url" not in server):
                used.add(theirs)
                server[ours] = _pairs(theirs, raw[theirs], at) if ours in ("env", "headers") else raw[theirs]
            elif raw.get(theirs) and theirs in self.known():
                at.note("unused_member", f"{theirs} {self.misplaced}", theirs)
        return server, used

    def members(self) -> dict[str, str]:
        """Return the members of a server that ACP has too, with their names in ACP."""
        of_url = {**dict.fromkeys(self.urls, "url"), self.headers: "headers"}
        return {self.command: "command", "args": "args", self.env: "env", **of_url}

    def _note_unknown(self, raw: Mapping[str, Any], at: EntryReading) -> None:
        known = self.known()
        for member in raw:
            if member in self.unread:
                message = f"{member} is not supported here, so the server may behave differently than in {self.title}"
                at.note("not_read", message, member)
            elif member not in known:
                near = did_you_mean(member, sorted(known - self.unread))
                said = self.instead.get(member) or f"does not support {member!r}{near}"
                at.note("unknown_member", f"{self.title} {said}", member)

    def _note_refused(self, kind: Any, raw: Mapping[str, Any], at: EntryReading) -> None:
        """Report a server that is started here, although its client would reject it."""
        if kind not in ("http", "sse"):
            return
        if kind not in self.transports:
            message = f"{self.title} does not start servers of type {kind} from this file{self.elsewhere}"
            at.note("other_transport", message)
        elif self.needs_type and "type" not in raw and self.command not in raw:
            meant = "sse" if ends_in_sse(raw.get("url")) else kind
            message = f'has no type, so {self.title} treats it as a command and rejects it; add "type": "{meant}"'
            at.note("missing_type", message)

    def write(self, writing: Writing) -> Any:
        """Return the JSON of a file, with the map where the client looks first."""
        servers: dict[str, Any] = {}
        for entry in writing.config.entries:
            key = self.key(entry.name)
            if key in servers:
                message = f"the name {entry.name!r} occurs twice, but {self.title} requires unique names"
                raise unusable(writing.config.source, entry.place, message)
            if (raw := self._write_entry(entry, writing)) is not None:
                servers[key] = raw
        return self.write_file(servers, writing)

    def key(self, name: str) -> str:
        return name

    def write_file(self, servers: dict[str, Any], writing: Writing) -> dict[str, Any]:
        if writing.config.cwd is not None:
            writing.note(
                None, "not_said", f"{self.title} does not support a directory for all servers; cwd was omitted"
            )
        file: dict[str, Any] = {}
        for member, value in writing.config.rest.items():
            if member in self.keeps:
                file[member] = value
            else:
                self.omit(writing, None, member)
        return {**file, self.at[0][0]: servers}

    def unshape(self, entry: Entry, kind: str, server: Mapping[str, Any], writing: Writing) -> dict[str, Any]:
        """Return the server with this client's names of members."""
        raw: dict[str, Any] = {}
        if kind in self.types:
            raw["type"] = self.types[kind]
        if kind == "stdio":
            names = {"command": self.command, "args": "args", "env": self.env}
        else:
            names = {"url": self._url_member(entry, kind, server, writing), "headers": self.headers}
        for ours, theirs in names.items():
            if ours not in server:
                continue
            value = self._as_map(entry, ours, server[ours], writing) if ours in ("env", "headers") else server[ours]
            if value or ours not in ("env", "headers"):
                raw[theirs] = self._render(entry, theirs, value, writing)
        for member in sorted(set(server) - {"type", "name", "_meta", *names}):
            self.omit(writing, entry, f"{member} in a server of type {kind}")
        return raw

    def literal(self, entry: Entry, member: str, text: str, writing: Writing) -> str:
        """Return a literal string, and report if the client would replace a part of it."""
        if self.replaced_in(entry, member, text):
            message = f"{self.title} would replace a part of {member} that is meant literally"
            writing.note(entry, "would_be_replaced", message)
        return text

    def replaced_in(self, entry: Entry, member: str, text: str) -> list[Reference]:
        """Return the references that the client would replace in a string."""
        found = self.syntax.parse(text, entry.place)
        return list(found.references) if member in self.expands and isinstance(found, Text) else []

    def _write_entry(self, entry: Entry, writing: Writing) -> dict[str, Any] | None:
        """Return an entry, or None, with a finding, if the client does not support it."""
        server = entry.written
        members = as_members(server)
        if not members.keys() - {"name"}:
            writing.note(entry, "left_out", "is not a server and was omitted")
            return None
        kind = members.get("type", "stdio")
        if kind not in self.transports:
            shown = f"of type {kind}" if isinstance(kind, str) else "with a type that is not a string"
            self.omit(writing, entry, f"servers {shown}", "left_out")
            return None
        if entry.disabled and self.disabled is None and not self.disables_apart:
            self.omit(writing, entry, "disabled servers", "left_out")
            return None
        raw = self.unshape(entry, str(kind), members, writing)
        return self._write_more(entry, raw, writing)

    def _url_member(self, entry: Entry, kind: str, server: Mapping[str, Any], writing: Writing) -> str:
        member = next((each for each, means in self.urls.items() if means == kind), next(iter(self.urls)))
        if kind not in self.types and (meant := self.guess(member, server.get("url"))) != kind:
            message = f"{self.title} derives the transport from the URL, which means {meant}, not {kind}"
            writing.note(entry, "not_said", message)
        return member

    def _as_map(self, entry: Entry, member: str, value: Any, writing: Writing) -> Any:
        """Return pairs of `name` and `value` as a map; other values are unchanged."""
        pairs = as_items(value)
        if pairs != value or not all(_is_pair(pair) for pair in pairs):
            return cast("object", value)
        found: dict[str, Any] = {}
        for pair in pairs:
            if pair["name"] in found:
                message = f"{self.title} allows each name once in {member}; the last value of {pair['name']} was used"
                writing.note(entry, "not_said", message)
            found[pair["name"]] = pair["value"]
        return found

    def _render(self, entry: Entry, member: str, value: Any, writing: Writing) -> Any:
        """Return a value with its references in the syntax of the client."""

        def render(leaf: Any, _: Path) -> Any:
            if isinstance(leaf, str):
                return self.literal(entry, member, leaf, writing)
            if isinstance(leaf, Text):
                return "".join(self._part(entry, member, part, leaf, writing) for part in leaf.parts)
            return leaf

        return map_leaves(value, render)

    def _part(self, entry: Entry, member: str, part: str | Reference, text: Text, writing: Writing) -> str:
        if isinstance(part, str):
            return self.literal(entry, member, part, writing)
        said = self.syntax.write(part) if member in self.expands else None
        if said is not None:
            return said
        # In a file of the same client, this is an unknown reference, which keeps its meaning.
        if self.name != writing.config.format:
            found = self.replaced_in(entry, member, part.literal) if part.kind == "unknown" else []
            code, does = "variable_not_said", "does not replace"
            if any(each.kind == "env" and each.name.isidentifier() for each in found):
                code, does = "would_be_replaced", "would replace"
            writing.note(entry, code, f"{self.title} {does} {part.shown} in {member}", place=text.place)
        return part.literal

    def _write_more(self, entry: Entry, raw: dict[str, Any], writing: Writing) -> dict[str, Any]:
        """Add what ACP does not support: directory, timeout, disabling, and other members."""
        if entry.written_cwd is not None:
            if self.cwd and raw.get(self.command) is not None:
                raw[self.cwd] = self._render(entry, self.cwd, entry.written_cwd, writing)
            else:
                self.omit(writing, entry, "a directory per server")
        if entry.timeout is not None:
            if self.timeout:
                number = _number(entry.timeout / self.timeout[1])
                raw[self.timeout[0]] = ceil(number) if self.whole_timeout else number
            else:
                self.omit(writing, entry, "a timeout per server")
        if self.disabled and entry.disabled:
            raw[self.disabled[0]] = self.disabled[1]
        for member, value in entry.extra.items():
            if self.name == writing.config.format or (member in self.SHARED and member in self.known()):
                raw.setdefault(member, value)
            elif not is_empty(value):
                self.omit(writing, entry, f"{member!r}, or uses it differently")
        return raw

    def known(self) -> set[str]:
        optional = [self.cwd, self.timeout and self.timeout[0], self.disabled and self.disabled[0]]
        return {*self.members(), "type", "transport", *self.others, *self.unread, *(each for each in optional if each)}

    def guess(self, member: str, url: Any) -> str:
        """Return the transport of a URL without a type."""
        return "sse" if self.guesses_sse and ends_in_sse(url) else self.urls[member]


def _pairs(member: str, value: Any, at: EntryReading) -> Any:
    """Return a map as pairs of `name` and `value`; other values are unchanged."""
    if isinstance(value, dict):
        return [{"name": each, "value": text} for each, text in cast("dict[str, Any]", value).items()]
    if value is not None:
        kind = "a string" if isinstance(value, Text) else kind_of(value)
        at.note("wrong_type", f"{member} must be a map of names and strings, not {kind}", member)
    return value


def _own(at: EntryReading, raw: Mapping[str, Any], member: str | None, wanted: str) -> Any:
    """Return the value of a member; None, with a finding, if its type is wrong."""
    value: Any = raw.get(member) if member else None
    if member is None or value is None or _TYPES[wanted](value):
        return value
    at.note("wrong_type", f"{member} must be {wanted}; it was ignored", member)
    return None


def _inside(value: Any, at: Iterable[str]) -> Any:
    for member in at:
        value = as_members(value).get(member)
    return value


def ends_in_sse(url: Any) -> bool:
    """Return True if the path of a URL ends in /sse, as for most SSE servers."""
    text = url.written() if isinstance(url, Text) else url
    try:
        return isinstance(text, str) and urlsplit(text).path.rstrip("/").endswith("/sse")
    except ValueError:
        return False


def _is_pair(pair: Any) -> bool:
    return as_members(pair).keys() == {"name", "value"} and isinstance(pair["name"], str)


def _number(value: float) -> float:
    """Return the number rounded to five digits, as an integer if possible."""
    rounded = round(value, 5)
    return int(rounded) if rounded == int(rounded) else rounded

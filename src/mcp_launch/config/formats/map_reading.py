"""Reads a map of servers: members that ACP has get ACP's names, and the rest is kept as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from mcp_launch.config.formats.format import Draft, Reading
from mcp_launch.config.formats.words import Words, ends_in_sse
from mcp_launch.config.places import Path
from mcp_launch.config.recognise import HOLDERS, meant_by
from mcp_launch.config.references import Text
from mcp_launch.failures import NoServers
from mcp_launch.json_values import as_members, kind_of

__all__ = ["MapReader"]


class MapReader(Words):
    """How a map format is read; a client with a rule of its own overrides the method for it."""

    def read(self, reading: Reading) -> Iterator[Draft]:
        """The entries of the first map that is there."""
        for at in self.at:
            if not _holds(reading.document.value, at):
                continue
            found = _inside(reading.document.value, at)
            if found is None:
                return
            if not isinstance(found, dict):
                where = ".".join(at)
                raise reading.refuse(f"{where} must be a map of servers, not {kind_of(found)}", path=at)
            yield from self.read_map(cast("dict[str, Any]", found), at, reading)
            return
        holders = " or ".join(".".join(at) for at in self.at)
        none = f"holds no {holders}, where {self.title} has its servers"
        others = [member for member in HOLDERS if as_members(as_members(reading.document.value).get(member))]
        if others:
            raise reading.refuse(f"{none}; it holds {others[0]}, which is what other clients call them")
        raise NoServers(str(reading.refuse(none + meant_by(reading.document.value, self.at[0][0]))))

    def read_map(self, servers: Mapping[str, Any], at: Path, reading: Reading) -> Iterator[Draft]:
        """The entries of the map that stands there."""
        for name, raw in servers.items():
            path = (*at, name)
            if not isinstance(raw, dict):
                message = f"a server must be a map, not {kind_of(raw)}"
                reading.note("wrong_type", message, path=path, server=name)
                # With nothing but a name it cannot be launched, which the launcher says too.
                yield Draft(name, {"name": name}, path)
            elif (draft := self.read_entry(name, cast("dict[str, Any]", raw), path, reading)) is not None:
                yield draft

    def read_entry(self, name: str, raw: dict[str, Any], path: Path, reading: Reading) -> Draft | None:
        """One entry, or None if it is no server that can be launched, which is then noted."""
        self._note_unknown(name, raw, path, reading)
        seen = {
            member: self.syntax.parse_all(value, reading.document.place, (*path, member))
            if member in self.expands
            else value
            for member, value in raw.items()
        }
        kind = self.transport(seen)
        if reading.client == self.name:
            self._note_refused(name, kind, seen, path, reading)
        server, used = self.shape(name, kind, seen, path, reading)
        cwd = self._cwd(seen, name, path, reading)
        timeout, disabled = self._timeout(raw, name, path, reading), self._disabled(raw, name, path, reading)
        used |= {"type", "transport"}
        used |= {self.cwd} if self.cwd and cwd is not None else set()
        used |= {self.timeout[0]} if self.timeout and timeout is not None else set()
        used |= {self.disabled[0]} if self.disabled and disabled is not None else set()
        return Draft(
            name,
            server,
            path,
            cwd=cwd,
            disabled=bool(disabled),
            timeout=timeout,
            extra={member: value for member, value in raw.items() if member not in used},
        )

    def transport(self, raw: Mapping[str, Any]) -> Any:
        """The transport of this server by ACP's name; an unknown type as it is."""
        kind = raw.get("type", raw.get("transport"))
        if kind is None:
            member = next((each for each in self.urls if each in raw), None)
            return "stdio" if member is None else self.guess(member, raw[member])
        if isinstance(kind, str) and kind.lower().replace("-", "").replace("_", "") in ("streamablehttp", "http"):
            return "http"
        return kind

    def shape(
        self, name: str, kind: Any, raw: Mapping[str, Any], path: Path, reading: Reading
    ) -> tuple[dict[str, Any], set[str]]:
        """The server as ACP writes it, and the members of `raw` that it was made from."""
        server: dict[str, Any] = {"type": kind, "name": name}
        url = next((each for each in self.urls if each in raw), None)
        of_process = {self.command: "command", "args": "args", self.env: "env"}
        of_url = {"headers": "headers"} if url is None else {url: "url", "headers": "headers"}
        wanted = of_process if kind == "stdio" else of_url if kind in ("http", "sse") else {**of_process, **of_url}
        if kind == "sse":
            server["headers"] = []  # which ACP requires, and these maps leave out
        for theirs, ours in wanted.items():
            if theirs in raw:
                is_map = ours in ("env", "headers")
                server[ours] = self._pairs(theirs, raw[theirs], name, path, reading) if is_map else raw[theirs]
        used = wanted.keys() & raw.keys()
        for theirs in (self.command, "args", self.env, *self.urls, "headers"):
            if raw.get(theirs) and theirs not in used:
                message = f"{theirs} means nothing in a server of this type, and is not used"
                reading.note("unused_member", message, path=(*path, theirs), server=name)
        return server, used

    def _note_unknown(self, name: str, raw: Mapping[str, Any], path: Path, reading: Reading) -> None:
        known = self.known()
        for member in raw:
            if member in self.unread:
                message = f"{member} is not read here, so that the server may not run as in {self.title}"
                reading.note("not_read", message, path=(*path, member), server=name)
            elif member not in known:
                message = f"{self.title} has no member {member!r}{_hint(member, known)}"
                reading.note("unknown_member", message, path=(*path, member), server=name)

    def _note_refused(self, name: str, kind: Any, raw: Mapping[str, Any], path: Path, reading: Reading) -> None:
        """Note a server that is started here, though its client would refuse it."""
        if kind not in ("http", "sse"):
            return
        if kind not in self.transports:
            message = f"{self.title} starts no servers of type {kind} from this file"
            reading.note("other_transport", message, path=path, server=name)
        elif self.needs_type and "type" not in raw and self.command not in raw:
            meant = "sse" if ends_in_sse(raw.get("url")) else kind
            message = f'without a type, {self.title} takes it for a program and refuses it; write "type": "{meant}"'
            reading.note("missing_type", message, path=path, server=name)

    def _pairs(self, member: str, value: Any, name: str, path: Path, reading: Reading) -> Any:
        """A map as pairs of `name` and `value`; any other value as it is."""
        if isinstance(value, dict):
            return [{"name": each, "value": text} for each, text in cast("dict[str, Any]", value).items()]
        if value is not None:
            kind = "a text" if isinstance(value, Text) else kind_of(value)
            message = f"{member} must be a map of names and texts, not {kind}"
            reading.note("wrong_type", message, path=(*path, member), server=name)
        return value

    def _cwd(self, raw: Mapping[str, Any], name: str, path: Path, reading: Reading) -> str | Text | None:
        cwd = raw.get(self.cwd) if self.cwd else None
        if cwd is None or isinstance(cwd, str | Text):
            return cwd
        self._note_type(str(self.cwd), "a text", name, path, reading)
        return None

    def _timeout(self, raw: Mapping[str, Any], name: str, path: Path, reading: Reading) -> float | None:
        if self.timeout is None or raw.get(self.timeout[0]) is None:
            return None
        member, unit = self.timeout
        value = raw[member]
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
            return value * unit
        self._note_type(member, "a number", name, path, reading)
        return None

    def _disabled(self, raw: Mapping[str, Any], name: str, path: Path, reading: Reading) -> bool | None:
        if self.disabled is None or self.disabled[0] not in raw:
            return None
        member, value = self.disabled
        if isinstance(raw[member], bool):
            return raw[member] is value
        self._note_type(member, "true or false", name, path, reading)
        return None

    def _note_type(self, member: str, wanted: str, name: str, path: Path, reading: Reading) -> None:
        reading.note("wrong_type", f"{member} must be {wanted}, and is not used", path=(*path, member), server=name)


def _inside(value: Any, at: Iterable[str]) -> Any:
    for member in at:
        value = as_members(value).get(member)
    return value


def _holds(value: Any, at: tuple[str, ...]) -> bool:
    return at[-1] in as_members(_inside(value, at[:-1]))


def _hint(member: str, known: set[str]) -> str:
    import difflib  # noqa: PLC0415 - for what is misspelt, and most is not

    meant = difflib.get_close_matches(member, sorted(known), n=1)
    return f"; did you mean {meant[0]}?" if meant else ""

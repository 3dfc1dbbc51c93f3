"""JSON-RPC without I/O: `Codec` turns lines into typed messages and back, for either side of a connection.

    codec = Codec(v1, role="agent")
    match codec.read(line):
        case Request(params=v1.NewSessionRequest()) as request:
            send(codec.respond(request, v1.NewSessionResponse(session_id="sess_1")))
        case BadLine(reply=bytes(reply)):
            send(reply)

The type of a message follows from its method or, for a response, from the id of the request. It is never guessed from
the fields. Input from a peer never raises: an invalid line becomes a `BadLine` with the reply to send, and does not
affect the lines after it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from itertools import chain
from types import EllipsisType, MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar, cast, get_args, overload

from pydantic import BaseModel
from pydantic_core import from_json, to_json

from acp_bindings._envelope import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    call_fault,
    issues_with_id,
    line_of,
    notification_line,
    outcome_fault,
    refuse,
    start_of_notification,
    version_fault,
)
from acp_bindings._json import kind_of, members_of, mendings, parsed_members
from acp_bindings._models.base import NotificationParams
from acp_bindings._models.reading import notes
from acp_bindings._models.validators import Validate, validate_of
from acp_bindings.decoding import decode, look_again, read_text
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError, Finding, one_line
from acp_bindings.messages import (
    BadLine,
    BadResponse,
    ErrorResponse,
    Id,
    Message,
    Notification,
    Request,
    Response,
)
from acp_bindings.methods import Asks, NotificationType, ProtocolPackage, RequestType, is_of

__all__ = [
    "CANCEL",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "REQUEST_CANCELLED",
    "BadLine",
    "BadResponse",
    "Codec",
    "ErrorResponse",
    "Id",
    "Message",
    "Notification",
    "ProtocolPackage",
    "Request",
    "Response",
    "Role",
    "Sent",
]


Role: TypeAlias = Literal["agent", "client", "proxy", "conductor"]
"""Our role on a connection. A conductor manages a chain of proxies, which are connected to it."""

_PEERS: dict[Role, Role] = {"agent": "client", "client": "agent", "proxy": "conductor", "conductor": "proxy"}

_SIDES = {
    "agent": {"agent", "both", "protocol"},
    "client": {"client", "both", "protocol"},
    "proxy": {"agent", "proxy", "both", "protocol"},
    "conductor": {"client", "proxy", "both", "protocol"},
}
"""The sides (`x-side`) whose methods each role handles."""


def handles(role: Role, type_: NotificationType) -> bool:
    """Return True if *role* handles the method."""
    return type_.side in _SIDES[role]


def sends(role: Role, type_: NotificationType) -> bool:
    """Return True if the peer of *role* handles the method."""
    return type_.side in _SIDES[_PEERS[role]]


HEAD = re.compile(
    rb"""
    \s* \{
    (?: \s* (?: (?P<marked> "jsonrpc" \s*:\s* "2\.0" )
              | "id"      \s*:\s* (?P<id> 0 | -?[1-9]\d* | "[\x20!#-\[\]-~]*" | null )
              | "method"  \s*:\s* "(?P<method> [!#-\[\]-~]* )" )
        \s* , ){1,3}
    \s* "(?: params | (?P<outcome> result | error ) )" \s* :
    """.replace(rb"\s", rb"[\x20\t\r\n]"),  # which is all the white space that JSON has
    re.VERBOSE,
)
"""The beginning of a line with only fields of JSON-RPC before `params`, `result` or `error`, in any order.

Three at most: matching takes memory for each, and a line may have millions.
"""

_UPDATE = re.compile(rb'\{"sessionId":"([!#-\[\]-~]{1,100})","update":')
"""The beginning of the params of `session/update`, before the update."""

_BRACE = b"}"[0]


def value_after(line: bytes, head: int) -> bytes:
    """Return the part of *line* between its first *head* bytes and the final brace; empty if there is none."""
    if line[-1] == _BRACE:
        return line[head:-1]
    brace = line.rfind(b"}")
    return b"" if line[brace + 1 :].strip(b" \t\r\n") else line[head:brace]


Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

CANCEL = "$/cancel_request"

_NO_BATCHES = (
    "batches are not supported (the v2 draft allows them, but the SDKs reject them); send each message on its own line"
)
_SMALL_ID = 15
"""Digits up to which an integer is a valid id in every protocol."""


class Sent(NamedTuple, Generic[Result_co]):
    """A request to send, with its id. Type checkers also know the type of the result."""

    id: Id
    line: bytes

    def __repr__(self) -> str:
        """Return a text without the line, which may contain secrets."""
        return f"Sent(id={self.id!r}, line=…)"

    def result_in(self, response: Response) -> Result_co:
        """Return the result in the *response* to this request, with its type for type checkers.

        Raises:
            ValueError: *response* belongs to another request.
        """
        if response.id != self.id:
            raise ValueError(f"expected the response to {self.id!r}, not to {response.id!r}")
        result: Result_co = response.result
        return result


class Codec:
    """One end of a connection: it reads the lines of the peer, writes ours, and keeps track of our open requests.

    The lines that it writes end with a newline. Use one codec for each connection. It is not thread-safe.
    """

    def __init__(
        self, protocol: ProtocolPackage, *, role: Role, pass_unknown: bool = False, findings: bool = False
    ) -> None:
        """Create a codec.

        Args:
            protocol: `v1`, `v1_unstable`, `v2` or `v2_unstable`; or `setup.OPENING` until a version is negotiated.
            role: our role.
            pass_unknown: treat unknown methods as extensions. Proxies need this if they are older than the two sides
                that they connect.
            findings: fill the `findings` of messages. This takes some time for each line. Lines with text that is not
                Unicode are refused instead of mended.

        Raises:
            TypeError: *protocol* is not a protocol package.
            ValueError: *role* is unknown.
        """
        if role not in get_args(Role):
            raise ValueError(f"role must be {' or '.join(get_args(Role))}, not {role!r}")
        self.protocol = protocol
        self.role: Role = role
        self.pass_unknown = pass_unknown
        self.findings = findings
        self._open: dict[Id, tuple[str, RequestType | None]] = {}
        self._next_id = 0

    @property
    def protocol(self) -> ProtocolPackage:
        """The package by which lines are read and written. Set it when `initialize` has negotiated another version."""
        return self._protocol

    @protocol.setter
    def protocol(self, protocol: ProtocolPackage) -> None:
        if not hasattr(protocol, "METHODS"):
            expected = "a package such as acp_bindings.v1, or setup.OPENING before the handshake"
            raise TypeError(f"protocol must be {expected}, not {type(protocol).__name__}")
        self._protocol = protocol
        self._last_head: tuple[bytes, NotificationType, Validate] | None = None
        self._last_update: tuple[bytes, str, Validate] | None = None
        # The beginning of each notification, by the class of its params.
        self._starts: dict[type, bytes] = {}

    @property
    def pending(self) -> Mapping[Id, str]:
        """The methods of our open requests, by id."""
        return MappingProxyType({id_: method for id_, (method, _) in self._open.items()})

    def read(self, line: str | bytes | bytearray) -> Message:
        """Return the message in one *line* of the peer, with or without its newline.

        Invalid input does not raise. An empty line is a `BadLine` without a reply.

        Raises:
            TypeError: *line* is not a string or bytes, for example parsed JSON.
        """
        if type(line) is not bytes:
            try:
                line = line.encode(errors="surrogatepass") if isinstance(line, str) else bytes(memoryview(line))
            except TypeError:
                raise TypeError(f"a line must be str or bytes, not {type(line).__name__}") from None
        if (last := self._last_head) and line.startswith(last[0]) and not self.findings:
            head, type_, validate = last
            try:
                text = line[len(head) : -1] if line[-1] == _BRACE else value_after(line, len(head))
                odd, incomplete = notes
                params = validate(text)
                if notes[0] is not odd:
                    look_again(text, params, incomplete)
                return Notification(type_.method, params, type_)
            except ValueError:
                pass  # `_read_closely` finds the error
        if not self.findings and (message := self._read_quickly(line)):
            return message
        return self._read_closely(line)

    def read_update(self, line: bytes, *, sessions: Container[str]) -> tuple[str, Any] | None:
        """Return the session and the update in *line*, without the params and the message around them.

        Most lines to a client are updates of one session.

        Args:
            line: a line of the peer, without its newline.
            sessions: the sessions whose updates are read.

        Returns:
            None for a line that `read` has to read: it is not an update of one of the *sessions*, it is invalid, or it
            does not begin like the last notification that `read` has read.
        """
        last = self._last_update
        if last is None or not line.startswith(last[0]):
            last = self._begin_of_update(line)
        if last is None or last[1] not in sessions or self.findings or not line.endswith(b"}}"):
            return None
        head, session_id, validate = last
        try:
            return session_id, read_text(validate, line[len(head) : -2])
        except ValueError:
            return None  # also if something follows the update

    def _begin_of_update(self, line: bytes) -> tuple[bytes, str, Validate] | None:
        """Return how updates of the session of *line* begin, its id, and the validator of updates."""
        head, type_, _ = self._last_head or (b"", None, None)
        # The types of updates depend on the version, which may not be negotiated yet.
        update: Any = getattr(self._protocol, "SessionUpdate", None)
        if update is None or type_ is None or type_.method != "session/update" or not line.startswith(head):
            return None
        if (found := _UPDATE.match(line, len(head))) is None:
            return None
        self._last_update = line[: found.end()], found[1].decode(), validate_of(update)
        return self._last_update

    @overload
    def request(
        self,
        params: Asks[Result],
        *,
        method: None = None,
        id: Id | EllipsisType = ...,
    ) -> Sent[Result]: ...
    @overload
    def request(self, params: Any = None, *, method: str, id: Id | EllipsisType = ...) -> Sent[Any]: ...
    def request(
        self,
        params: Any = None,
        *,
        method: str | None = None,
        id: Id | EllipsisType = ...,  # noqa: A002
    ) -> Sent[Any]:
        """Return a request to the peer. It is open until `read` returns its response.

        Args:
            params: an object of the protocol, whose class determines the method. For an extension method, a JSON object
                or list, or None to send no params.
            method: the method, if it is an extension, of a newer protocol, or shares its params with another, such as
                `proxy/initialize`.
            id: the id; by default the next free integer.

        Raises:
            TypeError: *params* do not belong to a method, or not to *method*.
            ValueError: the peer does not handle the method, or a request with this id is open.
            DecodeError: the protocol does not allow such an *id*.
            EncodeError: *params* cannot be sent.
        """
        name, type_ = self._outgoing(params, method, asks=True)
        chosen: Id = self._free_id() if isinstance(id, EllipsisType) else decode(self.protocol.RequestId, encode(id))
        if chosen in self._open:
            raise ValueError(f"a request with the id {chosen!r} is open already")
        line = line_of({"id": chosen, "method": name}, "params", params)
        self._open[chosen] = name, cast("RequestType | None", type_)
        return Sent(chosen, line)

    def expect(self, method: str, id: Id) -> None:  # noqa: A002
        """Register an open request that this codec did not write, so that `read` knows the type of its result.

        Observers with a codec for each side of a connection need this, and programs that take over a connection.

        Args:
            method: its method. The result of an unknown method may be any JSON.
            id: its id. This replaces an open request with the same id.
        """
        known = self._protocol.METHODS.get(method)
        self._open[id] = method, known.request if known else None

    @overload
    def notify(self, params: NotificationParams, *, method: None = None) -> bytes: ...
    @overload
    def notify(self, params: object = None, *, method: str) -> bytes: ...
    def notify(self, params: object = None, *, method: str | None = None) -> bytes:
        """Return the line of a notification. Arguments and errors are those of `request`."""
        start = self._starts.get(type(params)) if method is None else None
        if start is None:
            name, _ = self._outgoing(params, method, asks=False)
            if method is not None:
                return notification_line(name, params)
            start = self._starts[type(params)] = start_of_notification(name)
        return start + encode(params) + b"}\n"

    def cancel(self, id: Id) -> bytes:  # noqa: A002
        """Return the line that cancels our request *id*. The request stays open, because the peer still responds to it.

        Raises:
            ValueError: no request with this id is open.
        """
        if id not in self._open:
            raise ValueError(f"no request with the id {id!r} is open")
        return notification_line(CANCEL, {"requestId": id})

    def forget(self, id: Id) -> str:  # noqa: A002
        """Stop waiting for the response to our request *id*. A late response is a `BadLine` without a reply.

        The codec does not reuse ids that it chose.

        Returns:
            The method of the request.

        Raises:
            ValueError: no request with this id is open.
        """
        if id not in self._open:
            raise ValueError(f"no request with the id {id!r} is open")
        return self._open.pop(id)[0]

    def respond(self, request: Request, result: Any) -> bytes:
        """Return the line of the response to *request*.

        Args:
            request: a request that `read` returned.
            result: an object of the method's type; for an extension method, any JSON value.

        Raises:
            TypeError: *result* is not of the method's type.
            EncodeError: *result* cannot be sent.
        """
        if request.type and not is_of(result, request.type.result):
            wanted = request.type.result_name
            raise TypeError(f"the result of {request.method} must be {wanted}, not {kind_of(result)}")
        return line_of({"id": request.id}, "result", result)

    @overload
    def fail(self, request: Request, error: int, message: str, *, data: Any = None) -> bytes: ...
    @overload
    def fail(self, request: Request, error: BaseModel) -> bytes: ...
    def fail(self, request: Request, error: Any, message: str | None = None, *, data: Any = None) -> bytes:
        """Return the line of an error response to *request*.

        Args:
            request: a request that `read` returned.
            error: the code; or an `Error` of the package, for example to forward the response of another peer.
            message: a description of the error, in one sentence.
            data: any JSON value with details.

        Raises:
            pydantic.ValidationError: the protocol does not allow such a code or message.
            EncodeError: *data* cannot be sent.
        """
        if not is_of(error, self.protocol.Error):
            made = self.protocol.Error(code=error, message=message)
            # Some data have their own type in the schema, which `decode` creates.
            said = {"code": error, "message": message, "data": data}
            error = made if data is None else decode(self.protocol.Error, encode(said))
        return line_of({"id": request.id}, "error", error)

    def _read_quickly(self, line: bytes) -> Message | None:
        """Return the message in a *line* of the usual form, otherwise None."""
        try:
            if (found := HEAD.match(line)) and found["marked"]:
                return self._read_result(line, found) if found["outcome"] else self._read_known_call(line, found)
        except ValueError:
            pass
        return None

    def _read_known_call(self, line: bytes, head: re.Match[bytes]) -> Message | None:
        id_, name = head["id"], head["method"]
        known = self._protocol.METHODS.get(name.decode()) if name else None
        type_ = (known.request if id_ else known.notification) if known else None
        if type_ is None or not handles(self.role, type_):
            return None
        validate = validate_of(type_.params)
        params = read_text(validate, value_after(line, head.end()))
        if isinstance(type_, RequestType):
            # Every protocol has small integers, and most peers no other ids.
            small = id_.isdigit() and len(id_) <= _SMALL_ID
            return Request(int(id_) if small else decode(self._protocol.RequestId, id_), type_.method, params, type_)
        self._last_head = head[0], type_, validate
        return Notification(type_.method, params, type_)

    def _read_result(self, line: bytes, head: re.Match[bytes]) -> Message | None:
        id_: Id = from_json(head["id"]) if head["id"] else None
        method, type_ = self._open.get(id_, (None, None))
        if method is None or type_ is None or head["method"] is not None or head["outcome"] != b"result":
            return None
        result = read_text(validate_of(type_.result), value_after(line, head.end()))
        del self._open[id_]
        return Response(id_, method, result)

    def _read_closely(self, line: bytes) -> Message:
        """Return the message in a *line* of any form. Text that is not Unicode is replaced."""
        complaint = ""
        # With findings, such text is reported as an error.
        for text in chain([line], () if self.findings else mendings(line)):
            try:
                value: object = from_json(text)
                look_again(text, value, notes[1])
            except ValueError as error:
                complaint = complaint or str(error)
            else:
                return self._read_value(value)
        return self._unreadable(line, complaint)

    def _unreadable(self, line: bytes, complaint: str) -> Message:
        """Return the message for a *line* that is not JSON, given the *complaint* of the parser."""
        if not line.strip():
            return BadLine(PARSE_ERROR, "The line is empty", None)
        from acp_bindings._problems.mistakes import hint_about  # noqa: PLC0415 - only errors need it

        told = complaint + hint_about(line, complaint)
        # A truncated line has an id too, but its writer has died, which ends the connection. With findings, a rule of
        # `check` reports the line.
        if not self.findings and (found := HEAD.match(line)) and found["outcome"] and line.rstrip().endswith(b"}"):
            # An integer may be too long.
            id_: Any = parsed_members(b'{"id":%b}' % (found["id"] or b"")).get("id", ...)
            if found["method"] is None and self._is_open(id_):
                return BadResponse(id_, self._open.pop(id_)[0], f"it is not JSON: {told}")
        return refuse(None, PARSE_ERROR, f"Parse error: {told}")

    def _read_value(self, value: object) -> Message:
        """Return the message in a line with the JSON *value*."""
        if isinstance(value, list):
            return refuse(None, INVALID_REQUEST, f"Invalid request: {_NO_BATCHES}")
        if not isinstance(value, dict):
            return refuse(None, INVALID_REQUEST, "Invalid request: a message must be an object")
        members = cast("dict[str, Any]", value)
        if "method" not in members and self._is_answer(members):
            return self._read_response(members)
        return self._read_call(members)

    def _read_call(self, message: dict[str, Any]) -> Message:
        """Return the request or notification in *message*, or a `BadLine`."""
        asks, id_ = "id" in message, message.get("id")
        if asks and not self._is_id(id_):
            return refuse(None, INVALID_REQUEST, "Invalid request: the id must be an integer or a string")
        if wrong := version_fault(message) or call_fault(message):
            return refuse(id_, INVALID_REQUEST, f"Invalid request: {wrong}")
        name: str = message["method"]
        params: Any = message.get("params")
        findings: tuple[Finding, ...] = ()
        try:
            type_ = self._incoming(name, asks=asks)
            if type_:
                params, findings = self._typed(type_.params, {} if params is None else params)
        except _NotFoundError as error:
            return refuse(id_, METHOD_NOT_FOUND, f"Method not found{error}", name, answer=asks)
        except DecodeError as error:
            told = "Invalid params" if "params" in message else "Invalid params: they are missing"
            return refuse(id_, INVALID_PARAMS, told, name, error.issues, answer=asks)
        if asks:
            return Request(id_, name, params, cast("RequestType | None", type_), findings)
        return Notification(name, params, type_, findings)

    def _incoming(self, name: str, *, asks: bool) -> RequestType | NotificationType | None:
        """Return the method that the peer calls; None for an extension.

        Raises:
            _NotFoundError: we do not handle this method. The text may give the reason.
        """
        known = self.protocol.METHODS.get(name)
        if known is None:
            if name.startswith("_") or self.pass_unknown:
                return None
            raise _NotFoundError
        type_ = known.request if asks else known.notification
        if type_ is None:
            raise _NotFoundError(f": {name} is a {'notification, and has no id' if asks else 'request, and has an id'}")
        if not handles(self.role, type_):
            raise _NotFoundError(f": {name} is handled by the {type_.side}, not by the {self.role}")
        return type_

    def _is_answer(self, message: dict[str, Any]) -> bool:
        """Return True if a message without a method is a response, and not a request that lacks the method."""
        if message.keys() & {"result", "error"}:
            return True
        # JavaScript omits a result that is undefined, so only the id remains. An error in reply to it would look like
        # the response to a request of the peer.
        is_alone = message.keys() == {"jsonrpc", "id"}
        return "params" not in message and (is_alone or self._is_open(message.get("id", ...)))

    def _read_response(self, message: dict[str, Any]) -> Message:
        """Return the response to our request, or the error of a peer that could not read our line."""
        id_: Any = message.get("id")
        error = message.get("error")
        if self._is_open(id_):
            method, type_ = self._open.pop(id_)
            return self._read_answer(id_, method, type_, message)
        if id_ is None and error is not None:
            try:
                return ErrorResponse(None, None, decode(self.protocol.Error, to_json(error)))
            except DecodeError:
                pass
        issues = issues_with_id(id_, self._open)
        return BadLine(INVALID_REQUEST, "It matches no open request", None, issues=issues)

    def _is_open(self, id_: object) -> bool:
        """Return True if we have an open request with this id."""
        return isinstance(id_, int | str | None) and not isinstance(id_, bool) and id_ in self._open

    def _read_answer(self, id_: Id, method: str, type_: RequestType | None, message: dict[str, Any]) -> Message:
        error, result = message.get("error"), message.get("result")
        if wrong := version_fault(message) or outcome_fault(message):
            return BadResponse(id_, method, wrong)
        try:
            if error is not None:
                return ErrorResponse(id_, method, decode(self.protocol.Error, to_json(error)))
            return Response(id_, method, *self._typed(type_.result if type_ else Any, result))
        except DecodeError as refusal:
            what = "result" if error is None else "error"
            said = members_of(error).get("message")
            quoted = f' ("{one_line(said)}")' if isinstance(said, str) else ""
            return BadResponse(id_, method, f"its {what} is not a valid {refusal.type_name}{quoted}", refusal.issues)

    def _typed(self, type_: Any, value: object) -> tuple[Any, tuple[Finding, ...]]:
        findings: list[Finding] | None = [] if self.findings else None
        # `decode` would parse a string in it again.
        return decode(type_, to_json(value), findings=findings), tuple(findings or ())

    def _is_id(self, value: object) -> bool:
        try:
            decode(self.protocol.RequestId, to_json(value))
        except DecodeError:
            return False
        return True

    def _free_id(self) -> int:
        while self._next_id in self._open:
            self._next_id += 1
        self._next_id += 1
        return self._next_id - 1

    def _outgoing(
        self, params: object, method: str | None, *, asks: bool
    ) -> tuple[str, RequestType | NotificationType | None]:
        """Return the name of the method for *params*, and its entry in `METHODS` if there is one."""
        methods = self.protocol.METHODS
        if method is None:
            type_ = methods.request_with(params) if asks else methods.notification_with(params)
            if type_ is None:
                from acp_bindings._problems.mistakes import no_method_with  # noqa: PLC0415 - only errors need it

                raise TypeError(no_method_with(params, self.protocol, asks=asks))
        elif known := methods.get(method):
            type_ = known.request if asks else known.notification
            if type_ is None:
                raise TypeError(f"{method} is not a {'request' if asks else 'notification'}")
            if not is_of(params, type_.params):
                raise TypeError(f"the params of {method} must be {type_.params_name}, not {kind_of(params)}")
        else:
            return method, None
        if not sends(self.role, type_):
            raise ValueError(f"{type_.method} is for the {type_.side}; the {self.role} does not send it")
        return type_.method, type_


class _NotFoundError(Exception):
    """The peer called a method that we do not handle."""

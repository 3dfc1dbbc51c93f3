"""JSON-RPC without I/O: lines in, typed messages out, and back, for either side of a connection.

    codec = Codec(v1, role="agent")
    match codec.read(line):
        case Request(params=v1.NewSessionRequest()) as request:
            send(codec.respond(request, v1.NewSessionResponse(session_id="sess_1")))
        case BadLine(reply=bytes(reply)):
            send(reply)

The type of a line is found by its method or, of a response, by the id of our request, never guessed from its members.
Nothing that a peer sends raises: a line that cannot be used is a `BadLine` with the answer that is due, and the next
one is read as if nothing had happened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
from acp_bindings._json import kind_of, may_be_out_of_range, refuse_infinite, refuse_read_names
from acp_bindings._models.base import Told
from acp_bindings._models.reading import notes
from acp_bindings._models.validators import Validate, validate_of
from acp_bindings.decoding import decode, look_again, read_text
from acp_bindings.encoding import encode
from acp_bindings.errors import DecodeError, Finding
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
"""Who we are on a connection. A conductor is what the proxies of a chain talk to."""

_PEERS: dict[Role, Role] = {"agent": "client", "client": "agent", "proxy": "conductor", "conductor": "proxy"}

_SIDES = {
    "agent": {"agent", "both", "protocol"},
    "client": {"client", "both", "protocol"},
    "proxy": {"agent", "proxy", "both", "protocol"},
    "conductor": {"client", "proxy", "both", "protocol"},
}
"""The sides (`x-side`) whose methods each role handles."""


def handles(role: Role, type_: NotificationType) -> bool:
    """Whether a method is for *role* to handle."""
    return type_.side in _SIDES[role]


def sends(role: Role, type_: NotificationType) -> bool:
    """Whether a method is for the peer of *role* to handle."""
    return type_.side in _SIDES[_PEERS[role]]


HEAD = re.compile(
    rb"""
    \s* \{
    (?: \s* (?: (?P<marked> "jsonrpc" \s*:\s* "2\.0" )
              | "id"      \s*:\s* (?P<id> 0 | -?[1-9]\d* | "[\x20!#-\[\]-~]*" | null )
              | "method"  \s*:\s* "(?P<method> [!#-\[\]-~]* )" )
        \s* , ){1,3}
    \s* "(?: params | (?P<result> result ) )" \s* :
    """.replace(rb"\s", rb"[\x20\t\r\n]"),  # which is all the white space that JSON has
    re.VERBOSE,
)
"""What a line begins with when the members before `params` or `result` are those of JSON-RPC, in any order.

Three at most: matching takes memory for each, and a line may have millions.
"""

LONGEST_HEAD = 200
"""How far into a line its head may go, to be remembered."""

_BRACE = b"}"[0]


def value_after(line: bytes, head: int) -> bytes:
    """What stands in *line* between its first *head* bytes and the brace at its end; nothing where that is missing."""
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
    """A request to be sent, and the id that its response will have; type checkers also know the type of the result."""

    id: Id
    line: bytes

    def __repr__(self) -> str:
        """Without the line, which may hold secrets."""
        return f"Sent(id={self.id!r}, line=…)"

    def result_in(self, response: Response) -> Result_co:
        """The result in the *response* to this request, as what it is: `response.result` is anything.

        Raises:
            ValueError: it is the response to another request.
        """
        if response.id != self.id:
            raise ValueError(f"expected the response to {self.id!r}, not to {response.id!r}")
        result: Result_co = response.result
        return result


class Codec:
    """One end of a connection: reads the peer's lines, writes ours, and knows which requests of ours are open.

    Lines that it writes end with a newline. It is for one connection, and not safe with threads.
    """

    def __init__(
        self, protocol: ProtocolPackage, *, role: Role, pass_unknown: bool = False, findings: bool = False
    ) -> None:
        """A codec that has sent nothing yet.

        Args:
            protocol: `v1`, `v1_unstable`, `v2` or `v2_unstable`; or `setup.OPENING` until one is settled on.
            role: who we are.
            pass_unknown: read methods that the protocol does not have as if they were extensions: for proxies, which
                may be older than the two sides that they connect.
            findings: fill the `findings` of messages, which takes some time for each line.

        Raises:
            TypeError: *protocol* is no protocol package.
            ValueError: there is no such *role*.
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
        """The package by which lines are read and written. Set it when `initialize` has settled on another."""
        return self._protocol

    @protocol.setter
    def protocol(self, protocol: ProtocolPackage) -> None:
        if not hasattr(protocol, "METHODS"):
            expected = "a package such as acp_bindings.v1, or setup.OPENING before the handshake"
            raise TypeError(f"protocol must be {expected}, not {type(protocol).__name__}")
        self._protocol = protocol
        self._last_head: tuple[bytes, NotificationType, Validate] | None = None
        # What a notification begins with, by the class of its params.
        self._starts: dict[type, bytes] = {}

    @property
    def pending(self) -> Mapping[Id, str]:
        """The requests of ours that have no response yet: id to method."""
        return MappingProxyType({id_: method for id_, (method, _) in self._open.items()})

    def read(self, line: str | bytes | bytearray) -> Message:
        """The message in one *line* of the peer, with or without its newline.

        Nothing that the peer sends raises. An empty line is a `BadLine` without a reply.

        Raises:
            TypeError: *line* is neither text nor bytes, but JSON that is parsed already, say.
        """
        if type(line) is not bytes:
            try:
                line = line.encode() if isinstance(line, str) else bytes(memoryview(line))
            except ValueError as error:
                return refuse(None, PARSE_ERROR, f"Parse error: {error}")
            except TypeError:
                raise TypeError(f"a line must be str or bytes, not {type(line).__name__}") from None
        if (last := self._last_head) and line.startswith(last[0]) and not self.findings:
            head, type_, validate = last
            try:
                text = value_after(line, len(head))
                odd, incomplete = notes
                params = validate(text)
                if notes[0] is not odd:
                    look_again(text, params, incomplete)
                return Notification(type_.method, params, type_)
            except ValueError:
                pass  # What is wrong is found out below.
        if not self.findings and (message := self._read_quickly(line)):
            return message
        return self._read_closely(line)

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
        """A request to the peer, which is open from now on until `read` has the response to it.

        Args:
            params: an object of the protocol, which tells the method; for an extension method a JSON object or list, or
                None for none.
            method: an extension method, one of a newer protocol, or one whose params another has too, such as
                `proxy/initialize`.
            id: an id of your choice; without it the next free integer.

        Raises:
            TypeError: *params* belong to no method, or not to *method*.
            ValueError: the method is not for the peer to handle, or a request with this id is open.
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
        """Treat a request as open that this codec did not write, so that `read` knows the type of its result.

        This is for onlookers, who have a codec for each side of a connection, and for taking over a connection.

        Args:
            method: its method; of one that the protocol does not have the result may be any JSON.
            id: its id. An open request with the same id is forgotten.
        """
        known = self._protocol.METHODS.get(method)
        self._open[id] = method, known.request if known else None

    @overload
    def notify(self, params: Told, *, method: None = None) -> bytes: ...
    @overload
    def notify(self, params: object = None, *, method: str) -> bytes: ...
    def notify(self, params: object = None, *, method: str | None = None) -> bytes:
        """The line of a notification to the peer. Arguments and errors are those of `request`."""
        start = self._starts.get(type(params)) if method is None else None
        if start is None:
            name, _ = self._outgoing(params, method, asks=False)
            if method is not None:
                return notification_line(name, params)
            start = self._starts[type(params)] = start_of_notification(name)
        return start + encode(params) + b"}\n"

    def cancel(self, id: Id) -> bytes:  # noqa: A002
        """The line that asks the peer to give up our request *id*, which stays open: the peer still answers it.

        Raises:
            ValueError: no request with this id is open.
        """
        if id not in self._open:
            raise ValueError(f"no request with the id {id!r} is open")
        return notification_line(CANCEL, {"requestId": id})

    def forget(self, id: Id) -> str:  # noqa: A002
        """Wait no longer for the response to our request *id*. One that still comes is a `BadLine` without a reply.

        Ids that the codec chose are not used again.

        Returns:
            The method of the request.

        Raises:
            ValueError: no request with this id is open.
        """
        if id not in self._open:
            raise ValueError(f"no request with the id {id!r} is open")
        return self._open.pop(id)[0]

    def respond(self, request: Request, result: Any) -> bytes:
        """The line that answers *request*.

        Args:
            request: what `read` gave.
            result: an object of the method's type; to an extension method any JSON value.

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
        """The line that answers *request* with an error.

        Args:
            request: what `read` gave.
            error: its code; or the package's `Error`, such as the answer of another peer that is passed on.
            message: what went wrong, in a sentence.
            data: any JSON value that says more, None for none.

        Raises:
            pydantic.ValidationError: the protocol does not allow such a code or message.
            EncodeError: *data* cannot be sent.
        """
        if not is_of(error, self.protocol.Error):
            made = self.protocol.Error(code=error, message=message)
            # Some data have a type of their own in the schema: reading makes them objects of it.
            said = {"code": error, "message": message, "data": data}
            error = made if data is None else decode(self.protocol.Error, encode(said))
        return line_of({"id": request.id}, "error", error)

    def _read_quickly(self, line: bytes) -> Message | None:
        """The message in a *line* of the usual form; None where that takes a closer look."""
        try:
            if (found := HEAD.match(line)) and found["marked"]:
                return self._read_result(line, found) if found["result"] else self._read_known_call(line, found)
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
        if head.end() <= LONGEST_HEAD:
            self._last_head = head[0], type_, validate
        return Notification(type_.method, params, type_)

    def _read_result(self, line: bytes, head: re.Match[bytes]) -> Message | None:
        id_: Id = from_json(head["id"]) if head["id"] else None
        method, type_ = self._open.get(id_, (None, None))
        if method is None or type_ is None or head["method"] is not None:
            return None
        result = read_text(validate_of(type_.result), value_after(line, head.end()))
        del self._open[id_]
        return Response(id_, method, result)

    def _read_closely(self, line: bytes) -> Message:
        """The message in a *line* of any form."""
        try:
            refuse_read_names(line)
            value: object = from_json(line)
            if may_be_out_of_range(line):
                refuse_infinite(value)
        except ValueError as error:
            if not line.strip():
                return BadLine(PARSE_ERROR, "The line is empty", None)
            from acp_bindings._problems.mistakes import hint_about  # noqa: PLC0415 - only errors need it

            hint = hint_about(line, str(error))
            return refuse(None, PARSE_ERROR, f"Parse error: {error}{hint}")
        return self._read_value(value)

    def _read_value(self, value: object) -> Message:
        """The message in a line whose JSON is *value*."""
        if isinstance(value, list):
            return refuse(None, INVALID_REQUEST, f"Invalid request: {_NO_BATCHES}")
        if not isinstance(value, dict):
            return refuse(None, INVALID_REQUEST, "Invalid request: a message must be an object")
        members = cast("dict[str, Any]", value)
        if "method" not in members and self._is_answer(members):
            return self._read_response(members)
        return self._read_call(members)

    def _read_call(self, message: dict[str, Any]) -> Message:
        """A request or a notification, or neither."""
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
        """The method that the peer calls, None for an extension.

        Raises:
            _NotFoundError: there is none for us of this name; the text says more, where there is more to say.
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
        """Whether a message without a method is meant as a response, rather than as a request that lacks it."""
        if message.keys() & {"result", "error"}:
            return True
        # So is an id alone, also a late one: JavaScript leaves out a result that is undefined. An error in reply to it
        # would pass for the response to a request of the peer's own.
        is_alone = message.keys() == {"jsonrpc", "id"}
        return "params" not in message and (is_alone or self._is_open(message.get("id", ...)))

    def _read_response(self, message: dict[str, Any]) -> Message:
        """The response to a request of ours, or the error that the peer could not read a line of ours."""
        id_: Any = message.get("id")
        error = message.get("error")
        if self._is_open(id_):
            method, type_ = self._open.pop(id_)
            return self._read_answer(id_, method, type_, message)
        if id_ is None and error is not None:
            try:
                return ErrorResponse(None, None, _typed(self.protocol.Error, error))
            except DecodeError:
                pass
        issues = issues_with_id(id_, self._open)
        return BadLine(INVALID_REQUEST, "It matches no open request", None, issues=issues)

    def _is_open(self, id_: object) -> bool:
        """Whether a request of ours with this id has no answer yet."""
        return isinstance(id_, int | str | None) and not isinstance(id_, bool) and id_ in self._open

    def _read_answer(self, id_: Id, method: str, type_: RequestType | None, message: dict[str, Any]) -> Message:
        error, result = message.get("error"), message.get("result")
        if wrong := version_fault(message) or outcome_fault(message):
            return BadResponse(id_, method, wrong)
        try:
            if error is not None:
                return ErrorResponse(id_, method, _typed(self.protocol.Error, error))
            return Response(id_, method, *self._typed(type_.result if type_ else Any, result))
        except DecodeError as refusal:
            what = "result" if error is None else "error"
            return BadResponse(id_, method, f"its {what} is not a valid {refusal.type_name}", refusal.issues)

    def _typed(self, type_: Any, value: object) -> tuple[Any, tuple[Finding, ...]]:
        findings: list[Finding] | None = [] if self.findings else None
        return _typed(type_, value, findings), tuple(findings or ())

    def _is_id(self, value: object) -> bool:
        try:
            _typed(self.protocol.RequestId, value)
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
        """The method to send *params* with: its name, and its entry in `METHODS` if it has one."""
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
    """The peer calls a method that we do not handle."""


def _typed(type_: Any, value: object, findings: list[Finding] | None = None) -> Any:
    """*value*, which is parsed JSON, as *type_*. `decode` alone would parse a text once more."""
    return decode(type_, to_json(value), findings=findings)

"""The handlers of a connection: one for each method."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction, signature
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Protocol,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    overload,
)

from acp_bindings._json import package_of
from acp_bindings.connection.errors import log
from acp_bindings.jsonrpc import CANCEL
from acp_bindings.messages import Notification, Request
from acp_bindings.methods import Methods, NotificationType

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from acp_bindings.jsonrpc import Role
    from acp_bindings.setup.capabilities import Side


P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

# The second parameter is a `Connection`, which is defined above this module.
Handle: TypeAlias = Callable[[P, Any], Any]
"""A handler: takes the params and the `Connection` that they came on, and returns the result or an awaitable of it."""

Answering: TypeAlias = "Callable[[P, Any], R | Awaitable[R]]"
"""A handler with a result type, for type checkers."""


class Exchange(Protocol[P_co, R_co]):
    """The class of a request, for type checkers: the types of its params and its result."""

    def __exchange__(self) -> tuple[P_co, R_co]: ...


class EmptyExchange(Exchange[P_co, R_co], Protocol[P_co, R_co]):
    """A request whose result has no required fields, so its handler may return None. For mypy this is every request."""

    def __answer_type__(self) -> Callable[[], R_co]: ...


@dataclass(frozen=True, slots=True)
class Handler:
    """A handler and how it runs."""

    handle: Handle[Any]
    waits: bool
    """True if it is an `async def`."""
    exclusive: bool
    """True if no line is read before it ends."""


class Handlers:
    """The handlers of a connection, by the class of their params or by method.

        handlers = Handlers()

        @handlers.on(v1.NewSessionRequest)
        async def new_session(request: v1.NewSessionRequest, connection: Connection) -> v1.NewSessionResponse: ...

        @handlers.on("_acme/do")
        async def do(params: Any, connection: Connection) -> Any: ...

    Handlers of several protocol versions can be registered together. The negotiated version decides which are called.
    """

    _own: ClassVar[frozenset[str]] = frozenset()
    """Methods that the class handles itself and `on` refuses."""

    _role: ClassVar[Role | None] = None
    """The role of the connections; None if it is not known before there is one."""

    def __init__(self, handlers: Mapping[Any, Handle[Any]] | None = None) -> None:
        """Register *handlers*, a mapping by class of params or by method.

        Raises:
            TypeError: no method has params of a class, or a handler cannot be called with two arguments.
        """
        self._by_type: dict[NotificationType, Handler] = {}
        self._by_method: dict[str, Handler] = {}
        self.live: dict[str, Callable[[Any], object]] = {}
        """Called with the updates of these sessions, by id, in place of the handler of `session/update`."""
        self._otherwise: Handler | None = None
        self._warned: set[str] = set()
        """The methods for which a warning was logged, because their handlers are for other packages."""
        if handlers is not None and not isinstance(handlers, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"handlers must be a mapping of classes or methods to handlers, not {_name_of(handlers)}")
        for calls, handle in (handlers or {}).items():
            register: Callable[[Handle[Any]], object] = self.on(calls)
            register(handle)

    @overload
    def on(
        self, calls: EmptyExchange[P, R], *, exclusive: bool = False
    ) -> Callable[[Answering[P, R | None]], Handle[P]]: ...
    @overload
    def on(self, calls: Exchange[P, R], *, exclusive: bool = False) -> Callable[[Answering[P, R]], Handle[P]]: ...
    @overload
    def on(self, calls: type[P], *, exclusive: bool = False) -> Callable[[Handle[P]], Handle[P]]: ...
    @overload
    def on(self, calls: str, *, exclusive: bool = False) -> Callable[[Handle[Any]], Handle[Any]]: ...
    @overload
    def on(self, calls: TypeForm[P], *, exclusive: bool = False) -> Callable[[Handle[P]], Handle[P]]: ...
    def on(self, calls: Any, *, exclusive: bool = False) -> Callable[[Handle[Any]], Handle[Any]]:
        """Return a decorator that registers the handler of a method.

        A handler may be an `async def`; a plain function must return quickly. Handlers of requests run concurrently.
        Handlers of notifications run one at a time, in the order of arrival. The handler of a request returns the
        result (None for an empty one), or raises a `RequestError` (`acp_bindings.setup`), which is sent to the peer.
        Any other exception is logged and answered as an internal error without details.

        Args:
            calls: the class of the params, or the union if they are one; or the name of the method. If both are
                registered, the name takes precedence. Extension methods (`_…`) require the name, and their params are
                plain JSON.
            exclusive: do not read any line before the handler ends, for requests that decide how to read the next line.
                Such a handler cannot send requests. The handler of `initialize` is always exclusive.

        Raises:
            TypeError: no method has params of this class, or only together with others; or the decorated function
                cannot be called with the params and the connection.
            ValueError: the decorated function is a second handler for this class or name, or handles
                `$/cancel_request`, which the connection handles, or `initialize`, which `AgentHandlers` handles.
                `AgentHandlers` also refuses methods that only clients receive, and classes of a protocol package that
                its handshake does not have, although it has another one of that version.
        """

        def register(handle: Handle[Any]) -> Handle[Any]:
            _check_callable(handle)
            waits = _waits(handle)
            taken = (
                [calls] if calls in self._by_method else [each.params_name for each in types if each in self._by_type]
            )
            if taken:
                raise ValueError(f"{taken[0]} already has a handler")
            methods = {calls, *(type_.method for type_ in types)}
            if own := self._own & methods:
                raise ValueError(f"{min(own)} is handled by {type(self).__name__} itself")
            if CANCEL in methods:
                raise ValueError(f"{CANCEL} is handled by the connection, which cancels the handler of the request")
            self._check_types(types)
            if self._role is not None:
                check_role(methods, self._role)
            if isinstance(calls, str):
                self._by_method[calls] = Handler(handle, waits, exclusive or calls in _EXCLUSIVE)
            for type_ in types:
                self._by_type[type_] = Handler(handle, waits, exclusive or type_.method in _EXCLUSIVE)
            return handle

        types = () if isinstance(calls, str) else _types_of(calls)
        return register

    def otherwise(self, handle: Handle[Request | Notification]) -> Handle[Request | Notification]:
        """Decorate the handler of all methods that do not have their own.

        It is called with the whole message instead of its params. Its `method` may be an extension, a method of the
        protocol or, with `pass_unknown=True`, a method of a newer protocol. In all other respects it is like the
        handlers that `on` registers.

        Raises:
            TypeError: the handler cannot be called with a message and the connection.
            ValueError: there already is such a handler.
        """
        _check_callable(handle)
        if self._otherwise is not None:
            raise ValueError("there already is a handler for all other methods")
        self._otherwise = Handler(handle, _waits(handle), exclusive=False)
        return handle

    def _check_types(self, types: Iterable[NotificationType]) -> None:
        """Raise if the class cannot have handlers for these methods."""

    def handles(self, method: str) -> bool:
        """Return True if a handler would be called for *method*, in any version."""
        return self._otherwise is not None or method in self

    def __iter__(self) -> Iterator[str]:
        """Iterate over the methods that have their own handlers."""
        return iter({*self._by_method, *(type_.method for type_ in self._by_type)})

    def of(self, message: Request | Notification, connection: Any) -> Handler | None:  # noqa: ARG002
        """Return the handler of *message*, which has just arrived on *connection*; None if there is none."""
        handler = self._by_method.get(message.method) if self._by_method else None
        if handler is None and message.type is not None:
            handler = self._by_type.get(message.type)
        if handler is None:
            if message.type is not None and message.method not in self._warned:
                self._warn_of_other_packages(message.type)
            if other := self._otherwise:
                handle = other.handle
                return Handler(lambda _, on: handle(message, on), other.waits, message.method in _EXCLUSIVE)
        return handler

    def _warn_of_other_packages(self, read: NotificationType) -> None:
        """Log a warning if the method has a handler for another package than the negotiated one."""
        others = [type_ for type_ in self._by_type if type_.method == read.method and type(type_) is type(read)]
        if others:
            # One warning for each method; only methods with handlers are stored.
            self._warned.add(read.method)
            log.warning(
                "the handler of %s is not called: the message is decoded as %s, but the handler is for %s%s",
                read.method,
                _full_name(read),
                ", ".join(map(_full_name, others)),
                "" if package_name(read) else "; register it by the name of the method",
            )


_EXCLUSIVE = {"initialize"}
"""Methods that decide how to read the next line."""


def _waits(handle: object) -> bool:
    """Return True for an `async def`, or an object with an async `__call__`."""
    return iscoroutinefunction(handle) or iscoroutinefunction(getattr(handle, "__call__", None))  # noqa: B004


def _check_callable(handle: object) -> None:
    """Raise if *handle* cannot be called as a handler, so that the error does not wait for a message."""
    if not callable(handle):
        raise TypeError(f"a handler must be a function of the params and the connection, not {_name_of(handle)}")
    try:
        # The signature of the wrapper, which may differ from that of the wrapped function.
        parameters = _signature(handle, follow_wrapped=False)
    except ValueError:
        # Some functions written in C do not have a signature.
        return
    try:
        parameters.bind(None, None)
    except TypeError as error:
        raise TypeError(f"{_name_of(handle)} cannot be called with the params and the connection: {error}") from None


def check_role(methods: Iterable[str], role: Role) -> None:
    """Raise if only the peer of *role* receives one of the methods."""
    from acp_bindings.setup.capabilities import METHODS  # noqa: PLC0415 - not for connections without handlers

    if role not in ("agent", "client"):
        return
    peer: Side = "client" if role == "agent" else "agent"
    for method in methods:
        if method in METHODS[peer] and method not in METHODS[role]:
            advice = "send it with connection.request or connection.notify instead of registering a handler"
            raise ValueError(f"{role}s never receive {method}, only {peer}s do; {advice}")


if sys.version_info >= (3, 14):
    from annotationlib import Format

    # Annotations may use names that are imported only for type checkers.
    _signature = partial(signature, annotation_format=Format.STRING)
else:
    _signature = signature


def _types_of(params: object) -> tuple[NotificationType, ...]:
    """Return the methods whose params are of a class, or of the classes in a union."""
    classes = [*_classes_in(params)]
    types = {type_: None for each in classes for type_ in _types_with(each)}
    for type_ in types:
        if not {*_classes_in(type_.params)}.issubset(classes):
            raise TypeError(f"{type_.method} does not only take {classes[0].__name__}: register {type_.params_name}")
    return tuple(types)


def _types_with(params: type[object]) -> list[NotificationType]:
    """Return the methods whose params are of a class."""
    package = sys.modules.get(params.__module__.rpartition(".")[0])
    methods = getattr(package, "METHODS", None)
    wholes: list[str] = []
    if isinstance(methods, Methods):
        # An object without fields: only its class matters.
        example: Any = object.__new__(params)
        types = methods.request_with(example), methods.notification_with(example)
        if found := [type_ for type_ in types if type_ is not None]:
            return found
        from acp_bindings._problems.mistakes import wholes_with  # noqa: PLC0415 - only errors need it

        wholes = sorted({whole.__name__ for whole, _ in wholes_with(example, methods)})
    advice = f"it is part of {' or '.join(wholes)}" if wholes else "register the method by name"
    raise TypeError(f"no method takes {params.__name__} as params; {advice}")


def _classes_in(type_: object) -> Iterator[type[object]]:
    """Yield the classes of a union, or the class itself."""
    origin, parts = get_origin(type_), get_args(type_)
    if origin is Annotated:
        yield from _classes_in(parts[0])
    elif origin in (Union, UnionType):
        for part in parts:
            yield from _classes_in(part)
    elif isinstance(type_, type):
        yield type_
    else:
        raise TypeError(f"register a handler for a class of params or the name of a method, not for {_name_of(type_)}")


def package_name(type_: NotificationType) -> str | None:
    """Return the name of the protocol package of its params, which may be a union and so without a module."""
    return package_of(next(_classes_in(type_.params)).__module__)


def _full_name(type_: NotificationType) -> str:
    """Return the name of its params with the protocol package."""
    package = package_name(type_)
    return f"{package}.{type_.params_name}" if package else type_.params_name


def _name_of(thing: object) -> str:
    """Return the name of *thing* or of its class. Its `repr` may contain secrets."""
    return getattr(thing, "__qualname__", type(thing).__name__)

"""The handlers of what the peer sends: one for each method."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
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

from acp_bindings.connection.errors import log
from acp_bindings.jsonrpc import CANCEL
from acp_bindings.messages import Notification, Request
from acp_bindings.methods import Methods, NotificationType

if TYPE_CHECKING:
    from typing_extensions import TypeForm


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
    """The class of a request, to type checkers: the types of its params and of its result."""

    def __exchange__(self) -> tuple[P_co, R_co]: ...


class EmptyExchange(Exchange[P_co, R_co], Protocol[P_co, R_co]):
    """One whose result needs no arguments, so that a handler may return None for it. To mypy that is every one."""

    def __answer_type__(self) -> Callable[[], R_co]: ...


@dataclass(frozen=True, slots=True)
class Handler:
    """A handler, and how it is run."""

    handle: Handle[Any]
    waits: bool
    """Whether it is an `async def`."""
    exclusive: bool
    """Whether no further line is read before it is done."""


class Handlers:
    """The handlers of a connection, by the class of their params or by method.

        handlers = Handlers()

        @handlers.on(v1.NewSessionRequest)
        async def new_session(request: v1.NewSessionRequest, connection: Connection) -> v1.NewSessionResponse: ...

        @handlers.on("_acme/do")
        async def do(params: Any, connection: Connection) -> Any: ...

    Handlers for several protocol versions can stand side by side; the version in use decides which are called.
    """

    _own: ClassVar[frozenset[str]] = frozenset()
    """Methods that the class answers itself, so that `on` refuses them."""

    def __init__(self, handlers: Mapping[Any, Handle[Any]] | None = None) -> None:
        """The *handlers* given by class or method, and what is added by `on`.

        Raises:
            TypeError: a class is not what a method is called with, or a handler cannot be called with two arguments.
        """
        self._by_type: dict[NotificationType, Handler] = {}
        self._by_method: dict[str, Handler] = {}
        self._otherwise: Handler | None = None
        self._told_of: set[str] = set()
        """The methods of which the log says that their handlers are for other packages."""
        if handlers is not None and not isinstance(handlers, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"handlers are a mapping, of classes or methods to what handles them, and no {_name_of(handlers)}"
            )
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
        """Register what is decorated as the handler of a method.

        It may be an `async def` or not; one that is not must not take long. Requests are handled side by side: one
        whose handler waits for anything has a task of its own. Notifications are handled one after the other, in the
        order in which they came. The handler of a request gives the result, None for the empty one, or raises a
        `RequestError` (`acp_bindings.setup`), which is sent as it is. Anything else that it raises is logged, and
        answered as an internal error without a word of it.

        Args:
            calls: the class of the params, or where they are a union, that; or the method by name. The name goes where
                both are registered, and is the only way for extension methods (`_…`), whose params are plain JSON. The
                log has a warning where it is no method of any package, but spelt like one.
            exclusive: read nothing further before the handler is done, as with a request that decides how the next line
                is to be read. It cannot ask the peer anything meanwhile. That of `initialize` always is.

        Raises:
            TypeError: the class is not what a method is called with, or only one of several; or the handler, when it is
                given, cannot be called with the params and the connection.
            ValueError: when it is given, there is one for this class or name already; or it is for `$/cancel_request`,
                which the connection handles, or for `initialize`, which `AgentHandlers` does.
        """

        def register(handle: Handle[Any]) -> Handle[Any]:
            _refuse_uncallable(handle)
            waits = _waits(handle)
            taken = (
                [calls] if calls in self._by_method else [each.params_name for each in types if each in self._by_type]
            )
            if taken:
                raise ValueError(f"there is a handler for {taken[0]} already")
            methods = {calls, *(type_.method for type_ in types)}
            if own := self._own & methods:
                raise ValueError(f"{min(own)} is answered by {type(self).__name__} itself")
            if CANCEL in methods:
                raise ValueError(f"{CANCEL} is handled by the connection itself, which cancels the request's handler")
            if isinstance(calls, str):
                self._by_method[calls] = Handler(handle, waits, exclusive or calls in _EXCLUSIVE)
            for type_ in types:
                self._by_type[type_] = Handler(handle, waits, exclusive or type_.method in _EXCLUSIVE)
            if isinstance(calls, str) and not calls.startswith("_"):
                _warn_if_misspelt(calls)
            return handle

        types = () if isinstance(calls, str) else _types_of(calls)
        return register

    def otherwise(self, handle: Handle[Request | Notification]) -> Handle[Request | Notification]:
        """Register what is decorated as the handler of all methods that have none of their own.

        It is called with the whole message instead of its params. By `method` it sees what that is: an extension, a
        method of the protocol or, if the connection has `pass_unknown=True`, one of a newer protocol. All else is as
        with the handlers that `on` registers.

        Raises:
            TypeError: the handler cannot be called with a message and the connection.
            ValueError: there is such a handler already.
        """
        _refuse_uncallable(handle)
        if self._otherwise is not None:
            raise ValueError("there is a handler for all others already")
        self._otherwise = Handler(handle, _waits(handle), exclusive=False)
        return handle

    def handles(self, method: str) -> bool:
        """Whether there is a handler that would be called for *method*, in any version."""
        return self._otherwise is not None or method in self

    def __iter__(self) -> Iterator[str]:
        """The methods that have handlers of their own."""
        return iter({*self._by_method, *(type_.method for type_ in self._by_type)})

    def of(self, message: Request | Notification, connection: Any) -> Handler | None:  # noqa: ARG002
        """The handler of *message*, which has just come on *connection*; None if there is none."""
        handler = self._by_method.get(message.method) if self._by_method else None
        if handler is None and message.type is not None:
            handler = self._by_type.get(message.type)
        if handler is None:
            if other := self._otherwise:
                handle = other.handle
                return Handler(lambda _, on: handle(message, on), other.waits, message.method in _EXCLUSIVE)
            if message.type is not None and message.method not in self._told_of:
                self._tell_of_other_packages(message.type)
        return handler

    def _tell_of_other_packages(self, read: NotificationType) -> None:
        """Tell whoever wrote a handler of the method for another package than the one that is spoken."""
        others = [type_ for type_ in self._by_type if type_.method == read.method and type(type_) is type(read)]
        if others:
            # A method is told of once, and no name that a peer has made up is kept.
            self._told_of.add(read.method)
            log.warning(
                "nothing handles %s: it is read as %s here, and the handler is for %s",
                read.method,
                _full_name(read),
                ", ".join(map(_full_name, others)),
            )


_EXCLUSIVE = {"initialize"}
"""Methods that decide how the next line is read."""


def _waits(handle: object) -> bool:
    """Whether it is an `async def`, or an object that is called by one."""
    return iscoroutinefunction(handle) or iscoroutinefunction(getattr(handle, "__call__", None))  # noqa: B004


def _refuse_uncallable(handle: object) -> None:
    """Refuse what cannot be called as a handler, before a message of a peer does so."""
    if not callable(handle):
        raise TypeError(f"a handler is a function of the params and the connection, which {_name_of(handle)} is not")
    try:
        # That of the decorated function, which may take other arguments than the one that it wraps.
        parameters = _signature(handle, follow_wrapped=False)
    except ValueError:
        # Some functions that are written in C have none.
        return
    try:
        parameters.bind(None, None)
    except TypeError as error:
        raise TypeError(f"{_name_of(handle)} cannot be called with the params and the connection: {error}") from None


def _warn_if_misspelt(method: str) -> None:
    """Tell of a name that looks like a slip. It is no error: a newer protocol may have it, and a proxy passes it on."""
    from acp_bindings.setup.capabilities import likely_meant  # noqa: PLC0415 - not for handlers of classes

    if meant := likely_meant(method):
        log.warning("there is a handler for %s, which no version of the protocol has; did you mean %s?", method, meant)


if sys.version_info >= (3, 14):
    from annotationlib import Format

    # Annotations may name what is imported for type checkers alone.
    _signature = partial(signature, annotation_format=Format.STRING)
else:
    _signature = signature


def _types_of(params: object) -> tuple[NotificationType, ...]:
    """The methods that are called with objects of a class, or of those in a union."""
    classes = [*_classes_in(params)]
    types = {type_: None for each in classes for type_ in _types_with(each)}
    for type_ in types:
        if not {*_classes_in(type_.params)}.issubset(classes):
            raise TypeError(f"{type_.method} is not called with {classes[0].__name__} alone: take {type_.params_name}")
    return tuple(types)


def _types_with(params: type[object]) -> list[NotificationType]:
    """The methods that are called with objects of a class."""
    package = sys.modules.get(params.__module__.rpartition(".")[0])
    methods = getattr(package, "METHODS", None)
    wholes: list[str] = []
    if isinstance(methods, Methods):
        # An object without members: only its class matters.
        example: Any = object.__new__(params)
        types = methods.request_with(example), methods.notification_with(example)
        if found := [type_ for type_ in types if type_ is not None]:
            return found
        from acp_bindings._problems.mistakes import wholes_with  # noqa: PLC0415 - only errors need it

        wholes = sorted({whole.__name__ for whole, _ in wholes_with(example, methods)})
    advice = f"it is part of {' or '.join(wholes)}" if wholes else "name the method"
    raise TypeError(f"no method is called with {params.__name__}; {advice}")


def _classes_in(type_: object) -> Iterator[type[object]]:
    """The classes of a union, or the one that it is."""
    origin, parts = get_origin(type_), get_args(type_)
    if origin is Annotated:
        yield from _classes_in(parts[0])
    elif origin in (Union, UnionType):
        for part in parts:
            yield from _classes_in(part)
    elif isinstance(type_, type):
        yield type_
    else:
        raise TypeError(f"a handler is for a class of params or for a method by name, not for {_name_of(type_)}")


def _full_name(type_: NotificationType) -> str:
    """The name of its params, with the protocol package: also that of a union, which has no module."""
    from acp_bindings._json import package_of  # noqa: PLC0415 - only warnings need it

    package = package_of(next(_classes_in(type_.params)).__module__)
    return f"{package}.{type_.params_name}" if package else type_.params_name


def _name_of(thing: object) -> str:
    """The name of *thing* or of its class; its `repr` may show secrets."""
    return getattr(thing, "__qualname__", type(thing).__name__)

"""The methods of a protocol package, with the side that handles each and the types of its params and result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from types import UnionType
from typing import Annotated, Any, Literal, Protocol, TypeAlias, TypeVar, Union, get_args, get_origin

from acp_bindings._models.base import Model

__all__ = ["Asks", "Method", "Methods", "NotificationType", "ProtocolPackage", "RequestType", "Side"]

Side: TypeAlias = Literal["agent", "both", "client", "protocol", "proxy"]
"""The side that handles a method. `both` and `protocol` mean either side."""


Answer_co = TypeVar("Answer_co", covariant=True)


class Asks(Protocol[Answer_co]):
    """The params of a request whose result has the type `Answer_co`.

    Use it to annotate a function that sends requests, so that type checkers infer the type of the result:

        async def send(params: Asks[T]) -> T: ...
    """

    def __answer__(self) -> Answer_co:
        """Declare the type of the result. Only type checkers see this method, and nothing calls it."""
        ...


class NotificationType:
    """A notification: its method, and the type of its params."""

    def __init__(self, package: str, method: str, side: Side, params: str) -> None:
        self.method = method
        """The name on the wire."""
        self.side: Side = side
        """The side that handles it."""
        self.params_name = params
        """The name of the type of the params."""
        self._package = package

    @cached_property
    def params(self) -> Any:
        """The type of the params, for `decode`: a class or a union."""
        return self._load(self.params_name)

    def _load(self, name: str) -> Any:
        return getattr(import_module(self._package), name)

    def __repr__(self) -> str:
        """`NotificationType('session/cancel', side='agent', params=CancelNotification)`."""
        return f"{type(self).__name__}({self.method!r}, side={self.side!r}, params={self.params_name})"


class RequestType(NotificationType):
    """A request: its method, and the types of its params and result."""

    def __init__(self, package: str, method: str, side: Side, params: str, result: str | None) -> None:
        super().__init__(package, method, side, params)
        self.result_name = result
        """The name of the type of the result; None if the schema has none."""

    @cached_property
    def result(self) -> Any:
        """The type of the result, for `decode`: a class or a union; `Any` if the schema has none."""
        return self._load(self.result_name) if self.result_name else Any

    def __repr__(self) -> str:
        """`RequestType('session/new', side='agent', params=NewSessionRequest, result=NewSessionResponse)`."""
        return f"{super().__repr__()[:-1]}, result={self.result_name})"


class Method:
    """One method: a request, a notification, or (as `mcp/message`) one of each, perhaps for different sides."""

    def __init__(self, request: RequestType | None, notification: NotificationType | None) -> None:
        self.request = request
        """The request, which is a message with an id; None if there is none."""
        self.notification = notification
        """The notification, which is a message without an id; None if there is none."""

    def __repr__(self) -> str:
        """The request, the notification, or both."""
        return f"Method({', '.join(repr(each) for each in (self.request, self.notification) if each)})"


class Methods(Mapping[str, Method]):
    """The methods of a protocol package by name (`x-method`, `x-side`)."""

    def __init__(
        self,
        module: str,
        *,
        requests: Mapping[str, tuple[Side, str, str | None]],
        notifications: Mapping[str, tuple[Side, str]],
    ) -> None:
        """Collect the methods of the package of *module*.

        Args:
            module: the name of the module that calls this.
            requests: for each method, its side and the names of the types of its params and result.
            notifications: for each method, its side and the name of the type of its params.
        """
        package = module.rpartition(".")[0]
        self._requests = {name: RequestType(package, name, *parts) for name, parts in requests.items()}
        self._notifications = {name: NotificationType(package, name, *parts) for name, parts in notifications.items()}
        names = sorted(requests.keys() | notifications.keys())
        self._request_by_class: dict[type, RequestType | None] = {}
        self._notification_by_class: dict[type, NotificationType | None] = {}
        self._methods = {name: Method(self._requests.get(name), self._notifications.get(name)) for name in names}

    def __getitem__(self, name: str) -> Method:
        """Return the method *name*. Raises `KeyError` if it is unknown."""
        return self._methods[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, which are sorted."""
        return iter(self._methods)

    def __len__(self) -> int:
        """Return the number of methods."""
        return len(self._methods)

    def __repr__(self) -> str:
        """Return a text with the names."""
        return f"Methods({', '.join(self)})"

    def request_with(self, params: object) -> RequestType | None:
        """Return the request for *params*, found by their class, or None.

        If several requests share a class, this is the one after which the class is named.
        """
        cls = type(params)
        if cls not in self._request_by_class:
            self._request_by_class[cls] = _with(self._requests.values(), params)
        return self._request_by_class[cls]

    def notification_with(self, params: object) -> NotificationType | None:
        """Return the notification for *params*, found by their class, or None."""
        cls = type(params)
        if cls not in self._notification_by_class:
            self._notification_by_class[cls] = _with(self._notifications.values(), params)
        return self._notification_by_class[cls]


class ProtocolPackage(Protocol):
    """The interface of `v1`, `v1_unstable`, `v2` and `v2_unstable` for a codec."""

    @property
    def METHODS(self) -> Methods:  # noqa: N802
        """The methods by name."""
        ...

    @property
    def Error(self) -> Any:  # noqa: N802
        """The type of an error."""
        ...

    @property
    def RequestId(self) -> Any:  # noqa: N802
        """The type of an id."""
        ...


def is_of(value: object, type_: Any) -> bool:
    """Return True if *value* is an instance of *type_* or of one of its variants. Items in it are not checked."""
    if type_ is Any:  # which `isinstance` does not take
        return True
    if isinstance(type_, type):
        return isinstance(value, type_)
    origin, parts = get_origin(type_), get_args(type_)
    if origin is Annotated:
        return is_of(value, parts[0])
    if origin in (Union, UnionType):
        return any(is_of(value, part) for part in parts)
    return value in parts if origin is Literal else isinstance(value, origin)


Type = TypeVar("Type", bound=NotificationType)


def _with(types: Iterable[Type], params: object) -> Type | None:
    if not isinstance(params, Model):
        return None
    # A variant is usually named after its union. Trying those first avoids importing the other modules.
    names = [each.__name__ for each in type(params).__mro__]
    likely_first = sorted(types, key=lambda each: not any(name.startswith(each.params_name) for name in names))
    return next((each for each in likely_first if each.params is not Any and is_of(params, each.params)), None)

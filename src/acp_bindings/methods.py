"""What a protocol package says of its methods: who handles each, and what it carries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from types import UnionType
from typing import Annotated, Any, Literal, Protocol, TypeAlias, TypeVar, Union, get_args, get_origin

from acp_bindings._models.base import Model

Side: TypeAlias = Literal["agent", "both", "client", "protocol", "proxy"]
"""Who handles a method; `both` and `protocol` are whoever gets it."""


Answer_co = TypeVar("Answer_co", covariant=True)


class Asks(Protocol[Answer_co]):
    """The params of any request that is answered with an `Answer_co`, to type checkers.

        async def ask(params: Asks[T]) -> T: ...

    The classes of all requests say what answers them; nothing has to be done at run time.
    """

    def __answer__(self) -> Answer_co:
        """Nobody calls this: it is there for its type."""
        ...


class NotificationType:
    """What a method that nobody answers carries."""

    def __init__(self, package: str, method: str, side: Side, params: str) -> None:
        self.method = method
        """Its name on the wire."""
        self.side: Side = side
        """Who handles it."""
        self.params_name = params
        """The name of the type of what it carries."""
        self._package = package

    @cached_property
    def params(self) -> Any:
        """The type of what it carries: a class, or a union, as `decode` takes them."""
        return self._load(self.params_name)

    def _load(self, name: str) -> Any:
        return getattr(import_module(self._package), name)

    def __repr__(self) -> str:
        """`NotificationType('session/cancel', side='agent', params=CancelNotification)`."""
        return f"{type(self).__name__}({self.method!r}, side={self.side!r}, params={self.params_name})"


class RequestType(NotificationType):
    """What a method is called with, and answered with."""

    def __init__(self, package: str, method: str, side: Side, params: str, result: str | None) -> None:
        super().__init__(package, method, side, params)
        self.result_name = result
        """The name of the type of the answer, where the schema has one."""

    @cached_property
    def result(self) -> Any:
        """The type of the answer: a class, or a union, as `decode` takes them; `Any` where the schema has none."""
        return self._load(self.result_name) if self.result_name else Any

    def __repr__(self) -> str:
        """`RequestType('session/new', side='agent', params=NewSessionRequest, result=NewSessionResponse)`."""
        return f"{super().__repr__()[:-1]}, result={self.result_name})"


class Method:
    """One method: a request, a notification, or (as `mcp/message`) one of each, perhaps for different sides."""

    def __init__(self, request: RequestType | None, notification: NotificationType | None) -> None:
        self.request = request
        """What it is when it has an id, or None."""
        self.notification = notification
        """What it is when it has none, or None."""

    def __repr__(self) -> str:
        """The one or the two that it is."""
        return f"Method({', '.join(repr(each) for each in (self.request, self.notification) if each)})"


class Methods(Mapping[str, Method]):
    """Every method of a protocol package, by its name on the wire (`x-method`, `x-side`)."""

    def __init__(
        self,
        module: str,
        *,
        requests: Mapping[str, tuple[Side, str, str | None]],
        notifications: Mapping[str, tuple[Side, str]],
    ) -> None:
        """The methods of the package that *module* is in: who handles each, and the names of its types."""
        package = module.rpartition(".")[0]
        self._requests = {name: RequestType(package, name, *parts) for name, parts in requests.items()}
        self._notifications = {name: NotificationType(package, name, *parts) for name, parts in notifications.items()}
        names = sorted(requests.keys() | notifications.keys())
        self._request_by_class: dict[type, RequestType | None] = {}
        self._notification_by_class: dict[type, NotificationType | None] = {}
        self._methods = {name: Method(self._requests.get(name), self._notifications.get(name)) for name in names}

    def __getitem__(self, name: str) -> Method:
        """The method *name*; `KeyError` where the package has none of that name."""
        return self._methods[name]

    def __iter__(self) -> Iterator[str]:
        """The names, sorted."""
        return iter(self._methods)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._methods)

    def __repr__(self) -> str:
        """Their names."""
        return f"Methods({', '.join(self)})"

    def request_with(self, params: object) -> RequestType | None:
        """The method that is called with *params*, which their class tells, or None.

        Of methods that share a class it is the one that the class is named after.
        """
        cls = type(params)
        if cls not in self._request_by_class:
            self._request_by_class[cls] = _with(self._requests.values(), params)
        return self._request_by_class[cls]

    def notification_with(self, params: object) -> NotificationType | None:
        """The notification that carries *params*, which their class tells, or None."""
        cls = type(params)
        if cls not in self._notification_by_class:
            self._notification_by_class[cls] = _with(self._notifications.values(), params)
        return self._notification_by_class[cls]


def is_of(value: object, type_: Any) -> bool:
    """Whether *value* is of the class *type_*, or of one in the union. Nobody looks into lists and maps for that."""
    if type_ is Any:  # a class too, but none that has instances
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
    # An alternative is mostly named after its union. Trying those first leaves the modules of the others unloaded.
    names = [each.__name__ for each in type(params).__mro__]
    likely_first = sorted(types, key=lambda each: not any(name.startswith(each.params_name) for name in names))
    return next((each for each in likely_first if each.params is not Any and is_of(params, each.params)), None)

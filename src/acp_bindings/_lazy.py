"""Packages that import a module only when you use a name from it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

PACKAGES = ("v1", "v1_unstable", "v2", "v2_unstable")
"""The names of the protocol packages in `acp_bindings`."""


def lazy_names(
    package: str, modules: Mapping[str, str], *, extra: str | None = None
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` for *package*.

    Args:
        package: its full name.
        modules: the public names in each of its modules, separated by spaces. `folder.name` is a module in a folder.
        extra: the extra of `acp-bindings` that the modules need, for the error if it is not installed.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}
    children = {module.partition(".")[0] for module in modules}

    def getattr_(name: str) -> Any:
        if name not in children and name not in homes:
            # `name=` without `obj=` stops Python from adding a second suggestion of its own.
            raise AttributeError(_Suggestion(package, name), name=name)
        try:
            if name in children:
                return import_module(f"{package}.{name}")
            value = getattr(import_module(f"{package}.{homes[name]}"), name)
        except ModuleNotFoundError as error:
            if extra is None:
                raise
            needed = (error.name or "").partition(".")[0]
            needed_extra = "redis" if needed == "redis" else extra
            raise ImportError(f"{package}.{name} needs {needed}: pip install 'acp-bindings[{needed_extra}]'") from error
        setattr(sys.modules[package], name, value)
        return value

    def dir_() -> list[str]:
        return sorted({*vars(sys.modules[package]), *children, *homes})

    return sorted(homes), getattr_, dir_


class _Suggestion:
    """The text of an `AttributeError`. It is made when it is read, so that `hasattr` stays fast."""

    def __init__(self, package: str, name: str) -> None:
        self.package, self.name = package, name

    def __str__(self) -> str:
        message = f"module {self.package!r} has no attribute {self.name!r}"
        for home in _OTHER_FACES:
            if self.name in import_module(home).__all__:
                return f"{message}; it is in {home}"
        known = import_module(self.package).__all__
        if OFFICIAL.get(self.name) in known:
            return f"{message}; it is the official SDK's name for {OFFICIAL[self.name]}"
        packages = [f"acp_bindings.{each}" for each in PACKAGES]
        if homes := [each for each in packages if self.name in import_module(each).__all__]:
            return f"{message}; it is in {joined(homes, 'and')}"
        close = closest(self.name, known, cutoff=0.7)
        return f"{message}; did you mean {close}?" if close else message

    def __repr__(self) -> str:
        return repr(str(self))


_OTHER_FACES = ("acp_bindings.setup", "acp_bindings.connection", "acp_bindings.jsonrpc")
"""The public modules with names that are not in a protocol package."""


OFFICIAL = {
    "TextContentBlock": "TextContent",
    "ImageContentBlock": "ImageContent",
    "AudioContentBlock": "AudioContent",
    "ResourceContentBlock": "ResourceLink",
    "EmbeddedResourceContentBlock": "EmbeddedResource",
    "ToolCallStart": "ToolCall",
    "ToolCallProgress": "SessionToolCallUpdate",
    "ContentToolCallContent": "Content",
    "FileEditToolCallContent": "Diff",
    "TerminalToolCallContent": "Terminal",
    "AgentPlanUpdate": "Plan",
    "AllowedOutcome": "SelectedPermissionOutcome",
    "DeniedOutcome": "RequestPermissionOutcomeCancelled",
    "HttpMcpServer": "McpServerHttp",
    "SseMcpServer": "McpServerSse",
    "TerminalAuthMethod": "AuthMethodTerminal",
    "SetSessionConfigOptionBooleanRequest": "SetSessionConfigOptionRequestBoolean",
    "SetSessionConfigOptionSelectRequest": "SetSessionConfigOptionRequestValueId",
    "StdioMcpServer": "McpServerStdio",
    "CancelRequest": "CancelRequestNotification",
    "ModelInfo": "SessionConfigSelectOption",
    "SessionModelState": "SessionConfigOptionSelect",
    "SetSessionModelRequest": "SetSessionConfigOptionRequestValueId",
    "SetSessionModelResponse": "SetSessionConfigOptionResponse",
}
"""Names of the official SDK, now or in an earlier release, and the names here (docs/official_sdk.md)."""


def joined(names: list[str], last: str) -> str:
    """Return the names as in `a, b or c`, where *last* is "or"."""
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def closest(name: str, names: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the most similar of *names*; None if no similarity, from 0 to 1, reaches *cutoff*."""
    from difflib import get_close_matches  # noqa: PLC0415 - only errors need it

    return next(iter(get_close_matches(name, list(names), n=1, cutoff=cutoff)), None)

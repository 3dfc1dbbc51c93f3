"""What `repr` shows of models and JSON, and what it hides: keys, passwords, what a command is given."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from functools import cache
from typing import Any, cast

from pydantic import BaseModel

from acp_bindings._models.types import Rule

HIDDEN = "…"
"""What `repr` shows in place of a secret."""

SECRET_WHEREVER = frozenset({"env", "headers"})
"""Members that hold secrets also where the schema does not say so, as in an unknown kind of MCP server."""

ADDRESSES = frozenset({"url", "baseUrl", "base_url"})
"""Members that are URLs, in which there may be a password or a key."""


def members(model: BaseModel, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Of the *values* that a model has, those which are set, so that omitted and null differ, without secrets."""
    fields, secret = type(model).__pydantic_fields__, _secret(type(model))
    for name, value in values.items():
        if name not in fields:
            # What a newer schema put beside a secret may be one too.
            yield name, HIDDEN if secret or name in SECRET_WHEREVER else _discreet(str(name), value, values)
        elif name in model.__pydantic_fields_set__:
            yield name, _hide(value) if name in secret else _discreet(name, value, values)


def without_secrets(value: Any) -> Any:
    """A *value* that is no secret without those in it: a whole request may travel as plain JSON, in `proxy/successor`.

    Models in it hide their own.
    """
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        hidden = {name for name, each in given.items() if name in SECRET_WHEREVER and not isinstance(each, BaseModel)}
        return {name: HIDDEN if name in hidden else _discreet(name, each, given) for name, each in given.items()}
    return [without_secrets(each) for each in cast("list[object]", value)] if isinstance(value, list) else value


@cache
def _secret(cls: type[BaseModel]) -> frozenset[str]:
    return frozenset(name for name, info in cls.__pydantic_fields__.items() if Rule.SECRET in info.metadata)


def _discreet(name: str, value: Any, beside: Container[str]) -> Any:
    """The *value* of the member *name* without the secrets in it, where other members are *beside* it."""
    if name in ADDRESSES and isinstance(value, str):
        return _address(value)
    if name == "args" and "command" in beside:
        # Where keys are given that whoever lists the processes may see, but not whoever has the log.
        return [HIDDEN for _ in cast("list[object]", value)] if isinstance(value, list) else HIDDEN
    return without_secrets(value)


_URL = re.compile(r"(?P<scheme>(([\w+.-]+:)?//)?)(?P<authority>[^/?#]*)(?P<path>[^?#]*)((?P<mark>[?#]).*)?", re.DOTALL)
_AUTHORITY = re.compile(r"(?P<user>.*@)?(?P<host>([^@:\[\]]*|\[[^@\[\]]*\])(:\d*)?)", re.DOTALL)


def _address(url: str) -> str:
    """`https://…@example.com/mcp?…`: a URL without user-info, query and fragment; nothing of what is no URL."""
    found = _URL.fullmatch(url)
    authority = found and _AUTHORITY.fullmatch(found["authority"])
    if not found or not authority:
        # Such as a password in which "/" or "?" is not escaped: where it ends, nobody can tell.
        return HIDDEN
    user = f"{HIDDEN}@" if authority["user"] else ""
    rest = f"{found['mark']}{HIDDEN}" if found["mark"] else ""
    return f"{found['scheme']}{user}{authority['host']}{found['path']}{rest}"


def _hide(value: Any) -> Any:
    return dict.fromkeys(cast("dict[str, Any]", value), HIDDEN) if isinstance(value, dict) else HIDDEN

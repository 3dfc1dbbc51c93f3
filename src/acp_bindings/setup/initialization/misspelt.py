"""Members in a message of `initialize` that nobody reads: misspelt capabilities, and members of another version."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from acp_bindings._models.base import Model
from acp_bindings.errors import Path
from acp_bindings.setup.capabilities import Side, members
from acp_bindings.setup.initialization.words import WORDS
from acp_bindings.setup.remarks import Remark


def initialize_remarks(message: Model, *, side: Side, version: int) -> Iterator[Remark]:
    """What is most likely a mistake in the *message* of *side*, although it could be read.

    The rules: `other-version`, a member that only another version has, in place of this one's own; `no-info`, name and
    version are missing; `unknown-capability`, a name that is nearly that of a capability. Any other may be a new one.
    """
    said = {info.alias for name, info in type(message).__pydantic_fields__.items() if name in message.model_fields_set}
    extra = message.model_extra or {}
    for there, words in WORDS[side].items():
        for ours, theirs in zip(WORDS[side][version], words, strict=True):
            if theirs in extra and ours not in said:
                told = f"this is of version {there} and is not read; in version {version} it is {ours}"
                yield Remark((theirs,), "other-version", told, facts={"member": theirs, "meant": ours})
    capabilities, info = WORDS[side][version]
    for name, field in type(message).__pydantic_fields__.items():
        value: Any = getattr(message, name)
        if field.alias == info and value is None:
            yield Remark((info,), "no-info", "it is missing; a name and a version help whoever reads a log", "info")
        elif field.alias == capabilities:
            yield from _misspelt(value, (capabilities,))


def _misspelt(capabilities: Model, path: Path) -> Iterator[Remark]:
    """The members of *capabilities*, and of those in it, that are spelt nearly like others."""
    names = members(type(capabilities))
    for name in map(str, capabilities.model_extra or {}):  # not the keys, which may equal nothing (`_models.reading`)
        if meant := _meant(name, names):
            told = f"there is no such capability, so that it is not read; did you mean {meant}?"
            yield Remark((*path, name), "unknown-capability", told, facts={"name": name, "meant": meant})
    for name, field in type(capabilities).__pydantic_fields__.items():
        value: Any = getattr(capabilities, name)
        if isinstance(value, Model):
            yield from _misspelt(value, (*path, field.alias or name))


def _meant(name: str, names: Mapping[str, object]) -> str | None:
    """Which of *names* is meant by *name*: the same in other letters, one that it begins, or one that is close."""
    plain = {_plain(each): each for each in names}
    if not (given := _plain(name)):
        return None
    if given in plain:
        return plain[given]
    begun = (each for each in plain if each.startswith(given))
    close = difflib.get_close_matches(given, plain, n=1, cutoff=0.8)
    return plain.get(next(begun, None) or next(iter(close), ""))


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()

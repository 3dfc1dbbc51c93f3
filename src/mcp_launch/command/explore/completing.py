"""Completes a line of the shell: commands, names of what the server offers, arguments and their values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_launch.command.explore.json_schema import Schema, alternatives, fixed_values, kind_of, properties_of
from mcp_launch.command.explore.signature import DESCRIBING_STEPS, arguments_of
from mcp_launch.validation import TooManySteps, limited_steps

if TYPE_CHECKING:
    from mcp_launch.servers.offer import Offer

__all__ = ["Candidate", "candidates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A text that may take the place of the last word of the line."""

    text: str
    about: str = ""


def candidates(line: str, offer: Offer, commands: Mapping[str, str]) -> list[Candidate]:
    """What the last word of the line may become.

    Args:
        line: up to the cursor.
        offer: what the server listed.
        commands: those of the shell, with what each does.
    """
    before, _, begun = line.rpartition(" ")
    words = before.split()
    found: list[Candidate] = []
    # Of a schema that takes too long, what was found until then.
    with suppress(TooManySteps), limited_steps(DESCRIBING_STEPS):
        found.extend(each for each in _all(words, begun, offer, commands) if each.text.startswith(begun))
    return found


def _all(words: list[str], begun: str, offer: Offer, commands: Mapping[str, str]) -> Iterable[Candidate]:  # noqa: PLR0911 - a list of cases
    match words:
        case []:
            return (Candidate(text=name, about=about) for name, about in commands.items())
        case ["tool" | "call"]:
            return (Candidate(text=tool.name, about=_first(tool.description)) for tool in offer.tools or ())
        case ["call", name, *given]:
            schemas = [tool.input_schema for tool in offer.tools or () if tool.name == name]
            return _arguments(schemas[0], given, begun) if schemas else ()
        case ["read"]:
            return (Candidate(text=str(each.uri), about=each.name) for each in offer.resources or ())
        case ["get"]:
            return (Candidate(text=each.name, about=_first(each.description)) for each in offer.prompts or ())
        case ["get", name, *given]:
            typed = {word.partition("=")[0] for word in given}
            return (
                Candidate(text=f"{each.name}=", about=_first(each.description))
                for prompt in offer.prompts or ()
                if prompt.name == name
                for each in prompt.arguments or ()
                if each.name not in typed
            )
        case _:
            return ()


def _arguments(schema: Schema, given: list[str], begun: str) -> Iterator[Candidate]:
    name, equals, _ = begun.partition("=")
    if equals:
        for value in _values(properties_of(schema, schema).get(name), schema):
            yield Candidate(text=f"{name}={value}")
        return
    typed = {word.partition("=")[0].rstrip(":") for word in given}
    for argument in arguments_of(schema):
        if argument.name not in typed or argument.type.endswith("[]"):
            about = _first(argument.description)
            yield Candidate(text=f"{argument.name}=", about=f"{argument.type}{f', {about}' if about else ''}")


def _values(part: Any, root: Schema) -> Iterator[str]:
    for each in alternatives(part, root):
        for value in fixed_values(each) or ([True, False] if kind_of(each) == "boolean" else []):
            yield value if isinstance(value, str) else json.dumps(value)


def _first(text: str | None) -> str:
    """The first line of a description."""
    return (text or "").strip().partition("\n")[0]

"""Turns words such as `lines=3 tags=a tags=b filter.since=2026` into the arguments of a tool, by its schema.

The schema decides the type of a value: where it allows a string, `3` stays a string. `name:=JSON` gives an exact value.
A mistake is reported with the name of the argument and what the schema wants there; nothing is sent then.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, cast

from mcp_launch.budgets import Budgets
from mcp_launch.command.explore.json_schema import Schema, member_of, properties_of
from mcp_launch.command.explore.misfits import misfits
from mcp_launch.command.explore.nearest import nearest, there_are
from mcp_launch.command.explore.signature import short
from mcp_launch.command.explore.typed_values import Fault, json_value, typed_value, with_file
from mcp_launch.validation import STEPS, TooManySteps, is_plain, limited_steps

__all__ = ["WrongArguments", "read_arguments", "read_elsewhere", "read_untrusted"]


class WrongArguments(ValueError):  # noqa: N818 - says what is wrong, which a suffix would not
    """What was typed cannot be the arguments of the tool."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        """What is wrong, one text for each mistake."""
        super().__init__("; ".join(self.faults))


def read_arguments(
    words: Iterable[str], schema: Schema, *, whole: str | None = None, checked: bool = True
) -> dict[str, Any]:
    """The arguments of a tool, from words such as `name=value`.

    Args:
        words: `name=value` by the type in the schema, again for each item of an array; `name:=JSON` and
            `name:=@FILE` for the exact value; `outer.inner=value` for a member of an object.
        schema: the tool's input schema.
        whole: a JSON object of arguments, or `@FILE` with one; `words` replace members of it.
        checked: False for a server that is to be tried with arguments that its schema does not allow.

    Raises:
        WrongArguments: the schema does not allow something; every mistake is listed.
    """
    try:
        arguments = {} if whole is None else _object(whole)
    except Fault as fault:
        raise WrongArguments([str(fault)]) from None
    faults: list[str] = []
    typed: set[tuple[str, ...]] = set()
    for word in words:
        try:
            _add(word, arguments, typed, schema, checked=checked)
        except Fault as fault:
            faults.append(str(fault))
    if checked and not faults:
        faults.extend(misfits(arguments, schema))
    if faults:
        raise WrongArguments(faults)
    return arguments


async def read_untrusted(
    words: list[str], schema: Schema, *, whole: str | None = None, checked: bool = True
) -> dict[str, Any]:
    """The same for the schema of a server, which may be made to keep its reader busy for years.

    Raises:
        WrongArguments: as for `read_arguments`, or the schema cannot be evaluated within the limits.
    """
    if is_plain(schema):
        with suppress(TooManySteps), limited_steps(STEPS):
            return read_arguments(words, schema, whole=whole, checked=checked)
    # Imported late: most schemas need no process, and most commands no schema.
    from mcp_launch.processes.killable import CallFailed, KillableProcess  # noqa: PLC0415

    try:
        # Here, because the other process has another standard input, and none of our other descriptors.
        whole = None if whole is None else _with_file(whole, called="--args")
        words = [_with_its_file(word) for word in words]
    except Fault as fault:
        raise WrongArguments([str(fault)]) from None
    process = KillableProcess(seconds=Budgets().validate)
    try:
        found: dict[str, Any] = await process.call(f"{__name__}:read_elsewhere", words, schema, whole, checked)
    except CallFailed as failed:
        if not checked:
            return read_arguments(words, {}, whole=whole, checked=False)
        why = "reading the arguments " + (f"fails ({failed.kind})" if failed.kind else str(failed))
        hint = "mcp-launch call --unchecked sends them without looking at it"
        raise WrongArguments([f"its inputSchema was rejected: {why}; {hint}"]) from None
    finally:
        await process.aclose()
    if faults := found["faults"]:
        raise WrongArguments(faults)
    arguments: dict[str, Any] = found["arguments"]
    return arguments


def read_elsewhere(words: list[str], schema: Schema, whole: str | None, checked: bool) -> dict[str, Any]:
    """The arguments, or the faults, for calls in the other process."""
    try:
        return {"arguments": read_arguments(words, schema, whole=whole, checked=checked), "faults": ()}
    except WrongArguments as wrong:
        return {"arguments": {}, "faults": wrong.faults}


def _with_its_file(word: str) -> str:
    """The word with what is in the file that it names, if it is `name:=@FILE`."""
    name, _, text = word.partition("=")
    return f"{name}={_with_file(text, called=name[:-1])}" if name.endswith(":") else word


def _with_file(text: str, *, called: str) -> str:
    # A file that begins with "@" does not name another one.
    return f" {with_file(text, called=called)}" if text.startswith("@") else text


def _object(whole: str) -> dict[str, Any]:
    value = json_value(whole, called="--args")
    if not isinstance(value, dict):
        raise Fault(f"--args: must be a JSON object of arguments, not {short(value)}")
    return cast("dict[str, Any]", value)


def _add(word: str, arguments: dict[str, Any], typed: set[tuple[str, ...]], root: Schema, *, checked: bool) -> None:
    name, equals, text = word.partition("=")
    exact = name.endswith(":") and name not in properties_of(root, root)
    name = name[:-1] if exact else name
    if not equals or not name:
        hint = "; give a whole object with --args" if word.startswith("{") else ""
        raise Fault(f"{word}: must be name=value, or name:=JSON{hint}")
    path, schema = _meant(name, root)
    if schema is None and not exact and checked:
        near = _nearest(name, root, root)
        told = f'did you mean "{near}"?' if near else there_are(properties_of(root, root))
        raise Fault(f"{name}: there is no such argument; {told}")
    value = json_value(text, called=name) if exact else typed_value(text, schema, root, called=name, checked=checked)
    holder = _holder(path, arguments, called=name)
    if path not in typed:
        holder[path[-1]] = value
    elif isinstance(holder[path[-1]], list) and isinstance(value, list) and not exact:
        holder[path[-1]] += value
    else:
        raise Fault(f"{name}: is given twice")
    typed.add(path)


def _holder(path: tuple[str, ...], arguments: dict[str, Any], *, called: str) -> dict[str, Any]:
    """The object that the last step of the path is a member of; made if it is not there yet."""
    holder = arguments
    for step in path[:-1]:
        inner: Any = holder.setdefault(step, {})
        if not isinstance(inner, dict):
            raise Fault(f"{called}: {step} is given as {short(inner)} already")
        holder = cast("dict[str, Any]", inner)
    return holder


def _meant(name: str, root: Schema) -> tuple[tuple[str, ...], object]:
    """The path of the argument and its schema; None as the schema where the tool has no such argument."""
    schema = member_of(name, root, root)
    if schema is not None:
        return (name,), schema
    # A member of an object, unless the name of an argument has a dot in it.
    path: tuple[str, ...] = ()
    schema, rest = root, name
    while rest:
        step, _, rest = rest.partition(".")
        schema = member_of(step, schema, root)
        if schema is None:
            return (name,), None
        path = (*path, step)
    return path, schema


def _nearest(name: str, schema: object, root: Schema) -> str | None:
    """The known argument that is most like this one; each step of its path is compared on its own."""
    known = properties_of(schema, root)
    step, _, rest = name.partition(".")
    holder = nearest(step, known)
    inner = _nearest(rest, known[holder], root) if rest and holder else None
    return nearest(name, known) if inner is None else f"{holder}.{inner}"

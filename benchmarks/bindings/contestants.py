"""What each contestant does with a message; `python -m benchmarks.bindings.contestants NAME` answers tasks on stdin.

An answer is the seconds, or the bytes, that one message of the task takes; `null` where the contestant has no part.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from benchmarks.bindings.messages import MESSAGES, STREAM, line, text
from benchmarks.race import answer_tasks

Read: TypeAlias = Callable[[bytes], Any]
Write: TypeAlias = Callable[[Any], object]

ROUND = 0.02
"""Seconds that one round takes, about."""


class Way(NamedTuple):
    """How a contestant reads a definition and writes it, and how it reads a whole line of JSON-RPC."""

    read: Callable[[str], Read]
    write: Write | None
    read_line: Read | None = None


def ours() -> Way:
    from acp_bindings import decode, encode, v1  # noqa: PLC0415
    from acp_bindings.jsonrpc import Codec  # noqa: PLC0415

    def read(name: str) -> Read:
        return partial(decode, getattr(v1, name))

    return Way(read, encode, Codec(v1, role="client").read)


def bare_json() -> Way:
    from pydantic_core import from_json  # noqa: PLC0415

    return Way(lambda _name: from_json, None, from_json)


def official() -> Way:
    schema: Any = importlib.import_module("acp.schema")

    def write(model: Any) -> object:
        return model.model_dump_json(by_alias=True, exclude_unset=True)

    return Way(lambda name: getattr(schema, name).model_validate_json, write)


def official_connection() -> Way:
    schema: Any = importlib.import_module("acp.schema")

    def read(name: str) -> Read:
        type_ = getattr(schema, name)
        return lambda data: type_.model_validate(json.loads(data))

    def write(model: Any) -> bytes:
        plain = model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        return json.dumps(plain, separators=(",", ":")).encode()

    types = {"session/update": schema.SessionNotification}

    def read_line(data: bytes) -> object:
        message = json.loads(data)
        model = types[message["method"]].model_validate(message.get("params"))
        return {name: getattr(model, name) for name in type(model).model_fields}  # its handlers take keywords

    return Way(read, write, read_line)


def plain() -> Way:
    models = importlib.import_module("benchmarks.bindings.plain")

    def read(name: str) -> Read:
        type_ = getattr(models, name)
        type_.model_rebuild()
        return type_.__pydantic_validator__.validate_json

    def write(model: Any) -> bytes:
        return model.__pydantic_serializer__.to_json(model, by_alias=True, exclude_unset=True)

    return Way(read, write, read("SessionUpdateLine"))


def structs() -> Way:
    import msgspec  # noqa: PLC0415

    models = importlib.import_module("benchmarks.bindings.structs")
    read_line = msgspec.json.Decoder(models.SessionUpdateLine).decode
    return Way(
        lambda name: msgspec.json.Decoder(getattr(models, name)).decode, msgspec.json.Encoder().encode, read_line
    )


CONTESTANTS: dict[str, Callable[[], Way]] = {
    "ours": ours,
    "official": official,
    "its connection": official_connection,
    "plain pydantic": plain,
    "msgspec": structs,
    "JSON alone": bare_json,
}


def work_of(way: Way) -> dict[str, Callable[[], float]]:
    """Every task that a contestant has a part in."""
    work: dict[str, Callable[[], float]] = {}
    for name, (definition, messages) in MESSAGES.items():
        texts, read = [text(message) for message in messages], way.read(definition)
        work[f"read {name}"] = lambda read=read, texts=texts: seconds_each(read, texts)
        if way.write:
            models = [read(each) for each in texts]
            work[f"write {name}"] = lambda write=way.write, models=models: seconds_each(write, models)
    definition, messages = MESSAGES[STREAM]
    work["hold"] = lambda: bytes_each(way.read(definition), [text(message) for message in messages])
    if way.read_line:
        work["line"] = lambda read=way.read_line: seconds_each(read, [line(message) for message in messages])
    return work


def seconds_each(do: Callable[[Any], object], values: list[Any]) -> float:
    """The seconds that *do* takes for one value, in a round."""
    for value in values:
        do(value)
    count, started = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - started) < ROUND:
        for _ in range(max(100 // len(values), 1)):
            for value in values:
                do(value)
        count += max(100 // len(values), 1) * len(values)
    return elapsed / count


def bytes_each(read: Read, texts: list[bytes]) -> float:
    """The bytes that one message takes once it is read, as Python's allocator counts them."""
    read(texts[0])
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    held = [read(each) for _ in range(20) for each in texts]
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / len(held)


def main() -> None:
    answer_tasks(work_of(CONTESTANTS[sys.argv[1]]()))


if __name__ == "__main__":
    main()

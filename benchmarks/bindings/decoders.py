"""The shapes of `plain` as checked dictionaries: what pydantic-core takes before any object is made of them."""

from __future__ import annotations

import asyncio
import atexit
import gc
import importlib
import json
import sys
import time
import tracemalloc
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from pydantic import BaseModel
from pydantic_core import SchemaValidator

from benchmarks.bindings.messages import MESSAGES, STREAM, line, text
from benchmarks.race import answer_tasks


def validator_of(model: type[BaseModel]) -> SchemaValidator:
    """Return a decoder that reads the fields of *model*, and of models in it, into dictionaries."""
    model.model_rebuild()
    return SchemaValidator(_without_models(model.__pydantic_core_schema__))


def _without_models(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(map(_without_models, schema))
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "model":
        reference = {"ref": schema["ref"]} if "ref" in schema else {}
        return {"type": "typed-dict", "fields": _fields(schema), **reference}
    return {key: _without_models(value) for key, value in schema.items() if key not in ("metadata", "serialization")}


def _fields(model: Any) -> dict[str, Any]:
    return {
        name: {
            "type": "typed-dict-field",
            "schema": _without_models(field["schema"]),
            "validation_alias": field.get("validation_alias", name),
            "required": field["schema"]["type"] != "default",
        }
        for name, field in model["schema"]["fields"].items()
    }


Read: TypeAlias = Callable[[bytes], Any]
Write: TypeAlias = Callable[[Any], object]
Take: TypeAlias = Callable[[list[bytes]], object]

ROUND = 0.02
"""Seconds that one round takes, about."""


class Way(NamedTuple):
    """The functions of a contestant that read and write a definition, and that dispatch JSON-RPC messages."""

    read: Callable[[str], Read]
    write: Write | None
    take: Take | None = None


def one_by_one(take_line: Callable[[bytes], object]) -> Take:
    def take(lines: list[bytes]) -> None:
        for each in lines:
            take_line(each)

    return take


def handle(_session_id: object, _update: object) -> None:
    """The handler that every contestant calls with the content of a message."""


def ours() -> Way:
    from acp_bindings import decode, encode, v1  # noqa: PLC0415
    from acp_bindings.jsonrpc import Codec  # noqa: PLC0415

    def read(name: str) -> Read:
        return partial(decode, getattr(v1, name))

    read_line, handlers = Codec(v1, role="client").read, {"session/update": handle}

    def take(line: bytes) -> None:
        message: Any = read_line(line)
        handlers[message.method](message.params.session_id, message.params.update)

    return Way(read, encode, one_by_one(take))


def bare_json() -> Way:
    from pydantic_core import from_json  # noqa: PLC0415

    def take(line: bytes) -> None:
        params = from_json(line)["params"]
        handle(params["sessionId"], params["update"])

    return Way(lambda _name: from_json, None, one_by_one(take))


class OfficialClient:
    """The client of an application; of its handlers the lines come to one."""

    async def session_update(self, session_id: object, update: object, **_more: object) -> None:
        handle(session_id, update)


def official() -> Way:
    schema: Any = importlib.import_module("acp.schema")
    from acp.client.router import build_client_router  # noqa: PLC0415

    route = build_client_router(OfficialClient())

    def read(name: str) -> Read:
        return getattr(schema, name).model_validate_json

    def write(model: Any) -> object:
        return model.model_dump_json(by_alias=True, exclude_unset=True)

    def take(line: bytes) -> None:
        message = json.loads(line)
        handling = route(message["method"], message.get("params"), True)
        try:
            handling.send(None)
        except StopIteration:
            return
        raise AssertionError("it waits for something")

    return Way(read, write, one_by_one(take))


def official_connection() -> Way:
    schema: Any = importlib.import_module("acp.schema")
    from acp.client.router import build_client_router  # noqa: PLC0415

    def read(name: str) -> Read:
        type_ = getattr(schema, name)
        return lambda data: type_.model_validate(json.loads(data))

    def write(model: Any) -> bytes:
        plain = model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        return json.dumps(plain, separators=(",", ":")).encode()

    loop, wire = asyncio.new_event_loop(), Wire()

    async def connect() -> Any:
        from acp.connection import Connection  # noqa: PLC0415

        return Connection(build_client_router(wire), wire)

    connection = loop.run_until_complete(connect())
    atexit.register(lambda: loop.run_until_complete(connection.close()))
    return Way(read, write, lambda lines: loop.run_until_complete(wire.take(lines)))


class Wire(OfficialClient):
    """Lines that have arrived, and the client that the official connection brings them to."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._arrived, self._handled = asyncio.Event(), asyncio.Event()
        self._left = 0

    async def take(self, lines: list[bytes]) -> None:
        """Have all *lines* handled."""
        self._lines.extend(lines)
        self._left = len(lines)
        self._handled.clear()
        self._arrived.set()
        await self._handled.wait()

    async def receive(self) -> Any:
        """The next message, as its transport reads it."""
        while not self._lines:
            self._arrived.clear()
            await self._arrived.wait()
        return json.loads(self._lines.popleft().strip())

    async def close(self) -> None:
        """Nothing is open."""

    async def session_update(self, session_id: object, update: object, **_more: object) -> None:
        handle(session_id, update)
        self._left -= 1
        if not self._left:
            self._handled.set()


def plain() -> Way:
    models = importlib.import_module("benchmarks.bindings.plain")

    def read(name: str) -> Read:
        type_ = getattr(models, name)
        type_.model_rebuild()
        return type_.__pydantic_validator__.validate_json

    def write(model: Any) -> bytes:
        return model.__pydantic_serializer__.to_json(model, by_alias=True, exclude_unset=True)

    read_line = read("SessionUpdateLine")

    def take(line: bytes) -> None:
        params = read_line(line).params
        handle(params.session_id, params.update)

    return Way(read, write, one_by_one(take))


def dictionaries() -> Way:

    models = importlib.import_module("benchmarks.bindings.plain")
    read_line = validator_of(models.SessionUpdateLine).validate_json

    def take(line: bytes) -> None:
        params = read_line(line)["params"]
        handle(params["session_id"], params["update"])

    return Way(lambda name: validator_of(getattr(models, name)).validate_json, None, one_by_one(take))


def structs() -> Way:
    import msgspec  # noqa: PLC0415

    models = importlib.import_module("benchmarks.bindings.structs")
    read_line = msgspec.json.Decoder(models.SessionUpdateLine).decode

    def take(line: bytes) -> None:
        params = read_line(line).params
        handle(params.session_id, params.update)

    return Way(
        lambda name: msgspec.json.Decoder(getattr(models, name)).decode, msgspec.json.Encoder().encode, one_by_one(take)
    )


CONTESTANTS: dict[str, Callable[[], Way]] = {
    "ours": ours,
    "official": official,
    "its connection": official_connection,
    "plain pydantic": plain,
    "dictionaries": dictionaries,
    "msgspec": structs,
    "JSON alone": bare_json,
}


def work_of(way: Way) -> dict[str, Callable[[], float]]:
    """Return the tasks of a contestant."""
    work: dict[str, Callable[[], float]] = {}
    for name, (definition, messages) in MESSAGES.items():
        texts, read = [text(message) for message in messages], way.read(definition)
        work[f"read {name}"] = lambda read=read, texts=texts: seconds_each(read, texts)
        if way.write:
            models = [read(each) for each in texts]
            work[f"write {name}"] = lambda write=way.write, models=models: seconds_each(write, models)
    definition, messages = MESSAGES[STREAM]
    work["hold"] = lambda: bytes_each(way.read(definition), [text(message) for message in messages])
    if take := way.take:
        lines = [line(message) for message in messages]
        work["line"] = lambda: seconds_each(take, [lines]) / len(lines)
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

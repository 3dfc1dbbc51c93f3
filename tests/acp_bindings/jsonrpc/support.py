"""Lines to read, the codecs of both sides, and the expected responses."""

import json
from typing import Any

from acp_bindings import v1
from acp_bindings.jsonrpc import BadLine, Codec, ProtocolPackage


class Thorough(Codec):
    """A codec that fully parses every line."""

    def _read_quickly(self, line: bytes | bytearray) -> None:
        """Use the full parser."""


NEW_SESSION: dict[str, Any] = {"cwd": "/project", "mcpServers": []}


def line(**members: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **members})


def agent(protocol: ProtocolPackage = v1) -> Codec:
    return Codec(protocol, role="agent")


def client(protocol: ProtocolPackage = v1) -> Codec:
    return Codec(protocol, role="client")


def answered(message: object) -> Any:
    """Return the expected response to an invalid line."""
    assert isinstance(message, BadLine)
    assert message.reply is not None
    assert message.reply.endswith(b"\n")
    return json.loads(message.reply)


def error(id_: Any, code: int, message: str, **data: Any) -> Any:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message, **data}}

"""The quick way to read a line of JSON-RPC: its head tells what to expect, one validator reads the whole of it.

The readers give the members of a line, with `params` or `result` as an object of the method's type. They refuse, with a
`ValueError`, any line that is not just what its head makes it look like; `Codec` then takes it apart.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pydantic_core import SchemaValidator
from pydantic_core import core_schema as cs

from acp_bindings._text import TextReader, text_reader
from acp_bindings.codec import core_schema_of
from acp_bindings.methods import NotificationType

HEAD = re.compile(
    rb"""
    \s* \{
    (?: \s* (?: "jsonrpc" \s*:\s* "2\.0"
              | "id"      \s*:\s* (?P<id> 0 | -?[1-9]\d* | "[\x20!#-\[\]-~]*" | null )
              | "method"  \s*:\s* "(?P<method> [!#-\[\]-~]* )" )
        \s* , ){1,3}
    \s* "(?: params | (?P<result> result ) )"
    """,
    re.VERBOSE,
)
"""What a line begins with when the members before `params` or `result` are those of JSON-RPC, in any order.

Three at most: matching takes memory for each, and a line may have millions.
"""

LONGEST_HEAD = 200
"""How far into a line its head may go, to be remembered."""


@cache
def call_reader(type_: NotificationType, ids: Any) -> TextReader:
    """A reader of the calls of one method, requests when there are *ids* (`RequestId`), else notifications."""
    fields = {
        "method": cs.typed_dict_field(cs.literal_schema([type_.method])),
        "params": cs.typed_dict_field(core_schema_of(type_.params)),
    }
    return _reader(fields, ids, by_classes=isinstance(type_.params, type))


@cache
def response_reader(type_: Any, ids: Any) -> TextReader:
    """A reader of responses with results of *type_*."""
    return _reader({"result": cs.typed_dict_field(core_schema_of(type_))}, ids, by_classes=isinstance(type_, type))


def _reader(fields: dict[str, Any], ids: Any, *, by_classes: bool) -> TextReader:
    fields |= {"jsonrpc": cs.typed_dict_field(cs.literal_schema(["2.0"]))}
    if ids is not None:
        fields |= {"id": cs.typed_dict_field(core_schema_of(ids))}
    line = cs.typed_dict_schema(fields, extra_behavior="forbid", config=cs.CoreConfig(strict=True))
    return text_reader(SchemaValidator(line).validate_json, by_classes=by_classes)

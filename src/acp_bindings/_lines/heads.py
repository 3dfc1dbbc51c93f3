"""The quick way to take a line of JSON-RPC apart: a head that tells what to expect, and one value behind it.

Where that value is JSON, the line is, and has no other members than those of the head and this one. Any line that looks
different is left to `Codec` to take apart the long way.
"""

from __future__ import annotations

import re

HEAD = re.compile(
    rb"""
    \s* \{
    (?: \s* (?: (?P<marked> "jsonrpc" \s*:\s* "2\.0" )
              | "id"      \s*:\s* (?P<id> 0 | -?[1-9]\d* | "[\x20!#-\[\]-~]*" | null )
              | "method"  \s*:\s* "(?P<method> [!#-\[\]-~]* )" )
        \s* , ){1,3}
    \s* "(?: params | (?P<result> result ) )" \s* :
    """.replace(rb"\s", rb"[\x20\t\r\n]"),  # which is all the white space that JSON has
    re.VERBOSE,
)
"""What a line begins with when the members before `params` or `result` are those of JSON-RPC, in any order.

Three at most: matching takes memory for each, and a line may have millions.
"""

LONGEST_HEAD = 200
"""How far into a line its head may go, to be remembered."""

_BRACE = b"}"[0]


def value_after(line: bytes, head: int) -> bytes:
    """What stands in *line* between its first *head* bytes and the brace at its end; nothing where that is missing."""
    if line[-1] == _BRACE:
        return line[head:-1]
    brace = line.rfind(b"}")
    return b"" if line[brace + 1 :].strip(b" \t\r\n") else line[head:brace]

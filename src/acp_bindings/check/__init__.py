"""What is wrong with a message, a payload or a recorded conversation: the command `acp-bindings check`, and its parts.

    with open("conversation.ndjson", "rb") as lines:
        for found in Check(lines):
            print(found)

It needs pydantic alone, and does no I/O but for the command.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .checking import Check as Check
    from .found import Found as Found
    from .inputs import Unusable as Unusable
    from .report import SCHEMA as SCHEMA
    from .rules import RULES as RULES
    from .rules import Rule as Rule
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "checking": "Check",
            "command": "",
            "conversation": "",
            "found": "Found",
            "inputs": "Unusable",
            "likeness": "",
            "lines": "",
            "payloads": "",
            "places": "",
            "reading": "",
            "report": "SCHEMA",
            "rules": "RULES Rule",
            "said": "",
            "sessions": "",
            "speakers": "",
        },
    )

"""Find problems in a message, a payload or a recorded conversation, as the command `acp-bindings check` does.

    with open("conversation.ndjson", "rb") as lines:
        for found in Check(lines):
            print(found)

`LiveCheck` checks a conversation while it happens. Both require only pydantic. Only the command does I/O.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._checking import Check as Check
    from ._inputs import Unusable as Unusable
    from ._live import Found as Found
    from ._live import LiveCheck as LiveCheck
    from ._report import SCHEMA as SCHEMA
    from ._rules import RULES as RULES
    from ._rules.rule import Rule as Rule
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_checking": "Check",
            "_inputs": "Unusable",
            "_live": "Found LiveCheck",
            "_report": "SCHEMA",
            "_rules": "RULES",
            "_rules.rule": "Rule",
        },
    )

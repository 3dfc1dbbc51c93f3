"""What a reader excuses by the schema's own rules (`x-deserialize-…`), so that it is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from acp_bindings.check._conversation import Said
from acp_bindings.check._rules.rule import Look, rules
from acp_bindings.errors import Finding
from acp_bindings.setup.errors import Remark


@rules(
    {
        "warning": {
            "leniency.default-on-error": "A member has a value that it cannot have, and reads as its default.",
            "leniency.skip-invalid-items": "An item of a list is none, and is left out.",
            "leniency.default-on-null": "A member is null, which it cannot be, and reads as empty.",
        }
    }
)
def excused(said: Said) -> Iterator[Remark]:
    """What `decode` finds."""
    for each in said.findings:
        causes = tuple(replace(cause, path=cause.path[len(each.path) :]) for cause in each.causes)
        yield Remark((*said.at, *each.path), f"leniency.{each.rule}", str(Finding((), each.rule, causes)))


LOOKS: tuple[Look, ...] = (excused,)

"""The id of an answer to no request: whether an open request has it in another JSON type.

Some peers take all ids for text, or all numbers for floats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from acp_bindings.encoding import encode
from acp_bindings.errors import Issue
from acp_bindings.messages import Id


def issues_with_id(id_: object, open_: Mapping[Id, tuple[str, object]]) -> tuple[Issue, ...]:
    """What is wrong with *id_*, which is that of none of the *open_* requests; nothing where that cannot be told.

    Args:
        id_: any JSON value.
        open_: the method of each open request, and what else is known of it, by its id.
    """
    if isinstance(id_, bool) or not isinstance(id_, str | int | float):
        return ()
    # Not by going through those that are open: a peer that answers so may do so to very many.
    meant = next((each for each in _in_other_types(id_) if each in open_), ...)
    if meant is ...:
        return ()
    wrong, right = encode(id_).decode(), encode(meant).decode()
    return (Issue(("id",), "id_type", f"{wrong} is no id of ours; that of {open_[meant][0]} is {right}"),)


def _in_other_types(id_: str | float) -> Iterator[Id]:
    """What *id_* would be as an id of another type."""
    yield str(id_)
    if isinstance(id_, str) and re.fullmatch(r"0|-?[1-9]\d{0,18}", id_, re.ASCII):
        yield int(id_)
    elif id_ == "None":  # null, as Python spells it
        yield None
    elif isinstance(id_, float) and id_.is_integer():
        yield int(id_)

"""From the published schema to one that says outright what the generated code must be.

Each pass is one idea: a function from definitions to new definitions. Their order, which matters, is the list below.
What a pass works out that JSON Schema has no keyword for is put into `x-…` keywords of our own, which `render` reads.
"""

from __future__ import annotations

from collections.abc import Callable

from codegen.passes.answers import mark_notifications, mark_requests
from codegen.passes.bases import choose_bases
from codegen.passes.constants import merge_constants
from codegen.passes.numbers import bound_numbers
from codegen.passes.objects import collapse_optional_tags, hoist_inline_objects, hoist_meta
from codegen.passes.reading import mark_lenient, mark_secrets, settle_absence
from codegen.passes.tidy import drop_envelopes, keep_text, open_objects, unwrap_references
from codegen.passes.unions import name_list_arms, name_variants, open_notifications
from codegen.tree import Definitions

PASSES: list[Callable[[Definitions], Definitions]] = [
    drop_envelopes,
    unwrap_references,
    keep_text,
    open_objects,
    collapse_optional_tags,
    merge_constants,
    hoist_inline_objects,
    hoist_meta,
    open_notifications,
    name_list_arms,
    name_variants,
    mark_lenient,
    settle_absence,
    bound_numbers,
    mark_secrets,
    mark_requests,
    mark_notifications,
    choose_bases,
]


def normalise(defs: Definitions) -> Definitions:
    """*defs* after every pass, in order."""
    for each in PASSES:
        defs = each(defs)
    return defs

"""The passes that normalise a published schema for `render`.

Each pass is a function from definitions to new definitions. `PASSES` lists them in order, which matters. Results
for which JSON Schema has no keyword go into `x-…` keywords, which `render` reads.
"""

from __future__ import annotations

from collections.abc import Callable

from codegen.passes.bases import choose_bases, mark_notifications, mark_requests
from codegen.passes.objects import collapse_optional_tags, hoist_inline_objects, hoist_meta
from codegen.passes.reading import mark_lenient, mark_secrets, settle_absence
from codegen.passes.tidy import drop_envelopes, keep_text, open_objects, unwrap_references
from codegen.passes.unions import name_list_arms, name_variants, open_notifications
from codegen.passes.values import bound_numbers, merge_constants
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
    """Return *defs* after all passes."""
    for each in PASSES:
        defs = each(defs)
    return defs

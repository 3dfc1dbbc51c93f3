"""The places where the TypeScript SDK reads differently from us, each with a name and a reason.

A difference is described by the rewrite of a message, or of the value read from it, after which both agree: their
reading of the message equals our reading of the rewritten one, after its values have been rewritten too. So no part of
a message is excluded from the comparison, and a difference covers only what it describes.
"""

import json
from dataclasses import dataclass
from itertools import combinations

from tests.acp_bindings.exact_json import Json, same, spell
from tests.acp_bindings.schemas import Schema, load
from tests.interop import rewrites
from tests.interop.outcome import Outcome, Refused, agree, as_doubles, our_reading
from tests.interop.rewrites import Rewrite


@dataclass(frozen=True)
class Difference:
    """One difference between the readings. `shown_by` is a message that has this difference and no other."""

    name: str
    why: str
    shown_by: tuple[str, str, Json]
    message: Rewrite | None = None
    ours: Rewrite | None = None
    theirs: Rewrite | None = None


_STDIO: Json = {"name": "s", "command": "/bin/s", "args": [], "env": []}

DIFFERENCES: list[Difference] = [
    # in whether a message is read
    Difference(
        "more than 64 bits",
        "They leave the bounds of int64 and uint64 unchecked, since beyond 2^53 JavaScript has rounded already.",
        ("v1", "RequestId", -(2**64)),
        message=rewrites.within_64_bits,
        theirs=rewrites.within_64_bits,
    ),
    Difference(
        "1.0 for 1",
        "JavaScript has one kind of number, so 1.0 is an integer there. In JSON text it is not one to serde or to us.",
        ("v1", "ProtocolVersion", 1.0),
        message=rewrites.floats_as_integers,
    ),
    Difference(
        "format uri",
        "We take and keep any text, as the schema's formats are annotations; they take what `new URL` parses, trimmed.",
        ("v1", "ElicitationUrlMode", {"sessionId": "s", "elicitationId": "e", "url": "no url"}),
        message=rewrites.without_what_is_no_url,
    ),
    Difference(
        "format date-time",
        "We keep any text; their pattern refuses also what RFC 3339 allows: leap seconds, and t and z in lower case.",
        ("v2", "SessionInfoUpdate", {"updatedAt": "1990-12-31T23:59:60Z"}),
        message=rewrites.without_what_is_no_moment,
    ),
    Difference(
        "a known tag decides",
        "They try the branch without a tag on what a tagged one refuses: a broken http server would run as a command.",
        ("v1", "McpServer", {"type": "http", **_STDIO}),
        message=rewrites.without_tags_of_broken_branches,
    ),
    Difference(
        "the own tag of a branch",
        "A definition that is one branch of one union has the tag of that branch with us: it may be missing when the "
        "definition is read by itself, but not be another. With them only the union has it.",
        ("v1", "Terminal", {"terminalId": "t", "type": "diff"}),
        message=rewrites.without_a_foreign_tag,
    ),
    Difference(
        "unknown updates",
        "A notification cannot be refused, so we preserve the update of a newer peer; their v1 loses the notification.",
        ("v1", "SessionNotification", {"sessionId": "s", "update": {"sessionUpdate": "x-new"}}),
        message=rewrites.without_unknown_updates,
    ),
    Difference(
        "null for an empty result",
        "Peers answer so, and both sides read it as the empty object; they do it in front of the schemas.",
        ("v1", "AuthenticateResponse", None),
        message=rewrites.without_null_for_a_result,
    ),
    Difference(
        "__proto__",
        "To us a name like any other. In JavaScript it would change the object, so zod does not look at it.",
        ("v1", "TextContent", {"text": "t", "_meta": {"__proto__": 1}}),
        message=rewrites.without_prototypes,
    ),
    # in the value
    Difference(
        "unknown members",
        "We preserve unknown fields, so that a proxy loses nothing; zod removes them.",
        ("v1", "TextContent", {"text": "t", "x-vendor": 1}),
        ours=rewrites.without_unknown_members,
    ),
    Difference(
        "defaults written out",
        "An omitted field reads as its default with both. We omit it again when writing; they write the default.",
        ("v1", "PromptCapabilities", {}),
        ours=rewrites.with_defaults,
    ),
    Difference(
        "numbers as doubles",
        "We keep integers of any size and 1.0 as it is spelt; JavaScript rounds beyond 2^53 and writes 1.",
        ("v1", "ToolCallUpdate", {"toolCallId": "t", "rawInput": 2**53 + 1}),
        ours=rewrites.in_doubles,
    ),
]


@dataclass(frozen=True)
class Comparison:
    """The differences between two readings of a message: the `named` ones, and descriptions of all others."""

    named: tuple[str, ...]
    uncovered: str


def compare(package: str, definition: str, message: Json, theirs: Outcome) -> Comparison:
    """Find the fewest named differences that make the two readings of a message agree."""
    schema = load(package)
    ours = our_reading(package, definition, json.dumps(message))
    if agree(ours, theirs):
        return Comparison((), "")
    # Most differences are only in the value, and to look for those in the message takes most of the time.
    if found := _explain(schema, definition, message, theirs, ()):
        return found
    possible = [each for each in DIFFERENCES if _concerns(each, schema, definition, message)]
    for size in range(1, len(possible) + 1):
        for chosen in combinations(possible, size):
            if found := _explain(schema, definition, message, theirs, chosen):
                return found
    return Comparison((), f"we {_spell(ours)}, they {_spell(theirs)}")


def _concerns(difference: Difference, schema: Schema, definition: str, message: Json) -> bool:
    return difference.message is not None and not same(message, difference.message(schema, definition, message))


def _explain(
    schema: Schema, definition: str, message: Json, theirs: Outcome, chosen: tuple[Difference, ...]
) -> Comparison | None:
    """Return the comparison if the chosen differences, and any in the value, make both sides agree."""
    named = [each.name for each in chosen]
    for each in chosen:
        message = each.message(schema, definition, message) if each.message else message
        if each.theirs and not isinstance(theirs, Refused):
            theirs = each.theirs(schema, definition, theirs)
    ours = our_reading(schema.package, definition, json.dumps(message))
    if not isinstance(ours, Refused) and not isinstance(theirs, Refused):
        theirs = as_doubles(theirs)
        for each in DIFFERENCES:
            if each.ours and not same(rewritten := each.ours(schema, definition, ours), ours):
                ours = rewritten
                named.append(each.name)
    return Comparison(tuple(named), "") if agree(ours, theirs) else None


def _spell(outcome: Outcome) -> str:
    return f"refuse it ({'; '.join(outcome.why)})" if isinstance(outcome, Refused) else f"read {spell(outcome, 2000)}"

import copy
import random

import pytest

from codegen.build import PACKAGES
from codegen.partition import partition
from codegen.passes import PASSES, normalise
from codegen.passes.tidy import open_booleans
from codegen.tree import Definitions, walk
from tests.codegen.small import TEXT, Pass, obj, published

INLINE = {"Foo": obj(bar=obj(x=TEXT))}
"""A keyword that is not in any published schema."""


@pytest.fixture(scope="module")
def stages() -> dict[str, list[Definitions]]:
    """The two largest schemas and a small one, as the input of each pass."""
    found: dict[str, list[Definitions]] = {}
    for defs in [*(open_booleans(published(f"{version}/schema.unstable.json")) for version in ("v1", "v2")), INLINE]:
        for each in PASSES:
            found.setdefault(each.__name__, []).append(defs)
            defs = each(defs)  # noqa: PLW2901
    return found


@pytest.mark.parametrize("each", PASSES, ids=lambda each: each.__name__)
def test_a_pass_changes_nothing_in_place(each: Pass, stages: dict[str, list[Definitions]]) -> None:
    before = stages[each.__name__]
    untouched = copy.deepcopy(before)

    after = [each(defs) for defs in before]

    assert before == untouched
    assert after != before, "the schemas do not exercise this pass"


@pytest.mark.parametrize("file", PACKAGES)
def test_the_order_of_the_definitions_in_a_schema_decides_nothing(file: str) -> None:
    defs = open_booleans(published(file))
    shuffled = list(defs.items())
    random.Random(0).shuffle(shuffled)

    normalised, other = normalise(defs), normalise(dict(shuffled))

    assert other == normalised
    assert partition(other) == partition(normalised)


@pytest.mark.parametrize("file", PACKAGES)
def test_only_plain_keywords_remain_after_all_passes(file: str) -> None:
    normalised = normalise(open_booleans(published(file)))

    left = {keyword for node in normalised.values() for each in walk(node) for keyword in each}
    assert not left & {"oneOf", "not", "discriminator", "contentEncoding", "format", "x-docs-ignore"}
    assert not {keyword for keyword in left if keyword.startswith("x-deserialize")}

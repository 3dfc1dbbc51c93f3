"""The public list of the package."""

import acp_bindings.check


def test_the_public_names_are_these() -> None:
    names: list[str] = getattr(acp_bindings.check, "__all__")  # noqa: B009 - it is made when the package is loaded
    assert names == ["Check", "Found", "LiveCheck", "RULES", "Rule", "SCHEMA", "Unusable"]
    assert set(names) <= set(dir(acp_bindings.check))


def test_the_rules_are_of_known_families_and_have_ids_of_their_own() -> None:
    ids = [each.id for each in acp_bindings.check.RULES]
    assert ids == sorted(set(ids))
    assert {each.partition(".")[0] for each in ids} == {
        "capability",
        "leniency",
        "lifecycle",
        "offer",
        "path",
        "permission",
        "schema",
        "secret",
        "terminal",
        "tool-call",
        "turn",
    }

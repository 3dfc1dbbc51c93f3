"""The tag of a union: the constant that an alternative has, and the ones that a catch-all excludes."""

from __future__ import annotations

from codegen.tree import CodegenError, Node, arms

TAG = {"type", "const", "title", "description"}
"""What may be said of a tag."""

EXCLUDED = {"type", "properties", "required", "title", "description"}
"""What may be said of an excluded alternative, which has the tag alone."""


def constant(arm: Node, tag: str | None) -> str | None:
    """The tag of the alternative *arm*, or None where it has no constant of that name."""
    value: str | None = arm.get("properties", {}).get(tag, {}).get("const")
    return value


def check_catch_all(union: str, arm: Node, tag: str, known: list[str]) -> None:
    """See that the catch-all *arm* takes exactly the objects whose *tag* is a text other than those *known*.

    Raises:
        CodegenError: it excludes something else, or takes an object without a tag.
    """
    excluded = arms(arm["not"])
    for each in excluded:
        members = each.get("properties", {})
        if members.keys() != {tag} or each.keys() - EXCLUDED or members[tag].keys() - TAG:
            raise CodegenError(f"{union}: its catch-all excludes more than the tag {tag}, which would be lost")
    if lost := sorted(arm["not"].keys() - {"anyOf", "oneOf", "title", "description"}):
        raise CodegenError(f"{union}: its catch-all excludes by {', '.join(lost)} too, which would be lost")
    if {constant(each, tag) for each in excluded} != set(known):
        raise CodegenError(f"{union}: its catch-all excludes other tags than the alternatives have")
    if tag not in arm.get("required", []) or arm["properties"][tag].get("type") != "string":
        raise CodegenError(f"{union}: its catch-all takes objects whose {tag} is missing or no text")

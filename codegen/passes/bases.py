"""The base classes of each generated class, and the markers of params among them."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.methods import parts_of_methods
from codegen.naming import BASES, EXTENSIBLE, MODEL, RESPONSE
from codegen.tree import Definitions, Node, arms, is_class, kind, lineage, ref, target


def choose_bases(defs: Definitions) -> Definitions:
    """Choose the base class: `Model`, `Extensible` where `_meta` is allowed, `Response` for the result of a method.

    A class that extends its payload inherits the base class; `x-mixin` names an additional one.
    """
    return {name: _based(name, node, defs) for name, node in defs.items()}


def _based(name: str, node: Node, defs: Definitions) -> Node:
    if not is_class(node):
        return node
    parents = [parent for part in node.get("allOf", []) if (parent := target(part))]
    if parents:
        missing = "x-extensible" in node and not any(_extensible(parent, defs) for parent in parents)
        return node | ({"x-mixin": EXTENSIBLE} if missing else {})
    base = EXTENSIBLE if "x-extensible" in node else MODEL
    if base == EXTENSIBLE and kind(name, node) == "Response":
        base = RESPONSE
    return node | {"properties": node.get("properties", {}), "customBasePath": BASES + base}


def _extensible(name: str, defs: Definitions) -> bool:
    node = defs[name]
    return "x-extensible" in node or any(_extensible(target(part) or "", defs) for part in node.get("allOf", []))


ANYTHING = "Any"


def mark_requests(defs: Definitions) -> Definitions:
    """Put `x-responses` on the params of all requests: the names of the types of the response.

    If the params are a union, every class of it gets the keyword. A subclass inherits it, so its types are added to
    those of the topmost class that has the keyword.
    """
    calls = [(cls, response) for params, response in _requests(defs) for cls in _classes(ref(params), defs)]
    requests = {cls for cls, _ in calls}
    responses: dict[str, set[str]] = {}
    for cls, response in calls:
        family = [each for each in lineage(cls, defs) if each in requests]
        for each in family:
            if not requests.intersection(list(lineage(each, defs))[1:]):
                responses.setdefault(each, set()).add(response)
    marked = {name: [ANYTHING] if ANYTHING in found else sorted(found) for name, found in responses.items()}
    return {name: node | {"x-responses": marked[name]} if name in marked else node for name, node in defs.items()}


def mark_notifications(defs: Definitions) -> Definitions:
    """Put `x-notification` on the params of all notifications."""
    notifications = [parts["Notification"] for parts in parts_of_methods(defs).values() if "Notification" in parts]
    classes = {cls for params in notifications for cls in _classes(ref(params), defs)}
    return {name: node | {"x-notification": True} if name in classes else node for name, node in defs.items()}


def _requests(defs: Definitions) -> Iterator[tuple[str, str]]:
    """Yield the definitions of the params and of the response of every request, with aliases resolved."""
    for parts in parts_of_methods(defs).values():
        if "Request" in parts:
            response = parts.get("Response")
            while response and (meant := target(defs[response])):
                response = meant
            yield parts["Request"], response or ANYTHING


def _classes(node: Node, defs: Definitions) -> Iterator[str]:
    """Yield the classes whose instances *node* accepts."""
    if name := target(node):
        if is_class(defs[name]):
            yield name
        else:
            yield from _classes(defs[name], defs)
    for arm in arms(node):
        yield from _classes(arm, defs)

"""What the class of params tells type checkers: the type of the answer to a request, or that it is a notification."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.methods import parts_of_methods
from codegen.tree import Definitions, Node, arms, is_class, lineage, ref, target

ANYTHING = "Any"


def mark_requests(defs: Definitions) -> Definitions:
    """Put `x-responses` on the classes of all params: the names of the types that the request may be answered with.

    If params are a union, each class of it gets it. A subclass inherits it: its own answers are added to those of the
    topmost class that has some.
    """
    calls = [(cls, answer) for params, answer in _exchanges(defs) for cls in _classes(ref(params), defs)]
    asking = {cls for cls, _ in calls}
    answers: dict[str, set[str]] = {}
    for cls, answer in calls:
        family = [each for each in lineage(cls, defs) if each in asking]
        for each in family:
            if not asking.intersection(list(lineage(each, defs))[1:]):
                answers.setdefault(each, set()).add(answer)
    return {name: node | _said(answers[name]) if name in answers else node for name, node in defs.items()}


def mark_notifications(defs: Definitions) -> Definitions:
    """Put `x-notification` on the classes of the params of all notifications."""
    told = [parts["Notification"] for parts in parts_of_methods(defs).values() if "Notification" in parts]
    classes = {cls for params in told for cls in _classes(ref(params), defs)}
    return {name: node | {"x-notification": True} if name in classes else node for name, node in defs.items()}


def _said(answers: set[str]) -> Node:
    return {"x-responses": [ANYTHING] if ANYTHING in answers else sorted(answers)}


def _exchanges(defs: Definitions) -> Iterator[tuple[str, str]]:
    """The definition of the params of every request, and that of its answer, with aliases resolved."""
    for parts in parts_of_methods(defs).values():
        if "Request" in parts:
            answer = parts.get("Response")
            while answer and (meant := target(defs[answer])):
                answer = meant
            yield parts["Request"], answer or ANYTHING


def _classes(node: Node, defs: Definitions) -> Iterator[str]:
    """The classes of which an instance of *node* may be."""
    if name := target(node):
        if is_class(defs[name]):
            yield name
        else:
            yield from _classes(defs[name], defs)
    for arm in arms(node):
        yield from _classes(arm, defs)

import pytest

from codegen.partition import LARGE_FAMILY, domain, partition
from codegen.tree import Definitions, Node
from tests.codegen.small import TEXT, listed, obj, ref, refusal


def carries(method: str, *names: str) -> Node:
    """Return the parameters of a method that refer to the named definitions."""
    return obj(**{name.lower(): ref(name) for name in names}) | {"x-method": method, "x-side": "agent"}


@pytest.mark.parametrize(
    ("method", "kind", "expected"),
    [
        ("fs/read_text_file", "Request", "fs"),
        ("session/update", "Notification", "session_update"),
        ("session/update", "Request", "session"),
        ("session/cancel", "Notification", "session"),
        ("initialize", "Request", "connection"),
        ("$/cancel_request", "Notification", "connection"),
        ("a/b/c", "Request", "connection"),
        ("class/new", "Request", "connection"),
        ("_vendor/new", "Request", "connection"),
        ("2nd/new", "Request", "connection"),
    ],
)
def test_the_domain_of_a_method_is_its_area_if_that_is_a_module_name(method: str, kind: str, expected: str) -> None:
    assert domain(method, kind) == expected


def test_a_definition_belongs_to_its_only_domain_or_to_a_shared_module() -> None:
    defs = {
        "ReadRequest": carries("fs/read", "OnlyFs", "Everywhere"),
        "ReadResponse": carries("fs/read", "Deep"),
        "NewRequest": carries("session/new", "OnlySession", "InSession", "Everywhere"),
        "UpdateNotification": carries("session/update", "InSession", "OnlyUpdate"),
        "InitializeRequest": carries("initialize", "Everywhere"),
        "OnlyFs": obj(deep=ref("Deep")),
        "Deep": TEXT,
        "OnlySession": TEXT,
        "OnlyUpdate": TEXT,
        "InSession": TEXT,
        "Everywhere": TEXT,
    }

    assert partition(defs) == {
        "ReadRequest": "fs",
        "ReadResponse": "fs",
        "NewRequest": "session",
        "UpdateNotification": "session_update",
        "InitializeRequest": "connection",
        "OnlyFs": "fs",
        "Deep": "fs",
        "OnlySession": "session",
        "OnlyUpdate": "session_update",
        "InSession": "session_types",
        "Everywhere": "common",
    }


def test_a_domain_does_not_reach_into_types_of_other_domains() -> None:
    defs = {
        "ProxyRequest": carries("proxy/start", "InitializeRequest"),
        "InitializeRequest": carries("initialize", "Info"),
        "Info": TEXT,
    }

    assert partition(defs) == {"ProxyRequest": "proxy", "InitializeRequest": "connection", "Info": "connection"}


REACHED = {
    "ReadRequest": carries("fs/read", "Path", "Id"),
    "NewRequest": carries("session/new", "Mode", "Id"),
    "Path": obj(id=ref("Id")),
    "Mode": TEXT,
    "Id": TEXT,
}


@pytest.mark.parametrize(
    ("unreached", "expected"),
    [
        ({"Alone": TEXT}, {"Alone": "common"}),
        ({"Two": obj(a=ref("Path"), b=ref("Id"))}, {"Two": "fs"}),
        (
            {"A": obj(both=ref("Both"), path=ref("Path")), "Both": obj(a=ref("Path"), b=ref("Mode"))},
            {"A": "extras", "Both": "extras"},
        ),
        (
            {"B": listed(ref("A")), "A": listed(ref("Paths")), "Paths": listed(ref("Path"))},
            {"A": "fs", "B": "fs", "Paths": "fs"},
        ),
        ({"Tree": obj(path=ref("Path"), tree=ref("Tree")), "Wood": listed(ref("Tree"))}, {"Tree": "fs", "Wood": "fs"}),
        ({"Ping": obj(pong=ref("Pong")), "Pong": obj(ping=ref("Ping"))}, {"Ping": "common", "Pong": "common"}),
        (
            {"Ping": obj(pong=ref("Pong"), path=ref("Path")), "Pong": obj(ping=ref("Ping"))},
            {"Ping": "fs", "Pong": "fs"},
        ),
    ],
)
def test_an_unreached_definition_is_placed_with_its_parts(unreached: Definitions, expected: dict[str, str]) -> None:
    modules = partition(REACHED | unreached)

    reached = {"ReadRequest": "fs", "NewRequest": "session", "Path": "fs", "Mode": "session", "Id": "common"}
    assert modules == reached | expected


def with_family(size: int, union: str = "ContentBlock") -> Definitions:
    """Return a tagged union of *size* definitions, including itself, shared by `session` and `session_update`."""
    arms = [f"Arm{number}" for number in range(size - 1)]
    return {
        "NewRequest": carries("session/new", union, "Other"),
        "UpdateNotification": carries("session/update", union, "Other"),
        union: {"anyOf": [ref(arm) for arm in arms], "x-tag": "type"},
        **{arm: obj(shared=ref("Shared")) for arm in arms},
        "Shared": TEXT,
        "Other": obj(shared=ref("Shared")),
    }


def test_a_large_family_gets_a_module_and_its_dependencies_become_common() -> None:
    modules = partition(with_family(LARGE_FAMILY))

    arms = {f"Arm{number}": "content_block" for number in range(LARGE_FAMILY - 1)}
    assert modules == {
        "NewRequest": "session",
        "UpdateNotification": "session_update",
        "ContentBlock": "content_block",
        **arms,
        "Shared": "common",
        "Other": "session_types",
    }


def test_a_family_that_needs_another_one_stays_in_the_shared_module() -> None:
    defs = with_family(LARGE_FAMILY) | {f"Else{number}": obj() for number in range(LARGE_FAMILY - 2)}
    union = {"anyOf": [*(ref(f"Else{number}") for number in range(LARGE_FAMILY - 2)), ref("Holder")], "x-tag": "type"}
    holder = obj(content=ref("ContentBlock"))

    modules = partition(defs | {"Other": obj(a=ref("Tool")), "Tool": union, "Holder": holder})

    assert {modules[name] for name in ("Tool", "Holder", "Else0")} == {"session_types"}
    assert {modules[name] for name in ("ContentBlock", "Arm0")} == {"content_block"}


def test_a_family_needed_by_dependencies_of_another_is_not_moved() -> None:
    tool = {"anyOf": [ref(f"Else{number}") for number in range(LARGE_FAMILY - 1)], "x-tag": "type"}
    others = {f"Else{number}": obj(text=ref("Text")) for number in range(LARGE_FAMILY - 1)}
    defs = with_family(LARGE_FAMILY) | {"Shared": obj(tool=ref("Tool")), "Tool": tool, **others, "Text": TEXT}

    modules = partition(defs)

    assert {modules[name] for name in ("ContentBlock", "Arm0")} == {"content_block"}
    assert {modules[name] for name in ("Shared", "Tool", "Else0", "Text")} == {"common"}


@pytest.mark.parametrize(
    "defs",
    [
        with_family(LARGE_FAMILY - 1),
        with_family(LARGE_FAMILY, "Session"),
        with_family(LARGE_FAMILY) | {"Shared": obj(content=ref("ContentBlock"))},
    ],
    ids=["a small one", "named like a module", "in a cycle with its dependencies"],
)
def test_other_families_do_not_get_a_module(defs: Definitions) -> None:
    assert set(partition(defs).values()) == {"session", "session_update", "session_types"}


def test_a_type_of_a_method_that_is_named_after_nothing_is_refused() -> None:
    said = 'Read has "x-method", but its name does not end in Request, Response or Notification'

    assert refusal(partition, {"Read": carries("fs/read")}) == said


def test_indirect_import_cycles_are_refused() -> None:
    defs = {
        "ReadRequest": carries("fs/read", "NewRequest"),
        "NewRequest": carries("session/new", "StartRequest"),
        "StartRequest": carries("terminal/start", "ReadRequest"),
    }

    assert refusal(partition, defs) == "modules cannot import each other: fs and session and terminal"

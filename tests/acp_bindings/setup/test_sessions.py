"""The requests that create and reopen sessions, in the JSON of each version."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import acp_bindings
from acp_bindings import decode, encode, v1
from acp_bindings.setup._paths import NotAbsolute
from acp_bindings.setup._peer import AgentPeer
from acp_bindings.setup._records import SessionRecord
from acp_bindings.setup._requests import (
    close_session,
    delete_session,
    fork_session,
    list_sessions,
    load_session,
    new_session,
    resume_session,
)
from acp_bindings.setup.errors import CapabilityNotAdvertised, McpServersRefused
from tests.acp_bindings.setup.agents import ABLE, BARE, V1_ALL
from tests.acp_bindings.setup.peers import agent

FILES = v1.McpServerStdio(name="files", command="/bin/files", args=[], env=[])
ON_V1: dict[str, Any] = {"name": "files", "command": "/bin/files", "args": [], "env": []}
ON_V2: dict[str, Any] = {"type": "stdio"} | ON_V1
RECORD = SessionRecord(
    session_id="Sess_1 ", cwd="/home/me", additional_directories=("/data",), mcp_servers=(FILES,), prompted=True
)
AGAIN = {"sessionId": "Sess_1 ", "cwd": "/home/me", "additionalDirectories": ["/data"]}
LOADS = {"session.load"}
NAMES = ["v1", "v1_unstable", "v2", "v2_unstable"]
FIRST = ["v1", "v1_unstable"]
SECOND = ["v2", "v2_unstable"]


def sent(request: Any) -> Any:
    return decode(dict[str, Any], encode(request))


def listing(agent: AgentPeer, _: SessionRecord, **options: Any) -> Any:
    return list_sessions(agent, **options)


@pytest.mark.requirement("R45", "R64", "R66")
@pytest.mark.parametrize("name", NAMES)
def test_a_new_session_without_servers_sends_an_empty_list(name: str) -> None:
    assert sent(new_session(BARE[name], cwd="/home/me")) == {"cwd": "/home/me", "mcpServers": []}


@pytest.mark.requirement("R45", "R46")
@pytest.mark.parametrize(("name", "server"), [*((each, ON_V1) for each in FIRST), *((each, ON_V2) for each in SECOND)])
def test_a_new_session_gets_its_servers_in_the_form_of_the_version(name: str, server: Any) -> None:
    assert sent(new_session(BARE[name], cwd="/", mcp_servers=[FILES]))["mcpServers"] == [server]
    assert sent(new_session(BARE[name], cwd="/", mcp_servers=[ON_V2]))["mcpServers"] == [server]


@pytest.mark.requirement("R56", "R63", "R64")
@pytest.mark.parametrize("name", FIRST)
def test_a_load_in_v1_sends_the_servers_even_if_there_are_none(name: str) -> None:
    assert sent(load_session(ABLE[name], RECORD)) == AGAIN | {"mcpServers": [ON_V1]}
    empty = SessionRecord(session_id="s", cwd="/")
    assert sent(load_session(ABLE[name], empty)) == {"sessionId": "s", "cwd": "/", "mcpServers": []}


@pytest.mark.requirement("R56")
@pytest.mark.parametrize("name", SECOND)
def test_a_load_in_v2_is_a_resume_that_replays_from_the_start(name: str) -> None:
    assert sent(load_session(ABLE[name], RECORD)) == AGAIN | {
        "mcpServers": [ON_V2],
        "replayFrom": {"type": "start"},
    }


@pytest.mark.requirement("X1")
@pytest.mark.parametrize("name", NAMES)
def test_a_resume_does_not_request_the_history(name: str) -> None:
    server = ON_V1 if name in FIRST else ON_V2
    assert sent(resume_session(ABLE[name], RECORD)) == AGAIN | {"mcpServers": [server]}


@pytest.mark.parametrize("name", ["v1_unstable", "v2_unstable"])
def test_a_fork_sends_the_same_params_as_a_resume(name: str) -> None:
    request = fork_session(ABLE[name], RECORD)
    assert sent(request) == sent(resume_session(ABLE[name], RECORD))
    assert type(request).__name__ == "ForkSessionRequest"


@pytest.mark.parametrize("name", ["v1", "v2"])
def test_a_package_without_fork_refuses_it_even_if_assumed(name: str) -> None:
    says = f"session/fork: {name} does not have the capability session.fork"
    with pytest.raises(CapabilityNotAdvertised, match=says):
        fork_session(ABLE[name], RECORD)
    with pytest.raises(ValueError, match="session/fork is not a method"):
        fork_session(ABLE[name], RECORD, assume={"session.fork"})


@pytest.mark.requirement("R54", "R55", "R103", "X1", "X4")
@pytest.mark.parametrize(
    ("capability", "build"),
    [
        ("session.load", load_session),
        ("session.resume", resume_session),
        ("session.fork", fork_session),
        ("session.close", close_session),
        ("session.delete", delete_session),
        ("session.list", listing),
    ],
)
def test_an_unadvertised_method_is_refused_before_a_request_is_built(
    capability: str, build: Callable[..., Any]
) -> None:
    record = SessionRecord(session_id="s", cwd="/")
    with pytest.raises(CapabilityNotAdvertised) as raised:
        build(BARE["v1_unstable"], record)
    assert raised.value.capability == capability
    assert build(BARE["v1_unstable"], record, assume={capability}) == build(ABLE["v1_unstable"], record)


@pytest.mark.parametrize("name", SECOND)
def test_assuming_session_load_works_in_v2_without_its_method(name: str) -> None:
    without = agent(getattr(acp_bindings, name), {})
    with pytest.raises(CapabilityNotAdvertised) as raised:
        load_session(without, RECORD)
    assert (raised.value.capability, raised.value.method) == ("session.load", "session/resume")
    record = SessionRecord(session_id="s", cwd="/")
    request = load_session(without, record, assume={"session.load"})
    assert request == load_session(ABLE[name], record)
    with pytest.raises(CapabilityNotAdvertised):
        resume_session(without, record, assume={"session.load"})


@pytest.mark.parametrize("build", [load_session, resume_session, fork_session])
def test_a_missing_capability_is_reported_before_errors_of_the_record(build: Callable[..., Any]) -> None:
    with pytest.raises(CapabilityNotAdvertised):
        build(BARE["v1_unstable"], SessionRecord(session_id="s", cwd=".", mcp_servers=("files",)))


@pytest.mark.requirement("R69", "R87")
@pytest.mark.parametrize("build", [new_session, load_session, resume_session])
@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_server_that_the_agent_does_not_take_is_refused_before_there_is_anything_to_send(
    build: Callable[..., Any], transport: str
) -> None:
    server: dict[str, Any] = {"type": transport, "name": "search", "url": "https://h", "headers": []}
    stdio_only = agent(v1, V1_ALL | {"mcpCapabilities": {}})
    place: dict[str, Any] = {"cwd": "/"} if build is new_session else {"record": RECORD}
    with pytest.raises(McpServersRefused) as raised:
        build(stdio_only, **place, mcp_servers=[FILES, server])
    assert [(each.index, each.capability) for each in raised.value.refused] == [(1, f"mcp.{transport}")]
    request = build(stdio_only, **place, mcp_servers=[FILES, server], assume={f"mcp.{transport}"})
    assert sent(request)["mcpServers"] == [ON_V1, server]


@pytest.mark.requirement("X5")
@pytest.mark.parametrize("name", NAMES)
def test_all_additional_directories_are_sent_each_time(name: str) -> None:
    request = new_session(ABLE[name], cwd="/", additional_directories=["/a", "C:\\b"])
    assert sent(request)["additionalDirectories"] == ["/a", "C:\\b"]
    record = SessionRecord.of(request, "s")
    for build in (load_session, resume_session):
        assert sent(build(ABLE[name], record))["additionalDirectories"] == ["/a", "C:\\b"]


@pytest.mark.requirement("X5")
@pytest.mark.parametrize("name", NAMES)
def test_additional_directories_that_are_not_advertised_are_refused_and_never_dropped(name: str) -> None:
    builders: list[Callable[..., Any]] = [
        partial(new_session, BARE[name], cwd="/", additional_directories=["/a"]),
        partial(load_session, BARE[name], RECORD),
    ]
    for build in builders:
        with pytest.raises(CapabilityNotAdvertised) as raised:
            build(assume=LOADS)
        assert (raised.value.capability, raised.value.field) == (
            "session.additional_directories",
            "additionalDirectories",
        )
        assert "additionalDirectories" in sent(build(assume=LOADS | {"session.additional_directories"}))
    assert "additionalDirectories" not in sent(new_session(BARE[name], cwd="/"))


@pytest.mark.requirement("R50", "R100", "X5")
@pytest.mark.parametrize("path", ["", ".", "~", "a/b", "file:///a"])
@pytest.mark.parametrize("name", NAMES)
def test_a_path_that_is_not_absolute_is_never_sent(name: str, path: str) -> None:
    peer = ABLE[name]
    wrong = (
        SessionRecord(session_id="s", cwd=path),
        SessionRecord(session_id="s", cwd="/", additional_directories=("/a", path)),
    )
    with pytest.raises(NotAbsolute, match=r"^cwd: "):
        new_session(peer, cwd=path)
    with pytest.raises(NotAbsolute, match=r"^cwd: "):
        list_sessions(peer, cwd=path)
    with pytest.raises(NotAbsolute, match=r"^additionalDirectories\[0\]: "):
        new_session(peer, cwd="/", additional_directories=[path])
    for build in (load_session, resume_session):
        with pytest.raises(NotAbsolute, match=r"^cwd: "):
            build(peer, wrong[0])
        with pytest.raises(NotAbsolute, match=r"^additionalDirectories\[1\]: "):
            build(peer, wrong[1])


@pytest.mark.requirement("R50")
def test_the_flavour_of_the_agents_system_decides_which_paths_are_absolute() -> None:
    with pytest.raises(NotAbsolute, match="without a drive"):
        new_session(BARE["v1"], cwd="/home/me", flavour="windows")
    with pytest.raises(NotAbsolute, match="without a drive"):
        list_sessions(ABLE["v1"], cwd="/home/me", flavour="windows")


@pytest.mark.requirement("R101")
def test_an_id_is_sent_unchanged() -> None:
    assert (
        sent(close_session(ABLE["v1"], "Sess_1 "))
        == sent(delete_session(ABLE["v1"], RECORD))
        == {"sessionId": "Sess_1 "}
    )


@pytest.mark.parametrize("build", [load_session, resume_session, fork_session])
@pytest.mark.parametrize("session", ["sess_1", v1.SessionInfo(session_id="sess_1", cwd="/"), None])
def test_continuing_a_session_requires_a_record(build: Callable[..., Any], session: Any) -> None:
    said = rf"^{type(session).__name__} is not a SessionRecord; .*SessionRecord\(session_id=…, cwd=….*of_listed\(info"
    with pytest.raises(TypeError, match=said):
        build(ABLE["v1_unstable"], session, mcp_servers=[])


@pytest.mark.parametrize("build", [close_session, delete_session])
def test_ending_a_session_requires_only_its_id(build: Callable[..., Any]) -> None:
    for wrong in (None, 5, b"sess_1", {"sessionId": "sess_1"}):
        with pytest.raises(
            TypeError, match=f"^{type(wrong).__name__} is not a session; pass its id or its SessionRecord"
        ):
            build(ABLE["v1"], wrong)


@pytest.mark.requirement("R99")
@pytest.mark.parametrize(("old", "new"), [(one, other) for one in NAMES for other in NAMES])
def test_a_record_of_one_package_can_be_loaded_in_any_other(old: str, new: str) -> None:
    record = SessionRecord.of(new_session(ABLE[old], cwd="/a", mcp_servers=[FILES]), "s")
    request = load_session(ABLE[new], SessionRecord.from_json(record.to_json()).with_servers([FILES]))
    assert request == load_session(ABLE[new], record)


@pytest.mark.requirement("X10")
@pytest.mark.parametrize("build", [load_session, resume_session])
def test_given_servers_replace_all_servers_of_the_record(build: Callable[..., Any]) -> None:
    other = ON_V1 | {"name": "other"}
    assert sent(build(ABLE["v1"], RECORD, mcp_servers=[other]))["mcpServers"] == [other]
    assert sent(build(ABLE["v1"], RECORD, mcp_servers=[]))["mcpServers"] == []


@pytest.mark.requirement("R65")
def test_meta_is_sent_unchanged() -> None:
    meta = {"vendor.key": {"cwd": "/elsewhere"}, "mcpServers": 5}
    for request in (
        new_session(ABLE["v1"], cwd="/", meta=meta),
        load_session(ABLE["v2"], RECORD, meta=meta),
        list_sessions(ABLE["v1"], meta=meta),
        close_session(ABLE["v1"], "s", meta=meta),
    ):
        assert sent(request)["_meta"] == meta
    assert "_meta" not in sent(new_session(ABLE["v1"], cwd="/"))
    assert sent(new_session(ABLE["v1"], cwd="/", meta={}))["_meta"] == {}


@pytest.mark.parametrize("name", NAMES)
def test_sessions_are_listed_by_directory_and_any_cursor(name: str) -> None:
    assert sent(list_sessions(ABLE[name])) == {}
    assert sent(list_sessions(ABLE[name], cwd="/a", cursor="")) == {"cwd": "/a", "cursor": ""}


def test_the_types_of_the_requests_are_those_that_the_package_sends() -> None:
    for name, peer in ABLE.items():
        requests = {
            "session/new": new_session(peer, cwd="/"),
            "session/load" if name in FIRST else "session/resume": load_session(peer, RECORD),
            "session/resume": resume_session(peer, RECORD),
            "session/close": close_session(peer, RECORD),
            "session/delete": delete_session(peer, RECORD),
            "session/list": list_sessions(peer),
        }
        for method, request in requests.items():
            type_ = peer.protocol.METHODS.request_with(request)
            assert type_ is not None
            assert type_.method == method

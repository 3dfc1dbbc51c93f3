"""Updates in the right and the wrong order: which are history, which are new, and that none is lost."""

import pickle
from typing import Any

import pytest

from acp_bindings import v1, v2
from acp_bindings.setup._records import SessionRecord
from acp_bindings.setup._requests import load_session, resume_session
from acp_bindings.setup._updates import ReplayCollector, Update
from acp_bindings.setup.errors import SessionIdReused
from tests.acp_bindings.setup.agents import ABLE

Collector = ReplayCollector[v1.SessionNotification]
CollectorV2 = ReplayCollector[v2.UpdateSessionNotification]
RECORD = SessionRecord(session_id="s", cwd="/", prompted=True)
LOAD, RESUME = load_session(ABLE["v1"], RECORD), resume_session(ABLE["v1"], RECORD)


def user(text: str, session_id: str = "s") -> v1.SessionNotification:
    return v1.SessionNotification(session_id=session_id, update=v1.UserMessageChunk(content=v1.TextContent(text=text)))


def agent(text: str, session_id: str = "s") -> v1.SessionNotification:
    return v1.SessionNotification(session_id=session_id, update=v1.AgentMessageChunk(content=v1.TextContent(text=text)))


def in_v2(update: v2.SessionUpdate) -> v2.UpdateSessionNotification:
    return v2.UpdateSessionNotification(session_id="s", update=update)


HELLO: list[v2.ContentBlock] = [v2.TextContent(text="Hello")]
SAID = in_v2(v2.UserMessage(message_id="m", content=HELLO))
RUNNING, IDLE = in_v2(v2.SessionStateUpdateRunning()), in_v2(v2.SessionStateUpdateIdle())


def replayed(*notifications: v1.SessionNotification) -> list[Update[v1.SessionNotification]]:
    return [Update(each, replay=True) for each in notifications]


def live(*notifications: v1.SessionNotification) -> list[Update[v1.SessionNotification]]:
    return [Update(each, replay=False) for each in notifications]


def rules(updates: ReplayCollector[Any]) -> list[str]:
    return [each.rule for each in updates.remarks]


@pytest.mark.requirement("R57", "R58")
def test_history_is_collected_in_order_until_the_response() -> None:
    updates = Collector()
    assert updates.expect(LOAD) == []
    said = [user("Hello"), agent("Hi"), user("More"), agent("Yes")]
    assert [each for notification in said for each in updates.receive(notification)] == replayed(*said)
    assert updates.opened("s") == tuple(said)
    assert updates.remarks == []


@pytest.mark.requirement("R58", "R62")
def test_updates_after_the_response_are_new() -> None:
    updates = Collector()
    updates.expect(LOAD)
    updates.receive(user("Hello"))
    updates.opened("s")
    updates.prompted("s")
    assert updates.receive(agent("Hi")) == live(agent("Hi"))
    assert updates.opened("s") == ()


@pytest.mark.requirement("R58")
def test_the_session_is_known_before_the_load_is_sent() -> None:
    """If the client registers too late, the updates that arrived before still count as history."""
    updates = Collector()
    assert updates.receive(user("Hello")) == []
    assert updates.expect(LOAD) == replayed(user("Hello"))
    updates.receive(agent("Hi"))
    assert updates.opened("s") == (user("Hello"), agent("Hi"))


@pytest.mark.requirement("R60")
def test_late_history_is_history_with_one_remark() -> None:
    updates = Collector()
    updates.expect(LOAD)
    updates.receive(user("Hello"))
    assert updates.opened("s") == (user("Hello"),)
    assert updates.receive(agent("Hi")) == replayed(agent("Hi"))
    assert rules(updates) == []
    assert updates.receive(user("More")) == replayed(user("More"))
    updates.receive(user("Still more"))
    assert rules(updates) == ["replay-after-answer"]
    assert updates.remarks[0].facts == {"sessionId": "s", "sessionUpdate": "user_message_chunk"}
    updates.prompted("s")
    assert updates.receive(user("New")) == live(user("New"))


def test_settings_after_the_response_are_news() -> None:
    updates = Collector()
    updates.expect(LOAD)
    updates.opened("s")
    mode = v1.SessionNotification(session_id="s", update=v1.CurrentModeUpdate(current_mode_id="code"))
    assert updates.receive(mode) == live(mode)


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_a_running_agent_of_v2_sends_after_the_response_is_news(when: str) -> None:
    updates = CollectorV2()
    updates.expect(load_session(ABLE["v2"], RECORD))
    message = in_v2(v2.AgentMessage(message_id="m"))
    if when == "before":
        updates.receive(RUNNING)
    updates.opened("s")
    if when == "after":
        assert [each.replay for each in updates.receive(message)] == [True]
        updates.receive(RUNNING)
    assert [each.replay for each in updates.receive(message)] == [False]


def test_a_whole_message_of_the_user_is_late_history_too() -> None:
    updates = CollectorV2()
    updates.expect(load_session(ABLE["v2"], RECORD))
    updates.opened("s")
    updates.receive(SAID)
    assert rules(updates) == ["replay-after-answer"]


@pytest.mark.requirement("X1")
def test_a_resume_has_no_history() -> None:
    updates = Collector()
    updates.expect(RESUME)
    assert updates.receive(agent("Hi")) == live(agent("Hi"))
    assert rules(updates) == []
    assert updates.receive(user("Hello")) == live(user("Hello"))
    assert rules(updates) == ["replay-on-resume"]
    assert updates.opened("s") == ()


@pytest.mark.requirement("R44", "R58")
def test_sessions_do_not_mix() -> None:
    updates = Collector()
    updates.expect(LOAD)
    updates.created("other")
    mixed = [user("a"), user("b", "other"), agent("c"), agent("d", "other")]
    assert [each.replay for notification in mixed for each in updates.receive(notification)] == [
        True, False, True, False,
    ]  # fmt: skip
    assert updates.opened("s") == (user("a"), agent("c"))


@pytest.mark.requirement("X11")
def test_updates_of_an_unknown_session_are_stored() -> None:
    updates = Collector()
    early = [agent("1", "new"), agent("x", "unheard"), agent("2", "new")]
    assert [updates.receive(each) for each in early] == [[], [], []]
    assert updates.created("new") == live(early[0], early[2])
    assert updates.receive(agent("3", "new")) == live(agent("3", "new"))
    assert updates.created("unheard") == live(early[1])


@pytest.mark.requirement("X11")
def test_in_v2_the_state_may_precede_or_follow_the_response() -> None:
    updates = CollectorV2()
    assert updates.receive(RUNNING) == []
    assert updates.created("s") == [Update(RUNNING, replay=False)]
    assert updates.receive(IDLE) == [Update(IDLE, replay=False)]

    updates.expect(load_session(ABLE["v2"], RECORD))
    assert updates.receive(SAID) == [Update(SAID, replay=True)]
    assert updates.receive(IDLE) == [Update(IDLE, replay=True)]
    assert updates.opened("s") == (SAID, IDLE)

    updates.expect(resume_session(ABLE["v2"], RECORD))
    assert updates.receive(IDLE) == [Update(IDLE, replay=False)]
    assert updates.opened("s") == ()
    assert updates.remarks == []


@pytest.mark.requirement("X11")
def test_only_the_latest_stored_updates_are_kept() -> None:
    updates = Collector(keep=2)
    for number in range(4):
        updates.receive(agent(str(number), f"s{number}"))
    assert [updates.created(f"s{number}") for number in range(4)] == [
        [],
        [],
        live(agent("2", "s2")),
        live(agent("3", "s3")),
    ]
    assert updates.remarks == []


@pytest.mark.requirement("R47")
def test_a_reused_id_is_an_error() -> None:
    updates = Collector()
    updates.created("s")
    with pytest.raises(SessionIdReused, match='the id "s" of another session') as raised:
        updates.created("s")
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    updates.closed("s")
    with pytest.raises(SessionIdReused):
        updates.created("s")


@pytest.mark.requirement("R101")
def test_ids_are_compared_exactly() -> None:
    updates = Collector()
    updates.created("s")
    assert updates.receive(agent("x", "S")) == updates.receive(agent("x", "s ")) == []
    assert updates.created("S") == live(agent("x", "S"))


def test_a_load_that_failed_leaves_nothing_behind() -> None:
    updates = Collector()
    updates.expect(LOAD)
    updates.receive(user("half"))
    updates.failed("s")
    updates.failed("never heard of")
    updates.prompted("never heard of")
    assert updates.created("s") == []
    updates.expect(LOAD)
    updates.receive(user("whole"))
    assert updates.opened("s") == (user("whole"),)


def test_a_failed_second_load_restores_the_session() -> None:
    updates = Collector()
    updates.created("s")
    updates.expect(LOAD)
    updates.failed("s")
    assert updates.receive(agent("news")) == live(agent("news"))
    updates.closed("s")
    updates.expect(LOAD)
    updates.failed("s")
    assert updates.receive(agent("late")) == []


def test_updates_of_an_unexpected_session_are_its_history() -> None:
    updates = Collector()
    updates.receive(user("Hello"))
    assert updates.opened("s") == (user("Hello"),)
    assert updates.receive(agent("news")) == live(agent("news"))
    assert updates.opened("s") == ()


def test_a_session_that_is_loaded_again_has_its_history_again() -> None:
    updates = Collector()
    for _ in range(2):
        updates.expect(LOAD)
        updates.receive(user("Hello"))
        assert updates.opened("s") == (user("Hello"),)
        updates.closed("s")
    assert updates.remarks == []


def test_updates_of_a_closed_session_are_dropped_with_one_remark() -> None:
    updates = Collector()
    for each in ("s", "other"):
        updates.created(each)
        updates.closed(each)
    assert updates.receive(agent("x")) == updates.receive(agent("y")) == []
    assert [(each.rule, each.severity) for each in updates.remarks] == [("update-after-close", "error")]
    updates.prompted("s")
    assert updates.receive(agent("z")) == []
    updates.receive(agent("x", "other"))
    remark, other = updates.remarks
    assert other.facts["sessionId"] == "other"
    assert (remark.path, remark.facts) == (("update",), {"sessionId": "s", "sessionUpdate": "agent_message_chunk"})


def test_a_prompt_in_the_middle_of_a_load_does_not_end_its_history() -> None:
    updates = Collector()
    updates.expect(LOAD)
    updates.prompted("s")
    assert updates.receive(user("old")) == replayed(user("old"))

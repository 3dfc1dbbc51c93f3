"""`probe`: its options, its report, and agents that cannot be tried."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from acp_bindings.check import Check
from acp_bindings.connection import CannotStart
from acp_bindings.probe import CHECKS, Result, probe
from acp_bindings.probe._probed_session import needs_login
from tests.acp_bindings.probe.mutants import AGENT

LOCKED = [*AGENT, "auth.login"]
"""An agent that requires a login, which does not help."""


@pytest.mark.anyio
async def test_only_and_skip_name_checks_and_families() -> None:
    report = await probe(AGENT, only=["negotiation", "sessions.new"], skip=["negotiation.newer-version"], timeout=5)

    ids = [each.check.id for each in report.results]
    assert ids[0] == "negotiation.initialize"
    assert ids[-1] == "sessions.new"
    assert "negotiation.newer-version" not in ids
    assert not report.has_failed


def test_importing_a_name_without_the_extra_names_the_package_to_install() -> None:
    code = "import sys; sys.modules['anyio'] = None; from acp_bindings.probe import probe"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)
    says = "ImportError: acp_bindings.probe.probe needs anyio: pip install 'acp-bindings[connection]'"
    assert done.stderr.splitlines()[-1] == says


@pytest.mark.anyio
async def test_an_unknown_check_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"unknown check 'sessions\.newer'"):
        await probe(AGENT, only=["sessions.newer"])


@pytest.mark.anyio
async def test_a_version_other_than_1_and_2_is_an_error() -> None:
    with pytest.raises(ValueError, match="version must be 1 or 2"):
        await probe(AGENT, version=3)


@pytest.mark.anyio
async def test_an_agent_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(CannotStart, match="command not found"):
        await probe(["no-such-agent"])


@pytest.mark.anyio
async def test_each_result_is_reported_when_it_is_there() -> None:
    seen: list[Result] = []

    report = await probe(AGENT, only=["negotiation"], timeout=5, done=seen.append)

    assert seen == report.results
    assert report.agent == "correct 1.0"


@pytest.mark.anyio
async def test_an_agent_that_exits_fails_once_and_the_rest_is_skipped() -> None:
    report = await probe([sys.executable, "-c", "print(1/0)"], timeout=5)

    first, *rest = report.results
    assert (first.check.id, first.status) == ("negotiation.initialize", "fail")
    assert "exited with status 1" in first.message
    assert "ZeroDivisionError" in first.message
    assert first.cure.startswith("The agent must start")
    assert {each.status for each in rest} == {"skip"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("agent.js:1\nrun(config.model);\n           ^\n\nTypeError: no model", "", "TypeError: no model"),
        (
            "Error: Cannot find module 'sdk'\nRequire stack:\n- /agent.js",
            " {\n  code: 'X'\n}",
            "Error: Cannot find module",
        ),
        ("node:internal\n\nOops: no model", "", "Oops: no model"),
    ],
)
async def test_of_a_stack_trace_of_node_the_error_is_shown(before: str, after: str, shown: str) -> None:
    trace = f"{before}\n    at run (agent.js:1:1){after}\n\nNode.js v20.20.2\n"

    report = await probe([sys.executable, "-c", f"import sys; sys.exit({trace!r})"], timeout=5, only=["negotiation"])

    assert f"wrote to standard error: {shown}" in report.results[0].message


@pytest.mark.full
@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_what_needs_a_login_is_skipped(version: int) -> None:
    report = await probe(LOCKED, version=version, timeout=3)

    assert not report.has_failed
    by_id = {each.check.id: each for each in report.results}
    assert by_id["prompts.turn"].status == "skip"
    assert "requires a login" in by_id["prompts.turn"].message
    assert by_id["messages.ids"].status == "ok"


@pytest.mark.parametrize(
    ("message", "is_of_login"),
    [
        ("Authentication required", True),
        ("you are not authorized", True),
        ("requiresLogin", True),
        ("No account:\nlog in first", True),
        ("You have to sign in (https://example.com/login)", True),
        ("Not logged in", True),
        ("Internal error; see the log in the home directory", False),
        ("Internal error, logged in /tmp/agent.log", False),
        ("cannot open a dialog in this mode", False),
        ("a mistake of the design in use", False),
        ("the author is unknown", False),
        ("KeyError: 'api_key'", False),
        ("TypeError: credentials must be a str", False),
    ],
)
def test_an_error_is_about_a_login_if_it_says_so(message: str, is_of_login: bool) -> None:
    for error in ({"code": -32603, "message": message}, {"code": -32603, "message": "", "data": {"details": message}}):
        assert needs_login(error) == is_of_login


@pytest.mark.anyio
async def test_what_needs_a_session_fails_once() -> None:
    report = await probe([*AGENT, "sessions.new/refused"], timeout=3)

    assert [each.check.id for each in report.results if each.status == "fail"] == ["sessions.new"]
    (unknown_fields,) = [each for each in report.results if each.check.id == "messages.unknown-fields"]
    assert (unknown_fields.status, unknown_fields.message) == ("skip", "`session/new` is refused")


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_a_cancelled_turn_that_ends_with_an_error_fails_once(version: int) -> None:
    report = await probe([*AGENT, "prompts.cancel/error"], version=version, only=["prompts", "permission"], timeout=5)

    assert [each.check.id for each in report.results if each.status == "fail"] == ["prompts.cancel"]
    skipped = {each.check.id for each in report.results if each.message == "it needs what failed in prompts.cancel"}
    assert skipped == {
        "prompts.cancel-at-once",
        "prompts.cancel-twice",
        "prompts.after-cancel",
        "permission.cancelled",
    }


@pytest.mark.anyio
async def test_a_second_session_that_ends_the_agent_fails_once(tmp_path: Path) -> None:
    only = ["messages.unknown-fields", "sessions.unique", "prompts.output", "prompts.cancel", "conversation"]

    report = await probe(_script(tmp_path, ONCE), only=only, timeout=3)

    first, *rest = report.results
    assert (first.check.id, first.status) == ("messages.unknown-fields", "fail")
    assert first.message.endswith("another `session/new` on the connection; the agent exited with status 3")
    statuses = {each.check.id: each.status for each in rest}
    assert statuses["sessions.unique"] == statuses["prompts.cancel"] == "skip"
    assert statuses["prompts.output"] == "warn"
    assert statuses["conversation.path"] == "ok"
    assert "fail" not in statuses.values()


@pytest.mark.anyio
async def test_an_agent_that_always_ends_in_a_prompt_fails_one_check_of_its_conversation(tmp_path: Path) -> None:
    report = await probe(_script(tmp_path, CRASHING), only=["conversation"], timeout=3)

    assert [each.check.id for each in report.results if each.status == "fail"] == ["conversation.stdout"]


@pytest.mark.anyio
async def test_a_turn_in_which_the_agent_ends_was_not_silent(tmp_path: Path) -> None:
    (result,) = (await probe(_script(tmp_path, CRASHING), only=["prompts.turn"], timeout=3)).results

    assert result.message.startswith("the turn has not ended; the agent exited with status ")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("allowed.session-before-initialize", 1),
        ("allowed.no-provider", 1),
        ("allowed.greeting", 1),
        ("allowed.greeting", 2),
        ("allowed.login-in-turn", 1),
        ("allowed.login-in-turn", 2),
        ("allowed.cancel-before-insertion", 2),
        ("allowed.extensions", 2),
        ("prompts.turn/without-reason", 2),
        ("allowed.relative-cwd", 1),
        ("allowed.relative-cwd", 2),
        ("allowed.delete", 1),
        ("allowed.delete", 2),
        ("allowed.load", 1),
        ("allowed.load", 2),
    ],
)
async def test_what_the_protocol_allows_is_not_a_failure(name: str, version: int) -> None:
    only = ["negotiation.before-initialize", "sessions.missing-prompt", "sessions.load-equal", "prompts.turn"]
    only += ["sessions.new", "sessions.relative-cwd", "sessions.delete", "prompts.cancel-at-once", "conversation"]
    only += ["permission.question", "permission.reject", "sessions.load"]

    report = await probe([*AGENT, name], version=version, only=only, timeout=5)

    assert [each for each in report.results if each.status == "fail"] == []


@pytest.mark.anyio
async def test_an_agent_that_says_nothing_fails_only_one_check() -> None:
    only = ["prompts.output", "prompts.two-sessions"]

    report = await probe([*AGENT, "prompts.output"], only=only, timeout=5)

    assert [each.status for each in report.results] == ["warn", "ok"]


@pytest.mark.anyio
@pytest.mark.parametrize(("variant", "said"), [("", "claims version 65535"), ("/refused", "refuses")])
async def test_the_answer_to_a_newer_version_is_named(variant: str, said: str) -> None:
    check = "negotiation.newer-version"

    (result,) = (await probe([*AGENT, f"{check}{variant}"], only=[check], timeout=5)).results

    assert result.message == f"the agent {said}, in place of a version that it supports"


@pytest.mark.anyio
async def test_lines_of_white_space_are_no_failure(tmp_path: Path) -> None:
    agent = _script(tmp_path, 'print("  ", flush=True)\n' + START)

    (result,) = (await probe(agent, only=["conversation.stdout"], timeout=5)).results

    assert (result.status, result.message) == ("ok", "")


@pytest.mark.anyio
async def test_a_line_that_the_agent_does_not_read_is_shown(tmp_path: Path) -> None:
    agent = _script(tmp_path, UNFINISHED + "        __import__('time').sleep(60)\n")

    (result,) = (await probe(agent, only=["messages.huge-line"], timeout=3)).results

    assert (result.status, result.message) == ("fail", "the agent has not read a line within 3 s")


@pytest.mark.anyio
async def test_version_1_has_no_extensions_of_stop_reasons() -> None:
    (result,) = (await probe([*AGENT, "allowed.extensions"], only=["prompts.turn"], timeout=5)).results

    assert (result.status, result.message) == ("fail", "the stop reason is '_over_budget'")


@pytest.mark.anyio
async def test_a_turn_may_end_with_an_error_after_a_permission_request_got_one() -> None:
    (result,) = (await probe([*AGENT, "permission.reject/error"], only=["permission.error"], timeout=5)).results

    assert (result.status, result.message) == ("ok", "")


@pytest.mark.anyio
async def test_permission_is_given_again_after_the_checks_that_refuse_it() -> None:
    only = ["permission.reject", "permission.error", "client-methods.refused"]

    *_, result = (await probe([*AGENT, "client-methods.refused"], only=only, timeout=5)).results

    assert (result.status, result.message) == ("warn", "the prompt was answered with an error")


@pytest.mark.anyio
async def test_each_response_to_initialize_may_have_its_own_metadata(tmp_path: Path) -> None:
    agent = START.replace("1}", '1, "_meta": {"process": __import__("os").getpid()}}')

    (result,) = (await probe(_script(tmp_path, agent), only=["negotiation.unknown-fields"], timeout=5)).results

    assert (result.status, result.message) == ("ok", "")


@pytest.mark.anyio
@pytest.mark.parametrize(("version", "starts"), [(1, "/late"), (2, "")])
async def test_an_agent_may_ask_for_permission_only_for_the_tools_of_servers(version: int, starts: str) -> None:
    agent = [*AGENT, f"allowed.only-server-tools{starts}"]

    report = await probe(agent, version=version, only=["permission"], timeout=5)

    assert [each.status for each in report.results] == ["ok"] * 5


@pytest.mark.anyio
async def test_a_batch_may_be_served() -> None:
    (result,) = (await probe([*AGENT, "allowed.batch"], only=["messages.batch"], timeout=5)).results

    assert (result.status, result.message) == ("ok", "")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "check", "status"),
    [
        ("messages.unasked-response/answer", "messages.unasked-response", "fail"),
        ("allowed.id-of-a-wrong-line", "messages.malformed", "ok"),
    ],
)
async def test_only_one_check_judges_the_answer_to_a_wrong_message(name: str, check: str, status: str) -> None:
    report = await probe([*AGENT, name], only=[check, "conversation.lifecycle"], timeout=5)

    assert [each.status for each in report.results] == [status, "ok"]


@pytest.mark.anyio
async def test_a_method_that_is_not_advertised_may_be_refused_for_its_params(tmp_path: Path) -> None:
    agent = _refusing(-32602, "Invalid params")

    (result,) = (await probe(_script(tmp_path, agent), only=["capabilities.list-unadvertised"], timeout=5)).results

    assert (result.status, result.message) == ("ok", "")


@pytest.mark.anyio
async def test_a_login_that_does_not_help_is_a_failure() -> None:
    report = await probe(LOCKED, only=["auth.login"], auth="none", timeout=5)

    assert report.has_failed


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_a_login_with_a_method_of_the_agent_succeeds(version: int) -> None:
    (result,) = (await probe(AGENT, version=version, only=["auth.login"], auth="none", timeout=5)).results

    assert (result.status, result.message) == ("ok", "")


@pytest.mark.anyio
async def test_a_refused_login_is_about_auth(tmp_path: Path) -> None:
    report = await probe(_script(tmp_path, REFUSING), only=["prompts.turn"], auth="none", timeout=5)

    (result,) = report.results
    assert (result.status, result.message) == ("fail", "the login with 'none' was refused")
    assert "--auth" in result.cure


@pytest.mark.anyio
async def test_a_refused_login_fails_where_it_is_checked_and_sessions_are_skipped() -> None:
    only = ["negotiation.initialize", "auth.login", "auth.methods", "sessions.new", "prompts.turn"]

    report = await probe([*AGENT], only=only, auth="nosuch", timeout=5)

    assert {each.check.id: (each.status, each.message) for each in report.results} == {
        "negotiation.initialize": ("ok", ""),
        "auth.methods": ("ok", ""),
        "auth.login": ("fail", "the login with 'nosuch' was refused"),
        "sessions.new": ("skip", "it needs what failed in auth.login"),
        "prompts.turn": ("skip", "it needs what failed in auth.login"),
    }


@pytest.mark.anyio
async def test_a_failure_shows_the_lines_and_a_cure() -> None:
    report = await probe([*AGENT, "sessions.unique"], only=["sessions.unique"], timeout=5)

    (result,) = report.results
    assert [line.partition(":")[0] for line in result.lines] == ["client", "agent"] * 2
    assert '"sess-0"' in result.lines[1]
    assert result.cure == "Make a new id for each session."


@pytest.mark.anyio
async def test_an_agent_that_does_not_close_sessions_may_refuse_to_delete_an_open_one(tmp_path: Path) -> None:
    agent = UNFINISHED.replace("1}", '1, "agentCapabilities": {"sessionCapabilities": {"delete": {}}}}')

    (result,) = (await probe(_script(tmp_path, agent), only=["sessions.delete"], timeout=5)).results

    assert result.status == "skip"
    assert result.message == "an open session cannot be deleted, and the agent does not close sessions"


@pytest.mark.anyio
async def test_the_answer_to_a_request_of_the_probe_is_not_that_to_a_wrong_line() -> None:
    only = ["messages.unknown-method", "messages.malformed"]
    report = await probe([*AGENT, "messages.malformed/silent"], only=only, timeout=5)

    assert report.results[-1].message.startswith("a line that is not JSON got no answer")


@pytest.mark.anyio
async def test_only_checks_that_send_an_unknown_method_are_skipped_if_the_agent_ignores_it() -> None:
    only = ["messages.crlf", "messages.empty-line"]
    report = await probe([*AGENT, "messages.unknown-method/silent"], only=only, timeout=5)

    assert [(each.status, each.message) for each in report.results] == [
        ("skip", "the agent does not answer unknown methods"),
        ("ok", ""),
    ]


@pytest.mark.anyio
async def test_each_notification_that_may_have_been_answered_is_shown() -> None:
    report = await probe([*AGENT, "messages.unknown-notification"], only=["messages.unknown-notification"], timeout=5)

    (result,) = report.results
    assert [line.partition(":")[0] for line in result.lines] == [*["client"] * 4, "agent"]


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_a_late_update_is_found_although_another_check_uses_the_session_first(version: int) -> None:
    only = ["sessions.load-equal", "prompts.late-updates"]

    report = await probe([*AGENT, "prompts.late-updates"], version=version, only=only, timeout=5)

    assert [each.status for each in report.results] == ["ok", "fail"]


@pytest.mark.anyio
async def test_servers_are_not_judged_if_they_may_start_with_a_prompt_and_prompts_fail(tmp_path: Path) -> None:
    agent = _refusing(-32603, "Internal error")

    (result,) = (await probe(_script(tmp_path, agent), only=["servers.stdio"], timeout=5)).results

    assert (result.status, result.message) == ("skip", "no server was started yet, and prompts do not work")


@pytest.mark.anyio
async def test_version_2_advertises_stdio_servers(tmp_path: Path) -> None:
    report = await probe(_script(tmp_path, TALKATIVE), version=2, only=["servers.stdio"], timeout=5)

    assert [(each.status, each.message) for each in report.results] == [
        ("skip", "`session.mcp.stdio` is not advertised")
    ]


@pytest.mark.anyio
async def test_a_tool_that_was_not_called_is_named() -> None:
    (result,) = (await probe(AGENT, only=["servers.called"], prompt="hello", timeout=5)).results

    assert result.status == "skip"
    assert "the tool probe_word of the MCP server probe-1; ask for it with --prompt" in result.message


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["1.5", "stops"], "warn", "after `session/cancel`, and takes longer without it"),
        (["0.2"], "skip", "without `session/cancel`, the turn takes about as long; see --prompt"),
    ],
)
async def test_a_turn_that_a_cancel_ends_as_if_it_was_over_is_a_warning(
    tmp_path: Path, arguments: list[str], status: str, message: str
) -> None:
    agent, record = [*_script(tmp_path, ENDING), *arguments], tmp_path / "talk.ndjson"

    (result,) = (await probe(agent, only=["prompts.cancel-at-once"], timeout=5, record=record)).results

    assert result.status == status
    assert message in result.message
    # The turn without a cancel, with which it is compared, is cancelled once it has taken longer.
    assert record.read_text().count("session/cancel") == (2 if status == "warn" else 1)


@pytest.mark.anyio
async def test_the_advice_for_a_slow_turn_is_a_shorter_prompt(tmp_path: Path) -> None:
    report = await probe([*_script(tmp_path, SLOW), "cancels"], only=["prompts.cancel-twice"], timeout=3)

    (result,) = report.results
    assert (result.status, result.message) == ("fail", "the turn has not ended: nothing came for 3 s")
    assert result.cure == (
        "If the agent needs more than 3 s for `session/prompt`, use a --prompt with a shorter answer, or a longer "
        "--timeout. Otherwise, it must end its turns."
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("prompts.turn", "the turn has not ended: it went on for 5 s"),
        ("prompts.cancel", "the turn has not ended: it went on for 1 s"),
        ("prompts.two-prompts", "one of them was not answered"),
    ],
)
async def test_a_turn_that_never_ends_is_abandoned(tmp_path: Path, check: str, message: str) -> None:
    with anyio.fail_after(30):
        (result,) = (await probe([*_script(tmp_path, ENDLESS), check], only=[check], timeout=0.5)).results

    assert (result.status, result.message) == ("fail", message)


@pytest.mark.full
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("check", "advice", "slow"),
    [
        ("prompts.cancel", "Stop the work", "`session/prompt`, use a --prompt with a shorter answer, or a longer"),
        ("prompts.two-prompts", "Queue the second", "`session/prompt`, use a --prompt with a shorter answer, or a"),
        ("sessions.list", "List each session", "`session/list`, use a longer --timeout."),
    ],
)
async def test_a_check_keeps_its_advice_if_it_may_be_the_reason_for_the_silence(
    tmp_path: Path, check: str, advice: str, slow: str
) -> None:
    (result,) = (await probe(_script(tmp_path, SLOW), only=[check], timeout=3)).results

    assert result.status == "fail"
    assert result.cure.startswith(advice)
    assert f" If the agent needs more than 3 s for {slow}" in result.cure


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_the_sessions_of_the_probe_are_deleted_at_the_end(tmp_path: Path, version: int) -> None:
    store = tmp_path / "sessions"
    stored: list[int] = []

    def done(_: Result) -> None:
        stored.append(len([*store.glob("*.jsonl")]))

    only = ["prompts.turn", "prompts.two-sessions", "ending.in-turn"]
    report = await probe([*_script(tmp_path, STORING), str(store)], version=version, only=only, timeout=10, done=done)

    assert not report.has_failed
    assert stored == [1, 3, 4]
    assert [*store.glob("*.jsonl")] == []


@pytest.mark.anyio
@pytest.mark.parametrize(("error", "status"), [("InvalidParams('no such account')", "warn"), ("KeyError()", "fail")])
async def test_an_agent_may_refuse_a_value_that_it_offers(tmp_path: Path, error: str, status: str) -> None:
    program = _script(tmp_path, PICKY.replace("ERROR", error))
    report = await probe(program, only=["sessions.modes", "sessions.config-options"], timeout=10)

    results = [each for each in report.results if each.check.id.startswith("sessions.")]
    assert [each.status for each in results] == [status, status]
    assert "the value 'code', which is offered, cannot be set" in results[-1].message


@pytest.mark.anyio
async def test_a_recording_can_be_checked(tmp_path: Path) -> None:
    file = tmp_path / "probe.ndjson"

    await probe(AGENT, only=["prompts.turn"], record=file, timeout=5)

    lines = file.read_bytes().splitlines(keepends=True)
    assert json.loads(lines[0])["from"] == "client"
    assert [each for each in Check(lines) if each.severity == "error"] == []


@pytest.mark.anyio
@pytest.mark.parametrize(("late", "status"), [(0, "ok"), (1, "warn")])
async def test_the_turn_of_an_agent_that_refuses_a_second_prompt_goes_on(
    tmp_path: Path, late: int, status: str
) -> None:
    file = tmp_path / "probe.ndjson"
    only = ["prompts.two-prompts", "conversation.turn"]

    report = await probe([*_script(tmp_path, BUSY), str(late)], only=only, record=file, timeout=5)

    assert [each.status for each in report.results] == ["ok", status]
    recorded = [each.rule for each in Check(file.read_bytes().splitlines()) if each.sender == "agent"]
    assert [each for each in recorded if each.startswith("turn.")] == ["turn.update-after-end"] * late


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(("only", "status"), [("ending.in-turn", "ok"), ("permission.question", "warn")])
async def test_a_turn_may_end_as_cancelled_if_the_client_has_disconnected(
    tmp_path: Path, version: int, only: str, status: str
) -> None:
    file = tmp_path / "probe.ndjson"
    agent = [*_script(tmp_path, LEAVING), str(version), *(["always"] if status == "warn" else [])]

    report = await probe(agent, version=version, only=[only, "conversation.turn"], record=file, timeout=5)

    assert report.results[-1].status == status
    recorded = {each.rule for each in Check(file.read_bytes().splitlines()) if each.sender == "agent"}
    assert ("turn.cancelled-without-cancel" in recorded) == (status == "warn")


@pytest.mark.anyio
async def test_an_agent_that_says_nothing_is_given_up() -> None:
    report = await probe([sys.executable, "-c", "import sys; sys.stdin.read()"], timeout=0.5, only=["negotiation"])

    assert "did not respond to `initialize` within 0.5 s" in report.results[0].message


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("defect", "check", "advice"),
    [
        ("sessions.resume/state", "sessions.resume", "Send a `state_update` with the current state, then answer."),
        ("sessions.list", "sessions.list-by-cwd", "List only the sessions of the directory, and all of them."),
    ],
)
async def test_the_advice_is_about_what_is_missing(defect: str, check: str, advice: str) -> None:
    (result,) = (await probe([*AGENT, defect], version=2, only=[check], timeout=5)).results

    assert (result.status, result.cure) == ("fail", advice)


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
async def test_an_agent_whose_launcher_is_killed_may_wait_for_the_end_of_its_input() -> None:
    # The commands of npm packages, such as Qwen Code and GitHub Copilot, start the agent with their own streams.
    launcher = [sys.executable, "-c", "import subprocess, sys; subprocess.call(sys.argv[1:])", *AGENT]
    report = await probe(launcher, timeout=5, only=["ending.killed"])

    assert [(result.status, result.message) for result in report.results] == [("ok", "")]


@pytest.mark.anyio
async def test_secrets_that_are_added_to_the_environment_are_redacted() -> None:
    agent = [sys.executable, "-c", "import os, sys; sys.exit(os.environ['API_KEY'])"]

    report = await probe(agent, timeout=5, only=["negotiation.initialize"], env={"API_KEY": "not-to-be-shown"})

    assert report.results[0].message.endswith("wrote to standard error: [redacted]")


@pytest.mark.anyio
async def test_an_agent_that_crashes_in_a_prompt_has_ended(tmp_path: Path) -> None:
    report = await probe(_script(tmp_path, CRASHING), timeout=5, only=["prompts.turn", "prompts.cancel-at-once"])

    for result in report.results:
        assert result.status == "fail"
        assert "exited with status 1" in result.message
        assert "RuntimeError: out of tea" in result.message
        assert "nothing came" not in result.message
        assert result.cure.startswith("The agent must not exit during a conversation")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("write", "shown"),
    [
        ("print(json.dumps(answer, indent=2), flush=True)", "lines without a message"),
        (
            "print(f'Content-Length: 9\\r\\n\\r\\n' + json.dumps(answer), end='', flush=True)",
            "1 line without a message",
        ),
        ("print(json.dumps(answer))", "did not respond"),
    ],
)
async def test_an_answer_in_another_framing_is_explained(tmp_path: Path, write: str, shown: str) -> None:
    report = await probe(
        _script(tmp_path, FRAMED + f"    {write}\n"),
        timeout=3,
        only=["negotiation.initialize"],
        env={"PYTHONUNBUFFERED": ""},
    )

    (result,) = report.results
    assert shown in result.message
    assert "flush" in result.cure
    assert "one line" in result.cure


@pytest.mark.anyio
async def test_an_answer_with_the_id_as_text_is_explained(tmp_path: Path) -> None:
    agent = UNFINISHED.replace('send(id=message["id"], result={"stop', 'send(id=str(message["id"]), result={"stop')

    (result,) = (await probe(_script(tmp_path, agent), timeout=3, only=["prompts.turn"])).results

    assert re.search(r'; it responded with the id "(\d+)", not \1$', result.message)
    assert result.cure == "Return the id of a request as it was sent, with the same type."


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("version", "shown"),
    [('"protocolVersion": "1"', "write it without quotes"), ('"protocol_version": 1', 'spelt "protocol_version"')],
)
async def test_a_version_that_is_not_valid_is_explained(tmp_path: Path, version: str, shown: str) -> None:
    agent = _script(tmp_path, START.replace('"protocolVersion": 1', version))

    (result,) = (await probe(agent, timeout=5, only=["negotiation.initialize"])).results

    assert shown in result.message
    assert result.cure == 'Answer with "protocolVersion": 1, an integer.'


@pytest.mark.anyio
async def test_a_malformed_request_of_the_agent_is_a_failure(tmp_path: Path) -> None:
    report = await probe(_script(tmp_path, MALFORMED), timeout=5, only=["prompts.turn", "conversation.schema"])

    turn, schema = report.results
    assert turn.status == "ok"
    assert schema.status == "fail"


@pytest.mark.anyio
async def test_unusual_requests_of_the_agent_are_answered(tmp_path: Path) -> None:
    record = tmp_path / "talk.ndjson"

    report = await probe(_script(tmp_path, UNUSUAL), timeout=5, only=["prompts.turn"], record=record)

    assert [each.status for each in report.results] == ["ok"]
    sent = [each["message"] for each in map(json.loads, record.read_text().splitlines()) if each["from"] == "client"]
    # A message with half a surrogate pair is recorded as text.
    messages = [json.loads(each) if isinstance(each, str) else each for each in sent]
    answers = {each.get("id"): each for each in messages}
    assert answers["half"]["result"] == {"content": "\ud83d"}
    assert answers["endless"]["error"]["code"] == -32602
    # Since Python 3.14, `is_file` returns False for a name that is too long.
    assert answers["long"]["error"]["code"] == (-32002 if sys.version_info >= (3, 14) else -32602)


@pytest.mark.anyio
async def test_findings_are_grouped_by_rule_and_path_and_follow_only_from_the_agent(tmp_path: Path) -> None:
    only = ["prompts", "conversation.lifecycle", "conversation.schema"]

    report = await probe(_script(tmp_path, SLOPPY), timeout=5, only=only)

    lifecycle, schema = report.results[-2:]
    assert "lifecycle.session-id-reused: message.result.sessionId: " in lifecycle.message
    assert "unasked" not in lifecycle.message
    assert "update.content.text: " in schema.message
    assert "update.toolCallId: " in schema.message


@pytest.mark.anyio
async def test_a_message_with_two_mistakes_is_shown_once(tmp_path: Path) -> None:
    agent = SLOPPY.replace('"toolCallId": 1, "title": "a"', '"toolCallId": 1, "title": 1').replace(
        '"text": 1', '"text": "a"'
    )

    (result,) = (await probe(_script(tmp_path, agent), timeout=5, only=["conversation.schema"])).results

    assert result.message.count("schema.params: ") == 2
    assert len(result.lines) == 1


@pytest.mark.anyio
async def test_an_error_is_shown_before_an_earlier_warning(tmp_path: Path) -> None:
    agent = SLOPPY.replace('"text", "text": 1', '"image", "mimeType": "image/png", "data": "%"')

    (result,) = (await probe(_script(tmp_path, agent), timeout=5, only=["conversation.schema"])).results

    assert result.status == "fail"
    assert result.message.startswith("schema.params: ")
    assert "; schema.base64: " in result.message


@pytest.mark.anyio
async def test_findings_do_not_name_lines_that_the_user_cannot_find() -> None:
    only = ["prompts.cancel", "conversation.lifecycle"]

    report = await probe([*AGENT, "prompts.cancel/error"], only=only, timeout=5)

    result = report.results[-1]
    assert result.message.startswith(
        "lifecycle.error-after-cancel: message.error: the client cancelled the prompt; the response needs"
    )


@pytest.mark.anyio
async def test_three_findings_of_a_rule_at_a_place_are_shown(tmp_path: Path) -> None:
    report = await probe(_script(tmp_path, UNFINISHED), timeout=5, only=["prompts", "conversation.tool-call"])

    result = report.results[-1]
    assert result.message.count("tool-call.unfinished: message: ") == 3
    assert re.search(r"; and \d+ more$", result.message)
    assert len(result.lines) == 3


@pytest.mark.anyio
async def test_the_evidence_is_the_response_also_if_the_agent_has_written_before(tmp_path: Path) -> None:
    agent = _script(tmp_path, 'print("Welcome", flush=True)\n' + START)

    report = await probe(agent, only=["negotiation.info"], timeout=5)

    (result,) = report.results
    assert [line.partition(":")[0] for line in result.lines] == ["client", "agent"]
    assert "protocolVersion" in result.lines[1]


@pytest.mark.anyio
async def test_a_turn_of_many_updates_is_read_once(tmp_path: Path) -> None:
    only = ["prompts.turn", "permission.question"]

    with anyio.fail_after(60):  # it takes a second, or minutes if each line reads the ones before it
        report = await probe(_script(tmp_path, TALKATIVE), version=2, timeout=10, only=only)

    assert [each.status for each in report.results] == ["ok", "skip"]


@pytest.mark.anyio
async def test_output_that_is_not_utf8_is_a_failure(tmp_path: Path) -> None:
    agent = _script(
        tmp_path,
        START.replace("import json, sys", "import json, sys\nsys.stdout.reconfigure(encoding='cp1252')")
        .replace("json.dumps(", "json.dumps(ensure_ascii=False, obj=")
        .replace('"protocolVersion": 1', '"protocolVersion": 1, "_meta": {"by": "René"}'),
    )

    report = await probe(agent, only=["conversation.stdout"], timeout=5)

    (result,) = report.results
    assert (result.status, result.message) == ("fail", "a line is not UTF-8")


def _refusing(code: int, message: str) -> str:
    return START + f'    else:\n        send(id=message["id"], error={{"code": {code}, "message": "{message}"}})\n'


def _script(folder: Path, text: str) -> list[str]:
    agent = folder / "agent.py"
    agent.write_text(text, encoding="utf-8")
    return [sys.executable, str(agent)]


START = """
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}) + "\\n", end="", flush=True)

for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        send(id=message["id"], result={"protocolVersion": 1})
    elif message.get("method") == "session/new":
        send(id=message["id"], result={"sessionId": str(message["id"])})
"""
ONCE = (
    START.replace(
        "    elif",
        """    elif message.get("method") == "session/new" and "opened" in globals():
        sys.exit(3)
    elif""",
    )
    + """        opened = True
    elif message.get("method") == "session/prompt":
        send(id=message["id"], result={"stopReason": "end_turn"})
    elif "id" in message:
        send(id=message["id"], error={"code": -32601, "message": "Method not found"})
"""
)
CRASHING = (
    START
    + """
    elif message.get("method") == "session/prompt":
        raise RuntimeError("out of tea")
"""
)
MALFORMED = (
    START
    + """
    elif message.get("method") == "session/prompt":
        prompt, session = message["id"], message["params"]["sessionId"]
        call = {"toolCallId": "a", "title": "a"}
        question = {"sessionId": session, "toolCall": call, "options": ["allow"]}
        send(id="ask", method="session/request_permission", params=question)
    elif message.get("id") == "ask":
        send(id="read", method="fs/read_text_file", params={"sessionId": session, "path": __file__, "line": "x"})
    elif message.get("id") == "read":
        send(id=prompt, result={"stopReason": "end_turn"})
"""
)
UNUSUAL = (
    START.replace('str(message["id"])', 'message["params"]["cwd"]')
    + """
    elif message.get("method") == "session/prompt":
        prompt, session = message["id"], message["params"]["sessionId"]
        send(id="write", method="fs/write_text_file", params={"sessionId": session, "path": "/a", "content": "\\ud83d"})
        for id, path, limit in (("half", "/a", 1), ("endless", "/a", 1e999), ("long", session + "/" + "a" * 300, 1)):
            send(id=id, method="fs/read_text_file", params={"sessionId": session, "path": path, "limit": limit})
    elif message.get("id") == "long":
        send(id=prompt, result={"stopReason": "end_turn"})
"""
)
SLOPPY = (
    START.replace('str(message["id"])', '"s1"')
    + """
    elif message.get("method") == "session/prompt":
        text = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 1}}
        for update in (text, {"sessionUpdate": "tool_call", "toolCallId": 1, "title": "a"}):
            send(method="session/update", params={"sessionId": "s1", "update": update})
        send(id=message["id"], result={"stopReason": "end_turn"})
    elif "method" in message and "id" in message:
        send(id=message["id"], error={"code": -32601, "message": "Method not found"})
"""
)
TALKATIVE = """
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}))

for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        send(id=message["id"], result={"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {}})
    elif message.get("method") == "session/new":
        send(id=message["id"], result={"sessionId": str(message["id"])})
    elif message.get("method") == "session/prompt":
        send(id=message["id"], result={"messageId": "m"})
        chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "n", "content": {"type": "text", "text": "a"}}
        states = [{"sessionUpdate": "state_update", "state": each} for each in ("running", "idle")]
        states[1]["stopReason"] = "end_turn"
        for update in (states[0], *[chunk] * 8000, states[1]):
            send(method="session/update", params={"sessionId": message["params"]["sessionId"], "update": update})
    sys.stdout.flush()
"""
REFUSING = (
    START
    + """
    elif message.get("method") == "authenticate":
        send(id=message["id"], error={"code": -32602, "message": "Invalid params"})
"""
)
STORING = """
import sys
from acp_bindings.agent import Agent, FolderSessions, Turn

agent = Agent("storing", version="1", sessions=FolderSessions(sys.argv[1]))

@agent.prompt
async def answer(turn: Turn) -> None:
    await turn.say("hello")

agent.run()
"""
PICKY = """
from acp_bindings import v1
from acp_bindings.agent import Agent, Session, Turn
from acp_bindings.setup import InvalidParams

agent = Agent("picky", version="1", protocols=[v1])
agent.mode("ask", "Ask")
agent.mode("code", "Code")

@agent.prompt
async def answer(turn: Turn) -> None:
    await turn.say("hello")

@agent.on_mode
async def refuse(session: Session, value: str) -> None:
    if value in ("code", "large"):
        raise ERROR

agent.option("model", "Model", {"small": "Small", "large": "Large"}, default="small", on_set=refuse)
agent.run()
"""
ENDING = (
    START.replace("import json, sys", "import json, sys, threading\n\nstop = threading.Event()")
    + """
    elif message.get("method") == "session/prompt":
        def turn(id):
            stop.wait(float(sys.argv[1]))
            send(id=id, result={"stopReason": "end_turn"})

        stop.clear()
        threading.Thread(target=turn, args=(message["id"],)).start()
    elif message.get("method") == "session/cancel" and sys.argv[2:]:
        stop.set()
    elif "id" in message:
        send(id=message["id"], error={"code": -32601, "message": "Method not found"})
"""
)
UNFINISHED = (
    START
    + """
    elif message.get("method") == "session/prompt":
        calls = globals().get("calls", 0) + 1
        call = {"sessionUpdate": "tool_call", "toolCallId": f"call{calls}", "title": "Read"}
        send(method="session/update", params={"sessionId": message["params"]["sessionId"], "update": call})
        send(id=message["id"], result={"stopReason": "end_turn"})
    elif "id" in message:
        send(id=message["id"], error={"code": -32601, "message": "Method not found"})
"""
)
SLOW = (
    START.replace("1}", '1, "agentCapabilities": {"sessionCapabilities": {"list": {}}}}')
    + """
    elif message.get("method") == "session/prompt":
        session = message["params"]["sessionId"]
        if globals().setdefault("first", session) == session:
            send(id=message["id"], result={"stopReason": "end_turn"})
        prompt = message["id"]
    elif message.get("method") == "session/cancel" and sys.argv[1:]:
        send(id=prompt, result={"stopReason": "cancelled"})
"""
)
ENDLESS = (
    START.replace("import json, sys", "import json, sys, threading, time\n\nprompts = 0")
    + """
    elif message.get("method") == "session/prompt":
        def go_on(session):
            chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}}
            while True:
                send(method="session/update", params={"sessionId": session, "update": chunk})
                time.sleep(0.05)

        prompts += 1
        if prompts == 1 and sys.argv[1] != "prompts.turn":
            send(id=message["id"], result={"stopReason": "end_turn"})
        else:
            threading.Thread(target=go_on, args=[message["params"]["sessionId"]], daemon=True).start()
    elif "id" in message:
        send(id=message["id"], error={"code": -32601, "message": "Method not found"})
"""
)
BUSY = (
    START
    + """
    elif message.get("method") == "session/prompt":
        session = message["params"]["sessionId"]
        chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}}
        update = {"method": "session/update", "params": {"sessionId": session, "update": chunk}}
        if "held" in globals():  # the second prompt of the second session
            send(id=message["id"], error={"code": -32600, "message": "busy"})
            send(**update)
            send(id=held, result={"stopReason": "end_turn"})
            for _ in range(int(sys.argv[1])):
                send(**update)
            del held, first
        elif "first" in globals() and session != first:
            held = message["id"]
        else:
            first = session
            send(id=message["id"], result={"stopReason": "end_turn"})
"""
)
LEAVING = """
import json, sys, threading

version, always = int(sys.argv[1]), sys.argv[2:]
running = []

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def update(session, kind, **more):
    send(method="session/update", params={"sessionId": session, "update": {"sessionUpdate": kind, **more}})

def end(prompt, session, reason):
    if version == 1:
        send(id=prompt, result={"stopReason": reason})
    else:
        update(session, "state_update", state="idle", stopReason=reason)

for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params")
    if method == "initialize":
        more = {"info": {"name": "a", "version": "1"}, "capabilities": {}} if version > 1 else {}
        send(id=id, result={"protocolVersion": version, **more})
    elif method == "session/new":
        send(id=id, result={"sessionId": str(id)})
    elif method == "session/prompt":
        session = params["sessionId"]
        if version > 1:
            update(session, "state_update", state="running")
            update(session, "user_message", messageId=str(id), content=params["prompt"])
            send(id=id, result={"messageId": str(id)})
        content = {"type": "text", "text": "a"}
        update(session, "agent_message_chunk", content=content, **({"messageId": "n"} if version > 1 else {}))
        if "Count" in params["prompt"][0]["text"]:
            running.append((id, session))
        else:
            end(id, session, "cancelled" if always else "end_turn")
for each in running:
    end(*each, "cancelled")
"""
FRAMED = """
import json, sys
for line in sys.stdin:
    answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {"protocolVersion": 1}}
"""


@pytest.mark.anyio
async def test_a_result_with_another_form_than_expected_is_a_failure(tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(ODD, encoding="utf-8")

    report = await probe([sys.executable, str(agent)], only=["sessions.modes"], timeout=5)

    (result,) = report.results
    assert result.status == "fail"
    assert result.message.startswith("SessionModeState: currentModeId: Field required; availableModes: ")


@pytest.mark.anyio
async def test_a_message_that_cannot_be_read_is_shown_without_the_exception(tmp_path: Path) -> None:
    agent = START.replace("1}", '1, "agentCapabilities": {"sessionCapabilities": {"list": {}}}}')
    agent += """
    elif message.get("method") == "session/prompt":
        send(id=message["id"], result={"stopReason": "end_turn"})
    elif message.get("method") == "session/list":
        send(id=message["id"], result={})
"""
    (result,) = (await probe(_script(tmp_path, agent), only=["sessions.list"], timeout=5)).results

    assert result.status == "fail"
    assert "Error" not in result.message
    assert [line.partition(":")[0] for line in result.lines] == ["client", "agent"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('["allow"]', "RequestPermissionRequest: options[0]: Input should be an object"),
        ("[]", "the ids of the options are []"),
    ],
)
async def test_options_of_another_form_are_explained(tmp_path: Path, options: str, message: str) -> None:
    agent = _script(tmp_path, MALFORMED.replace('["allow"]', options))

    (result,) = (await probe(agent, timeout=5, only=["permission.question"])).results

    assert result.message == message


@pytest.mark.anyio
async def test_a_missing_stop_reason_is_named(tmp_path: Path) -> None:
    agent = UNFINISHED.replace("stopReason", "stop_reason")

    (result,) = (await probe(_script(tmp_path, agent), timeout=5, only=["prompts.turn"])).results

    assert (result.status, result.message) == ("fail", "`stopReason` is missing")


@pytest.mark.anyio
async def test_the_error_that_seems_to_be_about_a_login_is_quoted(tmp_path: Path) -> None:
    agent = UNFINISHED.replace('result={"stopReason": "end_turn"}', 'error={"code": -32603, "message": "No api_key"}')

    (result,) = (await probe(_script(tmp_path, agent), timeout=5, only=["prompts.turn"])).results

    assert result.status == "skip"
    assert result.message.endswith('it responded with {"code": -32603, "message": "No api_key"}')


@pytest.mark.anyio
async def test_late_updates_of_another_session_fail_only_where_they_are_checked(tmp_path: Path) -> None:
    only = ["prompts.late-updates", "prompts.two-sessions"]

    report = await probe(_script(tmp_path, LATE), timeout=5, only=only)

    assert [each.status for each in report.results] == ["fail", "ok"]


@pytest.mark.anyio
async def test_updates_without_a_session_are_named(tmp_path: Path) -> None:
    agent = UNFINISHED.replace('"sessionId": message["params"]["sessionId"], ', "").replace(
        '"tool_call", "toolCallId": f"call{calls}", "title": "Read"',
        '"agent_message_chunk", "content": {"type": "text", "text": "a"}',
    )

    (result,) = (await probe(_script(tmp_path, agent), timeout=5, only=["prompts.two-sessions"])).results

    assert result.message == "an update came without `sessionId`"


@pytest.mark.anyio
async def test_requests_with_a_constant_session_id_are_checked(tmp_path: Path) -> None:
    only = ["sessions.relative-cwd", "conversation.lifecycle"]
    agent = UNFINISHED.replace('str(message["id"])', '"fixed"')

    *_, result = (await probe(_script(tmp_path, agent), timeout=5, only=only)).results

    assert "lifecycle.session-id-reused" in result.message
    assert "lifecycle.unasked" not in result.message


@pytest.mark.anyio
async def test_an_agent_that_stays_alive_fails_once() -> None:
    only = ["ending.stdin", "ending.children"]

    report = await probe([*AGENT, "ending.stdin"], timeout=3, only=only)

    assert [(each.status, each.message) for each in report.results][1:] == [
        ("skip", "it needs what failed in ending.stdin")
    ]


LATE = (
    START.replace("import json, sys", "import json, sys, threading")
    + """
    elif message.get("method") == "session/prompt":
        chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}}
        update = {"method": "session/update", "params": {"sessionId": message["params"]["sessionId"], "update": chunk}}
        send(**update)
        send(id=message["id"], result={"stopReason": "end_turn"})
        if "late" in globals():
            send(**late)
            late = update
        else:
            late = update
            threading.Timer(0.05, send, kwargs=update).start()
"""
)
ODD = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    result = {"protocolVersion": 1} if message["method"] == "initialize" else {"sessionId": "a", "modes": {"odd": 1}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_each_check_says_what_it_requires_and_what_to_do() -> None:
    for each in CHECKS:
        assert each.requires.endswith("."), each.id
        assert each.source, each.id
        assert each.cure.endswith("."), each.id
    assert len({each.id for each in CHECKS}) == len(CHECKS)

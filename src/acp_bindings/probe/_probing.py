"""Runs the checks."""

from __future__ import annotations

import shlex
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from os import PathLike, fspath

import anyio
import anyio.to_thread

from acp_bindings._atomic_write import atomic_write
from acp_bindings._json import members_of
from acp_bindings.probe._bench import Bench, Options
from acp_bindings.probe._check import Check, Failed, Outcome, Skipped
from acp_bindings.probe._checks import CHECKS
from acp_bindings.probe._probe_report import Report, Result
from acp_bindings.probe._probed_agent import Agent, Message

TIMEOUT = 30.0


async def probe(
    target: Sequence[str | PathLike[str]] | str,
    *,
    version: int = 1,
    prompt: str | None = None,
    auth: str | None = None,
    only: Collection[str] = (),
    skip: Collection[str] = (),
    timeout: float = TIMEOUT,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    record: str | PathLike[str] | None = None,
    done: Callable[[Result], object] | None = None,
) -> Report:
    """Try whether an agent does what the protocol requires, and return a report.

    Args:
        target: the agent's command and its arguments, or a URL.
        version: the version of the protocol, 1 or 2.
        prompt: the text of all prompts. By default each check has one that suits language models.
        auth: the id of the authentication method to log in with.
        only: the checks to run, by id or by family; by default all.
        skip: the checks to leave out, by id or by family.
        timeout: seconds to wait for an answer or, in a turn, for any message. A turn may take at most 10 times
            as long, and twice as long after a cancel.
        env: environment variables to add for the agent.
        headers: headers of all requests to a URL, such as `Authorization`. Their values are redacted.
        record: a file for a recording of the conversations, without secrets.
        done: called with each result.

    Raises:
        CannotStart: the agent cannot be started.
        OSError: the recording cannot be written.
        ValueError: *only* or *skip* names an unknown check or leaves none, or *version* is not 1 or 2.
    """
    if version not in (1, 2):
        raise ValueError(f"version must be 1 or 2, not {version}")
    chosen = choose(only=only, skip=skip, version=version)
    command = target if isinstance(target, str) else [fspath(each) for each in target]
    options = Options(
        target=command,
        version=version,
        prompt=prompt,
        auth=auth,
        timeout=timeout,
        env=env or {},
        headers=headers or {},
    )
    report = Report(version=version, when=datetime.now(UTC))
    await fill(report, options, chosen, record=record, done=done)
    return report


async def fill(
    report: Report,
    options: Options,
    chosen: Sequence[Check],
    *,
    record: str | PathLike[str] | None,
    done: Callable[[Result], object] | None,
) -> None:
    """Make the checks. If this is cancelled, the report and the recording have what was done so far."""
    target, began = options.target, time.monotonic()
    failure: BaseException | None = None
    with tempfile.TemporaryDirectory(prefix="acp-probe-", ignore_cleanup_errors=True) as folder:
        async with anyio.create_task_group() as tasks:
            bench = Bench(options, tasks, folder)
            report.target = bench.hide(target if isinstance(target, str) else shlex.join(target))
            try:
                await bench.servers.start(tasks)
                for each in chosen:
                    result = await _run(bench, each)
                    report.results.append(result)
                    if done:
                        done(result)
                await bench.delete_sessions()
            except BaseException as error:  # noqa: BLE001 - the task group would wrap it
                failure = error
            with anyio.CancelScope(shield=True):
                await bench.stop()
                report.agent = bench.hide(_name(bench))
                report.seconds = time.monotonic() - began
                if record is not None:
                    write = partial(atomic_write, fspath(record), bench.recording(), private=True)
                    try:
                        await anyio.to_thread.run_sync(write)
                    except OSError as error:
                        failure = failure or error
    if failure is not None:
        raise failure


def is_url(target: str) -> bool:
    """Return True for the URL of an agent."""
    return target.partition("://")[0].lower() in ("http", "https", "ws", "wss")


def missing_for_url() -> str | None:
    """Return the advice for a missing package that probing a URL requires; None if all are installed."""
    missing = next((each for each in ("httpx", "websockets") if find_spec(each) is None), None)
    return missing and f"a URL requires {missing}: pip install 'acp-bindings[remote]'"


def choose(*, only: Collection[str] = (), skip: Collection[str] = (), version: int) -> list[Check]:
    """Return the checks of a version that *only* names, without those that *skip* names.

    Raises:
        ValueError: a name is unknown, or no check is left.
    """
    known = {name for each in CHECKS for name in _names(each)}
    if unknown := [each for each in (*only, *skip) if each not in known]:
        raise ValueError(f"unknown check {unknown[0]!r}")
    chosen = [
        each
        for each in CHECKS
        if version in each.versions
        and (not only or not _names(each).isdisjoint(only))
        and _names(each).isdisjoint(skip)
    ]
    if not chosen:
        raise ValueError(f"no check of version {version} is selected")
    return chosen


def _names(check: Check) -> set[str]:
    return {check.id, check.id.partition(".")[0]}


async def _run(bench: Bench, check: Check) -> Result:
    began = time.monotonic()
    bench.current = check.id
    outcome: Outcome | None = None
    agent: Agent | None = None
    try:
        if check.over == "stdio" and not bench.is_process:
            raise Skipped("it is about standard streams")
        if check.over == "lines" and bench.is_http:
            raise Skipped("HTTP does not carry such a line")
        agent = await bench.shared()  # nothing can be said of an agent that cannot be initialized
        await check.run(bench)
        if agent.has_ended and not bench.only_reads_messages:
            raise agent.failure("the agent has ended", agent.lines[-2:])
    except Outcome as error:
        outcome = bench.outcome(error)
    except (LookupError, TypeError, AttributeError, ValueError):
        # Checks read messages as the protocol has them.
        problem = "a message from the agent does not have the expected form; conversation.schema may say more"
        outcome = Failed(problem, agent.lines[-2:] if agent else ())
    bench.check_done()
    seconds = time.monotonic() - began
    if outcome is None:
        return Result(check=check, status="ok", seconds=seconds)
    return Result(
        check=check,
        status=outcome.status,
        message=bench.hide(outcome.message),
        lines=tuple(each.shown(bench.hide) for each in outcome.lines),
        cure="" if outcome.status == "skip" else f"{outcome.cure or check.cure} {outcome.hint}".rstrip(),
        seconds=seconds,
    )


def _name(bench: Bench) -> str:
    initialized = next((each.initialized for each in bench.agents if each.initialized), Message())
    info = members_of(initialized.get("agentInfo" if bench.version == 1 else "info"))
    return " ".join(str(info[each]) for each in ("name", "version") if each in info)


def header_in(option: str) -> tuple[str, str]:
    """Return the name and the value of an option such as `--header 'NAME: VALUE'`.

    Raises:
        ValueError: it has no colon.
    """
    name, colon, value = option.partition(":")
    if not colon:
        # Not quoted, because it may be a secret.
        raise ValueError("write it as 'NAME: VALUE'; the colon is missing")
    return name.strip(), value.strip()

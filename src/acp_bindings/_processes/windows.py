"""Child processes on Windows, with a job object for each, which ends its members when it is closed.

Children that a process starts before it is put into the job are not in it.
"""

from __future__ import annotations

import contextlib
import importlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

if sys.platform != "win32":
    raise ImportError("acp_bindings._processes.windows is for Windows")

pywintypes: Any = importlib.import_module("pywintypes")
win32api: Any = importlib.import_module("win32api")
win32con: Any = importlib.import_module("win32con")
win32job: Any = importlib.import_module("win32job")


async def start(
    command: Sequence[str], *, cwd: str, env: Mapping[str, str], without_input: bool
) -> tuple[Process, ByteSendStream, ByteReceiveStream, ByteReceiveStream]:
    """Start the command without a console window. *without_input*, its input ends at once."""
    try:
        no_window = subprocess.CREATE_NO_WINDOW
        process = await anyio.open_process(list(command), cwd=cwd, env=dict(env), creationflags=no_window)
    except NotImplementedError as error:
        raise OSError("asyncio's SelectorEventLoop starts no processes; use its ProactorEventLoop") from error
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise OSError("the process has no pipes")
    if without_input:
        await stdin.aclose()
    return process, stdin, stdout, stderr


class ProcessTree:
    """The job of a process and its children. There is none if the system refuses."""

    def __init__(self, pid: int) -> None:
        self._job: Any = None
        job = win32job.CreateJobObject(None, "")
        try:
            kind = win32job.JobObjectExtendedLimitInformation
            limits = win32job.QueryInformationJobObject(job, kind)
            limits["BasicLimitInformation"]["LimitFlags"] |= win32job.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
            win32job.SetInformationJobObject(job, kind, limits)
            process = win32api.OpenProcess(win32con.PROCESS_SET_QUOTA | win32con.PROCESS_TERMINATE, False, pid)
            try:
                win32job.AssignProcessToJobObject(job, process)
            finally:
                win32api.CloseHandle(process)
        except pywintypes.error:
            # It may have exited already. Its children are then not in the job.
            win32api.CloseHandle(job)
        else:
            self._job = job

    def ask(self) -> bool:
        """Return True if a process remains. On Windows only its closed input asks a process to exit."""
        return self.lives()

    def kill(self) -> bool:
        """End all processes, and return True if there were any."""
        if not self.lives():
            return False
        with contextlib.suppress(pywintypes.error):
            win32job.TerminateJobObject(self._job, 1)
        return True

    def lives(self) -> bool:
        """Return True if a process remains."""
        if self._job is None:
            return False
        kind = win32job.JobObjectBasicAccountingInformation
        active: int = win32job.QueryInformationJobObject(self._job, kind)["ActiveProcesses"]
        return active > 0

    def close(self) -> None:
        """Close the job, which ends the remaining processes."""
        if self._job is not None:
            win32api.CloseHandle(self._job)
            self._job = None

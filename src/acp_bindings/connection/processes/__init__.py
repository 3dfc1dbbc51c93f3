"""Child processes and their pipes, and an end that leaves nothing of them; shared with `mcp_launch`."""

from acp_bindings.connection.processes.process import ChildProcess, Tail

__all__ = ["ChildProcess", "Tail"]

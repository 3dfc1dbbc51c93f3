"""Chooses the proposals for a failing entry by its failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mcp_launch._command.fix.draft import Draft, Remedy
from mcp_launch._command.fix.members import shape
from mcp_launch._command.fix.programs import (
    interpreter,
    other_directory,
    other_files,
    other_options,
    other_package,
    other_program,
)
from mcp_launch._command.fix.urls import credentials, other_origin, other_paths, other_transport, through_program
from mcp_launch._command.fix.variables import missing, references


def remedies(draft: Draft) -> Iterator[Remedy]:
    """Yield what may cure the server, the most certain first."""
    for propose in (shape, references, *_BY_CODE.get(draft.code, ())):
        for remedy in propose(draft):
            if remedy.edits:
                yield remedy


_OF_PROCESS = (other_files, other_options, missing, other_package)
_OF_URL = (other_transport, other_paths, other_origin)
_BY_CODE: dict[str, tuple[Callable[[Draft], Iterator[Remedy]], ...]] = {
    "invalid_spec": (through_program, other_directory),
    "command_not_found": (other_program,),
    "not_executable": (other_program, interpreter),
    "exited": _OF_PROCESS,
    "not_mcp": (*_OF_PROCESS, *_OF_URL),
    "timeout": (other_options,),
    "disconnected": (other_options, other_origin),
    "refused": (other_origin,),
    "tls": (other_origin,),
    "redirected": (other_origin, other_paths),
    "not_found": _OF_URL,
    "method_not_allowed": _OF_URL,
    "wrong_transport": (other_transport, other_paths),
    "http_error": _OF_URL,
    "unauthorized": (credentials,),
    "forbidden": (credentials,),
}

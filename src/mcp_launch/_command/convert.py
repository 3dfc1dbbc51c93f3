"""`mcp-launch convert`: prints the file of one client as another client writes it, and says what that cannot hold."""

from __future__ import annotations

from mcp_launch._command.find_servers import read_file
from mcp_launch._command.show.text import found_in, print_findings, write_file
from mcp_launch.config._formats import format_called
from mcp_launch.config._read import write_config

_OF_LAUNCHING = frozenset(
    {"asks_user", "disabled", "missing_type", "not_read", "other_transport", "unknown_variable", "unset_variable"}
)
"""Codes of findings that are left out: they matter to the old client, and to whoever starts the servers. The new file
says the same as the old one there, or `write_config` tells that it is lost."""


def convert(file: str, *, to: str, origin: str | None = None, workspace: str | None = None) -> None:
    """Print the new file, and on standard error what is to be known of it, by its place in the old one.

    Raises:
        UnusableInput: the file cannot be read, or not be written for that client; there is no such format; or standard
            output cannot be written to.
    """
    format_called(to)  # first: an unknown format matters more than what is wrong with the file
    config = read_file(file, format=origin, workspace=workspace)
    text, lost = write_config(config, to)
    found = [each for each in config.findings if each.code not in _OF_LAUNCHING]
    print_findings(found_in(config.source, sorted([*found, *lost], key=lambda each: each.place)))
    write_file(text)

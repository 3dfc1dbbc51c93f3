"""The standard streams of a command: closed ones take everything, and what cannot be written is told."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TextIO

__all__ = ["discard_unwritable", "written_by"]

_BY_SIGNAL = 128
"""Statuses above it say that a signal ended the command."""


@contextmanager
def written_by(command: str) -> Generator[None]:
    """A block that is all of a command, and that ends it where the system refuses something, such as to write.

    What a signal ends, keeps the status of that: a terminal that goes away cannot be written to either.

    Raises:
        SystemExit: 1 when nobody reads standard output any more, 2 when it cannot be written or another `OSError` came.
    """
    # They are None when whoever started us has closed them.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open to the end
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    refused: OSError | None = None
    signalled = False
    try:
        yield
    except OSError as error:
        refused = error
    except SystemExit as error:
        signalled = isinstance(error.code, int) and error.code > _BY_SIGNAL
        raise
    finally:
        unwritten = discard_unwritable(sys.stdout)
        if not signalled and (refused := unwritten or refused):
            if isinstance(refused, BrokenPipeError):  # who reads has seen enough
                raise SystemExit(1) from None
            where = "standard output: " if unwritten else ""
            with suppress(OSError):
                sys.stderr.write(f"{command}: {where}{refused.strerror or refused}\n")
            discard_unwritable(sys.stderr)
            raise SystemExit(2) from None
        discard_unwritable(sys.stderr)


def discard_unwritable(stream: TextIO) -> OSError | None:
    """Why what waits in *stream* cannot be written, if it cannot; then it is gone.

    The interpreter would try once more at its end, complain, and put its own exit status in place of the command's.
    """
    try:
        stream.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        return error
    return None

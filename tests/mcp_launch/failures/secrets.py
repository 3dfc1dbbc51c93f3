"""Secrets to plant, and the search for them in all output; each secret identifies its origin.

A secret contains runs of random letters. Quoting never changes letters, so a run can be found in JSON, in a URL, in
HTML and in half a secret. Only base64 changes them, in one of three ways.
"""

from __future__ import annotations

import base64
import random
import re
import string
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Leak", "Planted", "leaks"]

_LENGTH = 12
_RUN = re.compile(rf"[a-z]{{{_LENGTH}}}")


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret that can be read where it must not be."""

    secret: str
    """The place where it was planted."""
    form: str
    """`plain`, in any form of quoting, or `base64`."""
    channel: str
    """The place where it was found."""
    around: str

    def __str__(self) -> str:
        return f"{self.secret} ({self.form}) in {self.channel}: …{self.around}…"


class Planted:
    """The secrets of one case, each of its own kind and unique across all runs."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._values: dict[str, str] = {}

    def __getitem__(self, kind: str) -> str:
        """Return the secret of that kind, created at first use. An `awkward` one is hard to quote."""
        if kind not in self._values:
            first, second = (_run(), _run())
            awkward = f"{first}\"/'{second} +<&é"
            self._values[kind] = awkward if "awkward" in kind else f"sk-{first}-{second}"
        return self._values[kind]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of secrets that were planted."""
        return tuple(self._values)

    def runs(self) -> Iterator[tuple[str, str]]:
        """Yield the strings to search for, each with the name of its secret."""
        for kind, value in self._values.items():
            for run in _RUN.findall(value):
                yield f"{kind} of {self._owner!r}", run

    def __len__(self) -> int:
        return len(self._values)


def leaks(texts: Mapping[str, str], planted: Iterable[Planted]) -> list[Leak]:
    """Return every place where a secret can be read. The keys of the texts are the names of their channels."""
    needles = [(name, form, needle) for each in planted for name, run in each.runs() for form, needle in _forms(run)]
    return [
        Leak(name, form, channel, " ".join(text[max(0, at - 40) : at + len(needle) + 20].split()))
        for channel, text in texts.items()
        for name, form, needle in needles
        if (at := text.find(needle)) >= 0
    ]


def _run() -> str:
    return "".join(random.choices(string.ascii_lowercase, k=_LENGTH))


def _forms(run: str) -> Iterator[tuple[str, str]]:
    yield "plain", run
    for shift in range(3):
        # The letters of base64 that depend only on this run, whatever comes before and after it.
        coded = base64.b64encode(b"\0" * shift + run.encode()).decode()
        yield "base64", coded[(0, 2, 3)[shift] : (len(run) + shift) * 8 // 6]

"""`nox -s walk` reports errors in a page, and skips only marked blocks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.docs import walk
from tests.docs.walk import PAGES, ROOT, Step, steps, take

HERE = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def complaints(page: str, folder: Path) -> list[str]:
    return [said for step in steps(page) if (said := take(step, folder, HERE))]


GOOD = """
```console
$ echo first; echo 'took 1.5 s'
first
took 2.0 s
$ echo second
second
```

```console exit-1
$ echo no; false
no
```

```sh
echo whatever is printed
```

```python
from pathlib import Path
print(Path("example.py").exists())
```

```text
True
```

```
a drawing, in no language
```
"""


def test_a_correct_page_has_no_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert complaints(GOOD, tmp_path) == []

    log = capsys.readouterr().out
    typed = [line.strip() for line in log.splitlines() if line.startswith("  $ ")]
    assert typed == [
        "$ echo first; echo 'took 1.5 s'",
        "$ echo second",
        "$ echo no; false",
        "$ echo whatever is printed",
        "$ python example.py",
    ]
    assert "  | second\n" in log


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        (
            "\nfirst\n",
            "\nlast\n",
            "the page shows something else:\n--- shown\n+++ printed\n@@ -1 +1 @@\n-last\n+first\n",
        ),
        ("echo second", "exit 3", "ended with status 3, not 0"),
        ("; false", "", "ended with status 0, not 1"),
        ("\nTrue\n", "\nFalse\n", "the page shows something else"),
        ("```text\nTrue\n```\n", "", "the page does not show what this prints"),
        ("```sh\n", "```fish\n", "there is no rule for a block of fish"),
        ("```console exit-1", "```console often", "there is no rule for a block of console often"),
    ],
)
def test_a_page_with_other_output_is_reported(right: str, wrong: str, said: str, tmp_path: Path) -> None:
    assert GOOD.count(right) == 1

    (complaint,) = complaints(GOOD.replace(right, wrong), tmp_path)

    assert complaint.startswith(said)


def test_a_command_that_takes_too_long_is_killed_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "PATIENCE", 0.2)

    # The second process holds the pipe too: if it were left, this would wait for it.
    assert complaints("```sh\nsleep 600 & sleep 600\n```\n", tmp_path) == ["not done after 0 s"]


def test_marked_blocks_are_skipped_and_the_log_has_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = "<!-- walk: it needs an editor -->\n```sh\nexit 1\n```\n\n```sh\nexit 2\n```\n"

    assert list(steps(page)) == [Step(3, left_out="it needs an editor"), Step(7, "exit 2")]
    assert complaints(page, tmp_path) == ["ended with status 2, not 0"]
    assert "left out: it needs an editor\n" in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_the_pages_can_be_walked(page: str) -> None:
    found = list(steps((ROOT / page).read_text(encoding="utf-8")))

    assert found
    assert [step.wrong for step in found if step.wrong] == []

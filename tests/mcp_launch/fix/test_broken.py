"""Each broken file is cured by the expected edit or refused. `--json` and the written file agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_launch.config._formats import format_called
from mcp_launch.config._read import read_config, read_document
from tests.mcp_launch.explore.here import Command
from tests.mcp_launch.fix.broken import BROKEN, Broken
from tests.mcp_launch.support import SECRET


def entry_in(file: Path) -> Any:
    config = read_config(file.read_text(), source=str(file))
    value = read_document(file.read_text(), source=str(file), grammar=format_called(config.format).grammar).value
    for step in config.entries[0].path:
        value = value[step]
    return value


SLOW = {"cursor an echo"}
"""Servers that are only given up after a timeout."""
CASES = [pytest.param(each, id=each.about, marks=[pytest.mark.full] * (each.about in SLOW)) for each in BROKEN]


@pytest.mark.parametrize("broken", CASES)
def test_a_broken_file_is_cured_as_expected_or_refused(
    broken: Broken, folder: Path, origin: str, command: Command
) -> None:
    def filled(text: str) -> str:
        host = origin.removeprefix("http://")
        names = {
            "httpsWEB": f"https://{host}",
            "WEB": origin,
            "HOST": host,
            "PORT": host.rpartition(":")[2],
            "SECRET": SECRET,
            "DIR": str(folder),
        }
        names = {"localWEB": origin.replace("127.0.0.1", "localhost"), **names}
        names |= {"BIN": str(folder.parents[1] / "bin"), "HOME": str(folder.parent)}
        for name, value in names.items():
            text = text.replace(name, value)
        return text

    file = folder / broken.path
    file.parent.mkdir(exist_ok=True)
    before = filled(broken.text)
    file.write_text(before)
    fixed = json.loads(filled(json.dumps(broken.fixed)))
    if broken.asks:
        done = command("fix", str(file), "--write", "--json", "--timeout", "20")
        assert (done.status, json.loads(done.out)["servers"][0]["outcome"], file.read_text()) == (1, "refused", before)
        assert json.loads(done.out)["servers"][0]["needs_trust"] != []

    done = command("fix", str(file), "--write", "--json", "--timeout", "20", *(["--trust"] * broken.asks))

    report = json.loads(done.out)
    assert SECRET not in done.out + done.err
    assert (done.status, report["written"]) == ((1, False) if fixed is None else (0, True)), done.out
    assert fixed is None or entry_in(file) == fixed
    assert fixed is not None or file.read_text() == before
    assert report["servers"][0]["needs_trust"] == []
    if report["backup"]:
        assert Path(report["backup"]).read_text() == before

"""The claims on the pages name a test or a command that exists, and the programs of the tutorial are examples."""

from __future__ import annotations

import re
import tomllib

import pytest

from mcp_launch.config import FORMATS
from mcp_launch.config._formats import format_called
from mcp_launch.options import Limits, megabytes
from tests.docs.blocks import versions
from tests.docs.embed import ROOT
from tests.mcp_launch.failures.catalogue import CASES, codes_of

COMPARISON = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
PEERS = (ROOT / "tests" / "peers" / "test_official_sdk.py").read_text(encoding="utf-8")
ROW = re.compile(r"^\|(?! ?-)(.*)\|$", re.MULTILINE)


def test_every_claim_about_the_official_sdk_is_a_test() -> None:
    section = COMPARISON.split("\n## ")[1]
    named = [row.split("|")[-1].strip() for row in ROW.findall(section)[1:]]

    assert named
    assert [name for name in named if f"def {name.strip('`')}(" not in PEERS] == []


def test_every_other_comparison_names_a_command() -> None:
    rows = [row for section in COMPARISON.split("\n## ")[2:] for row in ROW.findall(section)]
    claims = [row for row in rows if not row.rstrip().endswith("command")]

    assert claims
    assert [row for row in claims if not re.search(r"`nox -s \w+[^`]*` *$", row)] == []


def test_the_pages_have_the_numbers_of_the_failure_catalogue() -> None:
    codes = codes_of(CASES)
    failing, kinds = len(codes), len(set(codes))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert f"Each of {failing} ways in which a server fails is reported with one of {kinds} codes" in readme
    assert f"Each of {len(CASES)} cases ends as expected" in COMPARISON
    assert f"{failing} of them are failures, with {kinds} [codes]" in COMPARISON


def test_every_security_promise_names_a_test_or_command() -> None:
    section = SECURITY.split("\n## What is promised")[1].split("\n## ")[0]
    shown = [row.split("|")[-1] for row in ROW.findall(section)[1:]]
    paths = re.findall(r"`(tests/[^`]+)`", section)

    assert [each for each in shown if "nox -s" not in each and "tests/" not in each] == []
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
    defined = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name in re.findall(r"`(test_\w+)`", section) if f"def {name}(" not in defined] == []


def test_the_pages_have_the_limits_of_messages() -> None:
    limits = Limits()
    launching = (ROOT / "docs" / "launching.md").read_text(encoding="utf-8")

    for default, name in ((megabytes(limits.bytes), "bytes"), (f"{limits.values:,}", "values")):
        assert re.search(rf"^\| `Limits\.{name}` \| {default} \|", launching, re.MULTILINE)
        assert re.search(rf"\| {default} \|.*\| `Limits\({name}=\)` \|", SECURITY)
    assert f"more than {10 * limits.bytes >> 20} MB of memory, ten times the limit of its bytes" in SECURITY


def test_the_page_of_config_files_has_a_row_for_every_format() -> None:
    section = (ROOT / "docs" / "config.md").read_text(encoding="utf-8").split("\n## Formats")[1].split("\n## ")[0]

    assert [row.split("`")[1] for row in ROW.findall(section)[1:]] == [*FORMATS]


@pytest.mark.parametrize("file", ["README.md", "src/mcp_launch/_command/cli.py"])
def test_the_readme_and_the_help_name_every_client_whose_file_is_read(file: str) -> None:
    *others, last = (format_called(name).title for name in FORMATS if name not in ("acp", "registry"))

    assert f"{', '.join(others)} or {last}" in " ".join((ROOT / file).read_text(encoding="utf-8").split())


def test_the_readme_names_the_lowest_versions_of_pydantic_and_mcp() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = {*project["dependencies"], *project["optional-dependencies"]["launch"]}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    said = re.search(r"pydantic ([\d.]+) or newer\. .*\(`mcp`\s([\d.]+) or newer\)", " ".join(readme.split()))
    assert said
    assert {f"pydantic>={said[1]},<3", f"mcp>={said[2]},<3"} <= required


def test_every_path_that_the_architecture_links_exists() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = re.findall(r"\]\((?!https?:)([^)#]+)\)", page)

    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert "(ARCHITECTURE.md)" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_tutorial_begins_with_the_smallest_example_and_ends_with_the_one_that_calls_tools() -> None:
    first, *_, last = versions((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))

    assert first == (ROOT / "examples" / "hello_agent.py").read_text(encoding="utf-8")
    assert len([line for line in first.splitlines() if line]) <= 10
    assert last == (ROOT / "examples" / "tools_agent.py").read_text(encoding="utf-8")
    assert len(last.splitlines()) <= 25

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from codegen.__main__ import main
from codegen.build import PACKAGES
from codegen.sources import LOCK, LockedFile, lock
from codegen.tree import Node
from tests.codegen.publishing import contents, write
from tests.codegen.small import SCHEMAS, TEXT, obj

ROOT = Path(__file__).parents[2]
FILE = "v1/schema.json"
DIFFERS = "The committed packages differ from what the schemas give; `nox -s generate` writes them anew.\n"
EQUAL = "The committed packages are what the schemas give.\n"


def schema(**members: Node) -> bytes:
    """A schema of one method, whose parameters have the *members*."""
    ping = obj(**members) | {"description": "Ping.", "x-side": "agent", "x-method": "ping"}
    return json.dumps(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"PingRequest": ping}}
    ).encode()


def locked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """*files* and their lock."""
    records = {file: LockedFile.of(data, source="folder:small", version="1") for file, data in files.items()}
    return {**files, LOCK: lock.render(records).encode()}


FILES = locked({file: schema(a=TEXT | {"description": "The a."}) for file in PACKAGES})


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    """A schema folder with its lock."""
    return write(tmp_path / "schema", FILES)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `schemas` gives."""
    folder = tmp_path_factory.mktemp("packages")
    assert run(write(folder / "schema", FILES), folder / "built") == 0
    return folder / "built"


@pytest.fixture
def output(packages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A copy of the packages, beside a file that is none of the command's business."""
    capsys.readouterr()
    return write(tmp_path / "acp_bindings", contents(packages) | {"codec.py": b"# by hand"})


def run(schemas: Path, output: Path, *options: str) -> int:
    return main([*options, "--schema-folder", str(schemas), "--output", str(output)])


def without_counts(printed: str) -> str:
    """What was printed after the line for each package."""
    return "".join(printed.splitlines(keepends=True)[len(PACKAGES) :])


def test_the_packages_are_written_whole_and_nothing_else_is_touched(
    schemas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = write(tmp_path / "acp_bindings", {"codec.py": b"# by hand", "v1/stale.py": b"# of an older schema"})

    status = run(schemas, output)

    assert status == 0
    printed, complaints = capsys.readouterr()
    assert printed.splitlines() == [
        "v1           1 definitions, 1 names in 1 modules",
        "v1_unstable  1 definitions, 1 names in 1 modules",
        "v2           1 definitions, 1 names in 1 modules",
        "v2_unstable  1 definitions, 1 names in 1 modules",
    ]
    assert complaints == ""
    packages = [package for package, _ in PACKAGES.values()]
    modules = ("__init__", "connection", "methods")
    assert sorted(contents(output)) == sorted(
        ["codec.py", *(f"{package}/{module}.py" for package in packages for module in modules)]
    )
    assert (output / "codec.py").read_bytes() == b"# by hand"
    assert (output / "v2_unstable" / "connection.py").read_text(encoding="utf-8") == (
        '"""ACP v2 unstable draft: connection. From folder:small by `nox -s generate`; do not edit."""\n'
        "\n"
        "from typing import Any\n"
        "\n"
        "from acp_bindings._model import AnsweredBy, Model\n"
        "from acp_bindings._types import Omittable\n"
        "\n"
        "\n"
        "class PingRequest(Model, AnsweredBy[Any]):\n"
        '    """Ping."""\n'
        "\n"
        "    a: Omittable[str | None] = None\n"
        '    """The a."""\n'
    )


def test_a_check_of_equal_packages_says_so(schemas: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(output)

    status = run(schemas, output, "--check")

    assert status == 0
    printed, complaints = capsys.readouterr()
    assert (without_counts(printed), complaints) == (EQUAL, "")
    assert contents(output) == before


def test_a_check_shows_what_a_changed_description_changes_and_that_the_schema_is_not_the_locked_one(
    schemas: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(output)
    (schemas / FILE).write_bytes(schema(a=TEXT | {"description": "Another."}))

    status = run(schemas, output, "--check")

    assert status == 1
    printed, complaints = capsys.readouterr()
    assert without_counts(printed) == (
        "--- committed/v1/connection.py\n"
        "+++ generated/v1/connection.py\n"
        "@@ -10,4 +10,4 @@\n"
        '     """Ping."""\n'
        " \n"
        "     a: Omittable[str | None] = None\n"
        '-    """The a."""\n'
        '+    """Another."""\n'
        f"\n{DIFFERS}"
    )
    assert complaints.startswith(
        f"codegen: {FILE}: it is not the file that lock.toml records from folder:small (sha256"
    )
    assert contents(output) == before


def test_a_check_fails_for_another_schema_even_where_the_packages_are_equal(
    schemas: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (schemas / FILE).write_bytes((schemas / FILE).read_bytes() + b"\n")

    status = run(schemas, output, "--check")

    assert status == 1
    printed, complaints = capsys.readouterr()
    assert without_counts(printed) == ""
    assert complaints.startswith(f"codegen: {FILE}: it is not the file that lock.toml records")


ADDED = ["--- committed/v1/more.py", "+++ generated/v1/more.py", "@@ -1 +0,0 @@", "-x = 1"]
REMOVED = ["--- committed/v1/connection.py", "+++ generated/v1/connection.py", "@@ -0,0 +1,13 @@"]


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (("v1/connection.py", None), REMOVED),
        (("v2/__init__.py", "# edited\n"), ["--- committed/v2/__init__.py", "+++ generated/v2/__init__.py"]),
        (("v1/more.py", "x = 1\n"), ADDED),
        (("v1/empty.py", ""), ["committed/v1/empty.py is empty, and not generated"]),
    ],
    ids=["removed", "edited", "added", "added, empty"],
)
def test_a_check_fails_for_a_file_that_is_not_as_generated(
    schemas: Path, output: Path, change: tuple[str, str | None], shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    file, text = change
    if text is None:
        (output / file).unlink()
    else:
        (output / file).write_text(text, encoding="utf-8")

    status = run(schemas, output, "--check")

    assert status == 1
    printed, complaints = capsys.readouterr()
    assert without_counts(printed).splitlines()[: len(shown)] == shown
    assert printed.endswith(f"\n{DIFFERS}")
    assert complaints == ""


@pytest.mark.parametrize(
    ("file", "options"), [(FILE, []), ("v2/schema.unstable.json", []), ("v2/schema.json", ["--check"])]
)
def test_nothing_is_written_when_one_of_the_schemas_cannot_be_built(
    schemas: Path, output: Path, capsys: pytest.CaptureFixture[str], file: str, options: list[str]
) -> None:
    before = contents(output)
    files = {each: schema(b=TEXT) for each in PACKAGES}
    write(schemas, locked(files | {file: schema(b=TEXT | {"contentMediaType": "x"})}))

    status = run(schemas, output, *options)

    assert status == 2
    said = f"codegen: {file}: $defs/PingRequest/properties/b: no rule for the keyword contentMediaType\n"
    assert capsys.readouterr().err == said
    assert contents(output) == before


def test_all_packages_stay_as_they_were_when_the_disk_refuses_one_file(
    schemas: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(schemas, locked({each: schema(b=TEXT) for each in PACKAGES}))
    (output / "v2_unstable" / "connection.py").unlink()
    write(output / "v2_unstable" / "connection.py", {"in the way": b"a module that is a folder"})
    before = contents(output)

    status = run(schemas, output)

    assert status == 2
    assert "connection.py: " in capsys.readouterr().err
    assert contents(output) == before


def test_only_the_locked_schemas_are_written_from(
    schemas: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(output)
    (schemas / FILE).write_bytes(schema(b=TEXT))

    status = run(schemas, output)

    assert status == 2
    assert capsys.readouterr().err.startswith(f"codegen: {FILE}: it is not the file that lock.toml records")
    assert contents(output) == before


@pytest.mark.parametrize("options", [[], ["--check"]], ids=["write", "check"])
@pytest.mark.parametrize("file", [FILE, LOCK])
def test_a_schema_or_a_lock_that_is_missing_is_an_error(
    schemas: Path, output: Path, capsys: pytest.CaptureFixture[str], file: str, options: list[str]
) -> None:
    before = contents(output)
    (schemas / file).unlink()

    status = run(schemas, output, *options)

    assert status == 2
    assert capsys.readouterr().err.startswith(f"codegen: {file}: ")
    assert contents(output) == before


def test_a_schema_that_is_cut_off_is_an_error(schemas: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (schemas / FILE).write_bytes((schemas / FILE).read_bytes()[:-20])

    status = run(schemas, output, "--check")

    assert status == 2
    assert "cut off" in capsys.readouterr().err


def test_the_committed_packages_are_what_the_schemas_give_whatever_the_order_of_sets(tmp_path: Path) -> None:
    """Two builds in two processes, which hash text differently, give the committed bytes."""
    command = [sys.executable, "-m", "codegen", "--output"]
    builds = [
        subprocess.Popen(
            [*command, str(tmp_path / seed)],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "3")
    ]
    printed = [build.communicate(timeout=120)[0] for build in builds]

    assert [build.returncode for build in builds] == [0, 0]
    # In the README it is the beginning of what the demo prints.
    assert printed == [shown_in_the_readme()] * 2
    committed = ROOT / "src" / "acp_bindings"
    for package, _ in PACKAGES.values():
        generated = contents(tmp_path / "1" / package)
        assert contents(tmp_path / "3" / package) == generated
        assert {file: data for file, data in contents(committed / package).items() if file.endswith(".py")} == generated


def shown_in_the_readme() -> str:
    """What stands there between the command of the demo and the line that all is equal."""
    return (ROOT / "README.md").read_text(encoding="utf-8").partition(EQUAL)[0].rpartition("nox -s demo\n")[2]


def test_a_changed_description_in_a_real_schema_is_a_small_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real = {file: (SCHEMAS / file).read_bytes() for file in (*PACKAGES, LOCK)}
    old = b"A unique identifier for a conversation session between a client and agent."
    assert old in real[FILE]
    schemas = write(tmp_path / "schema", real | {FILE: real[FILE].replace(old, b"Which session it is.")})

    status = run(schemas, ROOT / "src" / "acp_bindings", "--check")

    assert status == 1
    changed = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("+", "-"))]
    assert changed == [
        "--- committed/v1/common.py",
        "+++ generated/v1/common.py",
        f'-"""{old.decode()}',
        '+"""Which session it is.',
    ]

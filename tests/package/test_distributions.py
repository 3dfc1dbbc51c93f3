"""What is published: the wheel and the sdist that `nox -s package` built, looked into and installed."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

DIST = Path(os.environ["ACP_DIST"]).resolve()
ROOT = Path(__file__).resolve().parents[2]
BROUGHT_BY_PYDANTIC = {"annotated-types", "pydantic", "pydantic-core", "typing-extensions", "typing-inspection"}


@pytest.fixture(scope="module")
def wheel() -> Path:
    (path,) = DIST.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an empty environment with nothing but the wheel installed."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
    return python


def files(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_the_two_packages_and_nothing_else(wheel: Path) -> None:
    expected = {
        path.relative_to(ROOT / "src").as_posix()
        for package in ("acp_bindings", "mcp_launch")
        for path in (ROOT / "src" / package).rglob("*")
        if path.suffix in (".py", ".html", ".css") or path.name == "py.typed"
    }
    packed = {name for name in files(wheel) if ".dist-info/" not in name}
    assert packed == expected
    assert {"acp_bindings/py.typed", "mcp_launch/py.typed", "mcp_launch/command/show/page.html"} <= packed


def test_the_wheel_carries_both_licences(wheel: Path) -> None:
    licences = {name.split(".dist-info/licenses/")[1] for name in files(wheel) if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "schema/LICENSE"}


def test_the_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    (sdist,) = DIST.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    subprocess.run([sys.executable, "-m", "build", "--quiet", "--wheel", "--outdir", tmp_path, source], check=True)
    (rebuilt,) = tmp_path.glob("*.whl")
    assert files(rebuilt) == files(wheel)


def test_installing_it_brings_pydantic_and_nothing_heavier(installed: Path) -> None:
    listed = subprocess.run(
        [installed, "-m", "pip", "list", "--format=freeze"], check=True, capture_output=True, text=True
    ).stdout
    names = {line.split("==")[0].lower().replace("_", "-") for line in listed.split()}
    assert names - {"pip", "setuptools", "wheel"} == BROUGHT_BY_PYDANTIC | {"acp-bindings"}


def test_the_bindings_work_with_pydantic_alone(installed: Path) -> None:
    code = "from acp_bindings import v1, decode; print(decode(v1.SessionNotification, b'{}'))"
    result = subprocess.run([installed, "-c", code], capture_output=True, text=True, check=False)
    assert result.stderr.splitlines()[-3:] == [
        "acp_bindings.errors.DecodeError: SessionNotification: 2 issues",
        "  sessionId: Field required",
        "  update: Field required",
    ]


def test_the_check_needs_nothing_else(installed: Path) -> None:
    payload = '{"cwd": ".", "mcpServers": []}'
    result = subprocess.run(
        [installed.with_name("acp-bindings"), "check", "-"], input=payload, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout.startswith("-:1: error[path.cwd]: cwd: ")


def test_the_command_says_what_to_install_when_its_extra_is_missing(installed: Path) -> None:
    result = subprocess.run(
        [installed.with_name("mcp-launch"), "check", "x.json"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert "pip install 'acp-bindings[launch]'" in result.stderr
    assert result.stdout == ""

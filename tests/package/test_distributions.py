"""The wheel and the sdist of `nox -s package`: their content, and that they work when installed."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

DIST = Path(os.environ["ACP_DIST"]).resolve()
ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BROUGHT_BY_PYDANTIC = {"annotated-types", "pydantic", "pydantic-core", "typing-extensions", "typing-inspection"}


@pytest.fixture(scope="module")
def wheel() -> Path:
    (path,) = DIST.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def sdist() -> Path:
    (path,) = DIST.glob("*.tar.gz")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that only contains the wheel."""
    return environment(tmp_path_factory.mktemp("environment"), str(wheel))


def environment(folder: Path, requirement: str) -> Path:
    """Return the Python of a new environment, which does not contain pip."""
    venv.create(folder)
    python = folder / "bin" / "python"
    pip(python, "install", "--quiet", requirement)
    return python


def pip(python: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pip", "--python", python, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def files(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def metadata(wheel: Path) -> tuple[Message, str]:
    """Return the fields of the metadata, and the project description below them."""
    (data,) = [data for name, data in files(wheel).items() if name.endswith(".dist-info/METADATA")]
    fields, _, page = data.decode().partition("\n\n")
    return message_from_string(fields), page


def test_the_wheel_contains_only_the_two_packages(wheel: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "."], cwd=ROOT / "src", check=True, capture_output=True, text=True)
    expected = set(listed.stdout.splitlines())
    packed = {name for name in files(wheel) if ".dist-info/" not in name}
    assert packed == expected
    assert {"acp_bindings/py.typed", "mcp_launch/py.typed", "mcp_launch/_command/show/page.html"} <= packed


def test_the_wheel_carries_both_licences(wheel: Path) -> None:
    licences = {name.split(".dist-info/licenses/")[1] for name in files(wheel) if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "schema/LICENSE"}


def test_the_wheel_is_platform_independent(wheel: Path) -> None:
    assert wheel.name == f"acp_bindings-{PROJECT['version']}-py3-none-any.whl"


def test_the_metadata_is_that_of_the_project(wheel: Path) -> None:
    said, _ = metadata(wheel)
    assert (said["Name"], said["Version"]) == (PROJECT["name"], PROJECT["version"])
    assert (said["License-Expression"], said["Requires-Python"]) == (PROJECT["license"], PROJECT["requires-python"])
    assert said.get_all("Classifier") == PROJECT["classifiers"]
    assert said.get_all("Provides-Extra") == sorted(PROJECT["optional-dependencies"])
    assert dict(url.split(", ") for url in said.get_all("Project-URL", [])) == PROJECT["urls"]


def test_the_package_page_is_the_readme_with_absolute_links(wheel: Path) -> None:
    said, page = metadata(wheel)
    assert said["Description-Content-Type"] == "text/markdown"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blob = f"{PROJECT['urls']['Repository']}/blob/v{PROJECT['version']}/"
    targets = re.findall(LINK, page)
    assert [target for target in targets if not target.startswith("https://")] == []
    here = [target.removeprefix(blob).partition("#")[0] for target in targets if target.startswith(blob)]
    assert len(here) > 10
    assert [path for path in here if not (ROOT / path).exists()] == []
    # And nothing else is changed.
    assert re.sub(LINK, "", page) == re.sub(LINK, "", readme)


LINK = re.compile(r"(?<=\]\()[^)]+(?=\))")


def test_the_sdist_contains_the_committed_files(sdist: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert packed == {*listed.splitlines(), "PKG-INFO"}


def test_building_again_gives_the_same_bytes(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    later = os.environ | {"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-m", "build", "--quiet", "--outdir", tmp_path]
    subprocess.run(command, cwd=ROOT, env=later, umask=0o077, check=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in (wheel, sdist)
    }


def test_the_sdist_builds_the_same_wheel(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    subprocess.run([sys.executable, "-m", "build", "--quiet", "--wheel", "--outdir", tmp_path, source], check=True)
    (rebuilt,) = tmp_path.glob("*.whl")
    assert files(rebuilt) == files(wheel)


def test_installing_it_brings_pydantic_and_nothing_heavier(installed: Path) -> None:
    listed = pip(installed, "list", "--format=freeze")
    names = {line.split("==")[0].lower().replace("_", "-") for line in listed.split()}
    assert names == BROUGHT_BY_PYDANTIC | {"acp-bindings"}


def test_the_bindings_require_only_pydantic(installed: Path) -> None:
    code = "from acp_bindings import v1, decode; print(decode(v1.SessionNotification, b'{}'))"
    result = subprocess.run([installed, "-c", code], capture_output=True, text=True, check=False)
    assert result.stderr.splitlines()[-3:] == [
        "acp_bindings.errors.DecodeError: SessionNotification: 2 issues",
        "  sessionId: Field required",
        "  update: Field required",
    ]


def test_the_check_needs_nothing_else_in_python(installed: Path) -> None:
    code = """
from acp_bindings.check import Check
for found in Check([b'{"cwd": ".", "mcpServers": []}']):
    print(found.line, found.rule)
"""
    result = subprocess.run([installed, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "1 path.cwd\n", "")


@pytest.mark.parametrize(("command", "extra"), [("acp-bindings", "tools"), ("mcp-launch", "launch")])
def test_a_command_without_its_extra_names_what_to_install(installed: Path, command: str, extra: str) -> None:
    result = subprocess.run(
        [installed.with_name(command), "check", "x.json"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert f"pip install 'acp-bindings[{extra}]'" in result.stderr
    assert result.stdout == ""


def test_the_commands_are_those_of_the_project(installed: Path) -> None:
    code = """
from importlib.metadata import distribution
for each in distribution("acp-bindings").entry_points:
    print(each.group, each.name, each.value)
"""
    listed = subprocess.run([installed, "-c", code], check=True, capture_output=True, text=True).stdout.splitlines()
    groups = {"console_scripts": PROJECT["scripts"], **PROJECT.get("entry-points", {})}
    declared = [f"{group} {name} {value}" for group, each in groups.items() for name, value in each.items()]
    assert sorted(listed) == sorted(declared)


@pytest.mark.parametrize(
    ("extra", "module"),
    [("connection", "acp_bindings.connection"), ("launch", "mcp_launch"), ("remote", "acp_bindings.remote")],
)
def test_each_extra_installs_what_its_package_needs(wheel: Path, extra: str, module: str, tmp_path: Path) -> None:
    python = environment(tmp_path, f"{wheel}[{extra}]")
    code = f"import {module} as m; [getattr(m, name) for name in m.__all__]"
    subprocess.run([python, "-W", "error", "-c", code], cwd=tmp_path, check=True)
    pip(python, "check")
    if extra == "launch":
        args = [str(ROOT / "examples" / "greeter_stdio.py")]
        env = [{"name": "GREETING", "value": "Hello"}]
        servers = json.dumps([{"name": "greeter", "command": str(python), "args": args, "env": env}])
        command = [python.with_name("mcp-launch"), "check", "-"]
        done = subprocess.run(command, input=servers, capture_output=True, text=True, check=False, timeout=120)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("ok   greeter stdio 1 tool: greet")

"""The tasks of this repository; `nox -l` lists them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import nox
from packaging.requirements import Requirement  # nox needs it too

nox.options.sessions = ["lint", "types", "drift", "tests", "docs"]
nox.options.reuse_existing_virtualenvs = True

PYTHONS = ["3.11", "3.12", "3.13", "3.14", "3.15"]
PROJECT = nox.project.load_toml("pyproject.toml")
EXTRA = ".[launch,remote]"
TWO_AT_ONCE = ("-n", "2", "--dist", "worksteal")
"""The options of pytest for two cores."""
FOUR_AT_ONCE = ("-n", "4", "--dist", "worksteal")
"""The same for tests that wait for processes half of the time."""


def group(name: str) -> list[str]:
    """Return the requirements of one dependency group of pyproject.toml."""
    return list(nox.project.dependency_groups(PROJECT, name))


NPM_OPTIONS = ("--prefer-offline", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts")
NPM_PATIENCE = ("--fetch-timeout=60000", "--fetch-retries=0")
"""Sixty seconds for each package. By default, npm tries three times, and waits five minutes each time."""


def npm_install(session: nox.Session, folder: str, *more: str) -> None:
    """Install the packages of the package.json in *folder*, and *more*, into that folder, without running scripts."""
    session.run("npm", "install", "--prefix", folder, *NPM_OPTIONS, *NPM_PATIENCE, *more, external=True)


def pypi_install(session: nox.Session, folder: str) -> None:
    """Install the packages of the requirements.txt in *folder*, each into its own environment, as their pins differ."""
    lines = Path(folder, "requirements.txt").read_text().splitlines()
    for each in (line for line in lines if not line.startswith("#")):
        environment = Path(folder, ".venv", Requirement(each).name)
        session.run("python", "-m", "venv", environment)
        python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
        session.run(python, "-m", "pip", "install", "--quiet", each, external=True)


def official_examples(session: nox.Session) -> Path:
    """Return the folder with the examples of the official Python SDK, which only its source distribution has."""
    name = "agent-client-protocol"
    (official,) = (each for each in group("peers") if Requirement(each).name == name)
    folder = Path(session.create_tmp(), official)
    if not any(folder.glob("*/examples")):
        session.run("pip", "download", "--quiet", "--no-deps", "--no-binary", name, "--dest", str(folder), official)
        for archive in folder.glob("*.tar.gz"):
            shutil.unpack_archive(archive, folder, filter="data")
    return next(folder.glob("*/examples"), folder)


def typescript_sdk(session: nox.Session) -> str:
    """Return the npm package of the schemas, with its version."""
    sources = {entry["source"] for entry in nox.project.load_toml("schema/lock.toml").values()}
    if len(sources) != 1 or not min(sources).startswith("npm:"):
        session.error(f"all schemas must be of one npm release, not of {', '.join(sorted(sources))}")
    return str(min(sources)).removeprefix("npm:")


@nox.session
def demo(session: nox.Session) -> None:
    """Check the bindings against the schemas, and launch three MCP servers for an ACP session."""
    session.install("-e", EXTRA, *group("codegen"))
    session.run("python", "-m", "codegen", "--check")
    session.run("python", "examples/demo.py")


@nox.session(reuse_venv=False)
def walk(session: nox.Session) -> None:
    """Run the steps of README and tutorial with the wheel in a new environment, and compare the output."""
    with tempfile.TemporaryDirectory() as folder:
        session.run("python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ".")
        (wheel,) = Path(folder).glob("*.whl")
        session.install(f"{wheel}[launch]")
    session.run("python", "-P", "-c", NOT_FROM_HERE)
    session.run("python", "-m", "tests.docs.walk")


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests except those marked `full`. Arguments go to pytest: `nox -s tests -- -k stdio`."""
    session.install("-e", EXTRA, *group("codegen"), *group("test"))
    session.run("pytest", *FOUR_AT_ONCE, "-m", "not full", *session.posargs)


@nox.session(default=False)
def tests_full(session: nox.Session) -> None:
    """Run all tests, on both event loops, as CI does. Arguments go to pytest."""
    session.install("-e", EXTRA, *group("codegen"), *group("pictures"), *group("test"))
    session.run("pytest", *FOUR_AT_ONCE, *session.posargs)


@nox.session(python=PYTHONS, default=False)
def tests_all(session: nox.Session) -> None:
    """Run all tests on every supported Python that is installed. Arguments go to pytest."""
    session.install("-e", EXTRA, *group("codegen"), *group("test"))
    session.run("pytest", *FOUR_AT_ONCE, *session.posargs)


@nox.session(default=False)
def minimums(session: nox.Session) -> None:
    """Run tests with every dependency at its lowest supported version. Arguments go to pytest."""
    # As constraints, because pip then refuses a bound that conflicts with others instead of taking a later version.
    floors = Path(session.create_tmp()) / "floors.txt"
    floors.write_text("\n".join(lower_bounds()), encoding="utf-8")
    session.install("-e", EXTRA, *group("codegen"), *group("test"), "--constraint", str(floors))
    session.run("pip", "check")
    session.run("pytest", *TWO_AT_ONCE, *(session.posargs or MINIMUM_TESTS))


MINIMUM_TESTS = (
    "tests/acp_bindings/agent/test_redis.py",
    "tests/acp_bindings/jsonrpc",
    "tests/mcp_launch/explore",
    *(
        f"tests/acp_bindings/test_{each}.py"
        for each in ("codec", "encoding", "json_schema", "models", "shown", "subclasses")
    ),
    *(
        f"tests/mcp_launch/test_{each}.py"
        for each in ("command", "content", "interrupted", "logs", "network", "sessions")
    ),
)
"""The tests that depend most on other packages. All tests would take many minutes."""


def lower_bounds() -> list[str]:
    """Return the lowest declared version of each dependency of the package and its extras."""
    project = PROJECT["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    declared = [Requirement(each) for each in [*project["dependencies"], *sum(extras.values(), start=list[str]())]]
    return [
        f"{each.name}=={bound.version}" + (f"; {each.marker}" if each.marker else "")
        for each in declared
        for bound in each.specifier
        if bound.operator == ">="
    ]


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff. `-- --fix` fixes what ruff can fix."""
    session.install(*group("lint"))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", *([] if "--fix" in session.posargs else ["--check"]))


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of this code, and of code that uses the packages, with mypy, pyright and ty."""
    session.install(EXTRA, *group("codegen"), *group("docs"), *group("test"), *group("types"), *group("peers"))
    # A reused environment keeps a package that has the same version, although the code has changed.
    session.install("--force-reinstall", "--no-deps", ".")
    session.run("mypy")
    session.run("pyright")
    session.run("ty", "check")
    # The code for Windows, which cannot run here.
    for_windows = ("src/acp_bindings/_tap", "src/acp_bindings/agent", "src/acp_bindings/connection", "src/mcp_launch")
    session.run("mypy", "--platform", "win32", "--cache-dir", ".mypy_cache/win32", *for_windows)
    session.run("pyright", "--pythonplatform", "Windows", *for_windows)
    session.run("ty", "check", "--python-platform", "win32", *for_windows)
    # With the cache of the first run, which contains all dependencies. Two runs must not write it at the same time.
    session.run("pytest", "tests/typing", *session.posargs, env={"MYPY_CACHE_DIR": str(Path(".mypy_cache").absolute())})


@nox.session
def generate(session: nox.Session) -> None:
    """Generate the bindings from schema/. `-- --check` writes nothing, but prints a diff and fails if there is one."""
    session.install("-e", ".", *group("codegen"))
    session.run("python", "-m", "codegen", *session.posargs)


@nox.session
def drift(session: nox.Session) -> None:
    """Fail if the committed bindings differ from those that the schemas give (`generate -- --check`)."""
    session.install("-e", ".", *group("codegen"))
    session.run("python", "-m", "codegen", "--check")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into site/ and check its links. `-- --write` first updates embedded program output."""
    session.install("-e", ".", *group("docs"))
    if "--write" in session.posargs:
        session.install("-e", EXTRA, *group("codegen"), *group("test"))
        session.run("python", "-m", "tests.docs.embed")
    shutil.rmtree("site", ignore_errors=True)
    session.run("sphinx-build", "-q", "-E", "-W", "--keep-going", "-c", "docs/making", ".", "site")
    session.run("python", "docs/making/links.py", "site")


@nox.session
def workflows(session: nox.Session) -> None:
    """Check the GitHub workflows for security problems with zizmor, offline."""
    session.install(*group("workflows"))
    session.run("zizmor", "--offline", "--quiet", "--persona=pedantic", ".github", *session.posargs)


@nox.session(default=False)
def requirements(session: nox.Session) -> None:
    """Write docs/requirements.md, the list of requirements and their tests. `-- --check` only compares."""
    session.run("python", "-m", "tests.docs.requirements", *session.posargs)


@nox.session(default=False)
def conversation(session: nox.Session) -> None:
    """Record a conversation of the example client and agent for docs/. `-- --check` only compares."""
    session.install("-e", EXTRA, *group("test"))
    session.run("python", "-m", "tests.docs.conversation", *session.posargs)


@nox.session(default=False)
def pictures(session: nox.Session) -> None:
    """Write docs/pictures: `mcp-launch check` in a terminal, and pages in the browser. Needs Chromium."""
    session.install("-e", EXTRA, *group("pictures"))
    session.run("python", "-m", "tests.docs.pictures")


@nox.session(default=False)
def failures(session: nox.Session) -> None:
    """Print all ways in which a server can fail, with expected and actual reports. `-- --messages` shows messages."""
    session.install("-e", EXTRA, *group("test"))
    session.run("python", "-m", "tests.mcp_launch.failures.table", *session.posargs)


@nox.session(default=False)
def update_schema(session: nox.Session) -> None:
    """Replace the schemas by the ones in an npm package or a folder: `-- npm:@agentclientprotocol/sdk@latest`."""
    session.install("-e", ".", *group("codegen"))
    session.run("python", "-m", "codegen.update", *session.posargs)


@nox.session(default=False)
def watch_schema(session: nox.Session) -> None:
    """If npm has newer schemas, write a branch and a pull request text that update to them: `-- FOLDER`."""
    session.install("-e", ".", *group("codegen"), *group("test"))
    session.run("python", "-m", "codegen.watch", *session.posargs)


@nox.session(default=False)
def history(session: nox.Session) -> None:
    """Build and test every schema ever published in npm, or only some: `-- 1.9.0 2.0.0`. `-- --help` lists options."""
    session.install("-e", ".", *group("codegen"), *group("test"))
    kept = Path(session.cache_dir) / "schemas"
    session.run("python", "-m", "tests.codegen.history_report", f"--kept={kept}", *session.posargs)


@nox.session(default=False)
def counts(session: nox.Session) -> None:
    """Print for every schema how many random instances of its definitions are preserved by a round trip."""
    session.install("-e", ".", *group("test"))
    session.run("python", "-m", "tests.acp_bindings.roundtrip_report", *session.posargs)


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Decode a million randomly mutated messages. `-- --count 10000 --seed 7` chooses number and seed."""
    session.install("-e", ".", *group("test"))
    session.run("python", "-m", "tests.acp_bindings.fuzz", *session.posargs)


@nox.session(default=False)
def interrupted(session: nox.Session) -> None:
    """Cancel a launch before every step of its tasks, and check that nothing is left running."""
    session.install("-e", EXTRA, *group("test"))
    session.run("python", "-m", "tests.mcp_launch.interrupted")


@nox.session(default=False)
def soak(session: nox.Session) -> None:
    """Open and close servers a thousand times, and check that memory does not grow. `-- --cycles 5000 --seed 7`."""
    session.install("-e", EXTRA, *group("test"))
    session.run("python", "-m", "tests.mcp_launch.soak", *session.posargs)


@nox.session
def peers(session: nox.Session) -> None:
    """Test defects of the official Python SDK, and that these packages do not have them."""
    session.install("-e", ".[connection]", *group("peers"), *group("test"))
    session.run("pytest", "tests/peers", *session.posargs)


@nox.session(default=False)
def interop(session: nox.Session) -> None:
    """Compare decoding with the TypeScript SDK. Needs Node 20. Arguments go to pytest."""
    session.install("-e", ".", *group("test"))
    npm_install(session, "tests/interop", typescript_sdk(session))
    session.run("pytest", *TWO_AT_ONCE, "tests/interop", *session.posargs)


@nox.session(default=False)
def remote(session: nox.Session) -> None:
    """Run workers behind nginx and HAProxy with Redis, and kill them. Needs these programs. Arguments go to pytest."""
    session.install("-e", EXTRA, *group("test"), *group("remote"))
    session.run("pytest", "-p", "no:cacheprovider", "tests/remote", *session.posargs)


@nox.session(default=False)
def programs(session: nox.Session) -> None:
    """Connect third-party agents and clients with ours. Needs Node 20. `-- --write-page` writes docs/interop.md."""
    session.install("-e", EXTRA, *group("test"), *group("peers"))
    npm_install(session, "tests/programs", typescript_sdk(session))
    examples = official_examples(session)
    session.run("pytest", "tests/programs", *session.posargs, env={"OFFICIAL_EXAMPLES": str(examples)})


@nox.session(default=False)
def remote_peers(session: nox.Session) -> None:
    """Connect third-party agents and clients with ours over HTTP and WebSocket. Needs Node 20."""
    session.install("-e", EXTRA, *group("test"), *group("peers"))
    npm_install(session, "tests/remote_peers", typescript_sdk(session))
    session.run("pytest", *TWO_AT_ONCE, "tests/remote_peers", *session.posargs)


@nox.session(default=False)
def servers(session: nox.Session) -> None:
    """Launch third-party MCP servers from npm and PyPI. Needs Node 20. Arguments go to pytest."""
    session.install("-e", EXTRA, *group("test"), *group("servers"))
    npm_install(session, "tests/servers")
    session.run("pytest", *TWO_AT_ONCE, "tests/servers", *session.posargs)


@nox.session(default=False)
def conformance(session: nox.Session) -> None:
    """Run the client scenarios of MCP's conformance tests, with our session and with the SDK's. Needs npm."""
    session.install("-e", EXTRA, *group("test"))
    npm_install(session, "tests/conformance")
    session.run("python", "-m", "tests.conformance", *session.posargs)


@nox.session(default=False, python="3.13")  # some agents allow no newer version, others require 3.12
def agents(session: nox.Session) -> None:
    """Connect to third-party agents and check docs/agents.md. `-- --write` writes it. Needs 2 GB on disk.

    `-- --probe` probes them instead, and writes the table of docs/probe.md.
    """
    session.install("-e", EXTRA, *group("test"))
    npm_install(session, "tests/agents")
    pypi_install(session, "tests/agents")
    if "--probe" in session.posargs:
        session.run("python", "-m", "tests.agents.probing")
    else:
        session.run("python", "-m", "tests.agents", *session.posargs)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure speed: `-- bindings`, `command`, `connection`, `launch`, `limits`, `remote`, `tap`, `view`."""
    name, *options = session.posargs or ["bindings"]
    session.install(EXTRA, *group(f"bench-{name}"))
    if name in ("command", "remote") and shutil.which("npm"):
        npm_install(session, f"benchmarks/{name}")
    session.run("python", "-m", f"benchmarks.{name}", *options)


@nox.session
def package(session: nox.Session) -> None:
    """Build sdist and wheel, and test their content and that they work when installed."""
    session.install(*group("package"), *group("test"))
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build", "--quiet")
    session.run("twine", "check", "--strict", *map(str, Path("dist").iterdir()))
    session.run(
        "pytest", "--noconftest", "-p", "no:cacheprovider", "tests/package", env={"ACP_DIST": str(Path("dist"))}
    )


@nox.session(python=PYTHONS, default=False)
def installed(session: nox.Session) -> None:
    """Run the tests against the wheel in dist/ instead of the sources."""
    (wheel,) = Path("dist").glob("*.whl")
    session.install(f"./{wheel}[launch]", *group("codegen"), *group("test"))
    # A reused environment keeps a package that has the same version.
    session.install("--force-reinstall", "--no-deps", f"./{wheel}")
    session.run("python", "-P", "-c", NOT_FROM_HERE)
    session.run("pytest", *TWO_AT_ONCE, *session.posargs)


NOT_FROM_HERE = """
import pathlib, sysconfig, acp_bindings, mcp_launch
installed = pathlib.Path(sysconfig.get_path("purelib"))
assert all(installed in pathlib.Path(package.__file__).parents for package in (acp_bindings, mcp_launch)), installed
"""


@nox.session(default=False)
def release_notes(session: nox.Session) -> None:
    """Print the release notes for a tag, or the reason why it cannot be released: `-- v1.2.0`."""
    session.install(*group("release"))
    session.run("python", "-m", "release", *session.posargs)

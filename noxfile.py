"""Everything that is done with this repository; `nox -l` lists it."""

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
EXTRA = ".[launch]"
TWO_AT_ONCE = ("-n", "2", "--dist", "worksteal")
"""How pytest runs tests on two cores."""
FOUR_AT_ONCE = ("-n", "4", "--dist", "worksteal")
"""The same for tests that wait for processes half of the time."""


def group(name: str) -> list[str]:
    """The requirements of one dependency group, so that versions stand in pyproject.toml alone."""
    return list(nox.project.dependency_groups(PROJECT, name))


def npm_install(session: nox.Session, folder: str, *more: str) -> None:
    """Install what the package.json of a folder names, and more, into that folder; nothing of it is run."""
    options = ("--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts")
    session.run("npm", "install", "--prefix", folder, *options, *more, external=True)


def pypi_install(session: nox.Session, folder: str) -> None:
    """Install what the requirements.txt of a folder names, each into its own environment: they pin what they need."""
    named = (line for line in Path(folder, "requirements.txt").read_text().splitlines() if not line.startswith("#"))
    for each in named:
        environment = Path(folder, ".venv", Requirement(each).name)
        session.run("python", "-m", "venv", environment)
        python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
        session.run(python, "-m", "pip", "install", "--quiet", each, external=True)


def typescript_sdk(session: nox.Session) -> str:
    """The npm package that the schemas are of, by name and version."""
    sources = {entry["source"] for entry in nox.project.load_toml("schema/lock.toml").values()}
    if len(sources) != 1 or not min(sources).startswith("npm:"):
        session.error(f"only schemas of one npm release have a reader to compare with, not those of {sorted(sources)}")
    return str(min(sources)).removeprefix("npm:")


@nox.session
def demo(session: nox.Session) -> None:
    """Regenerate the bindings, compare them, and talk to three MCP servers (the main job, from end to end)."""
    session.install("-e", EXTRA, *group("codegen"))
    session.run("python", "-m", "codegen", "--check")
    session.run("python", "examples/demo.py")


@nox.session(reuse_venv=False)
def walk(session: nox.Session) -> None:
    """Do what README and tutorial say as a newcomer does, with the wheel in a new environment; it must come out so."""
    with tempfile.TemporaryDirectory() as folder:
        session.run("python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ".")
        (wheel,) = Path(folder).glob("*.whl")
        session.install(f"{wheel}[launch]")
    session.run("python", "-P", "-c", NOT_FROM_HERE)
    session.run("python", "-m", "tests.docs.walk")


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests except those marked `full`; arguments go to pytest: `nox -s tests -- -k stdio`."""
    session.install("-e", EXTRA, *group("codegen"), *group("test"))
    session.run("pytest", *FOUR_AT_ONCE, "-m", "not full", *session.posargs)


@nox.session(default=False)
def tests_full(session: nox.Session) -> None:
    """Run all tests, on both event loops, as CI does; arguments go to pytest."""
    session.install("-e", EXTRA, *group("codegen"), *group("test"))
    session.run("pytest", *FOUR_AT_ONCE, *session.posargs)


@nox.session(python=PYTHONS, default=False)
def tests_all(session: nox.Session) -> None:
    """Run all tests on every supported Python that is installed."""
    session.install("-e", EXTRA, *group("codegen"), *group("test"))
    session.run("pytest", *FOUR_AT_ONCE, *session.posargs)


@nox.session(default=False)
def minimums(session: nox.Session) -> None:
    """Run the tests with every dependency, of the extras too, at its lower bound; arguments go to pytest."""
    # As constraints: a bound that the others rule out is refused, where a resolver would just take a later version.
    floors = Path(session.create_tmp()) / "floors.txt"
    floors.write_text("\n".join(lower_bounds()), encoding="utf-8")
    session.install("-e", EXTRA, *group("codegen"), *group("test"), "--constraint", str(floors))
    session.run("pip", "check")
    session.run("pytest", *TWO_AT_ONCE, *(session.posargs or MINIMUM_TESTS))


MINIMUM_TESTS = (
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
"""Those that depend most on what others do; all of them take many minutes."""


def lower_bounds() -> list[str]:
    """Each dependency of the package and its extras as an exact version: the lowest that is declared."""
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
    """Check style and formatting with ruff; `-- --fix` mends what it can."""
    session.install(*group("lint"))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", *([] if "--fix" in session.posargs else ["--check"]))


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy, pyright and ty, of this code and of code that uses the installed packages."""
    session.install(EXTRA, *group("codegen"), *group("docs"), *group("test"), *group("types"), *group("peers"))
    # As a user has them, and as they are now: an environment that is used again keeps what has the same version.
    session.install("--force-reinstall", "--no-deps", ".")
    session.run("mypy")
    session.run("pyright")
    session.run("ty", "check")
    # What is only there for Windows, which nothing here can run.
    for_windows = ("src/acp_bindings/connection", "src/mcp_launch")
    session.run("mypy", "--platform", "win32", *for_windows)
    session.run("pyright", "--pythonplatform", "Windows", *for_windows)
    session.run("ty", "check", "--python-platform", "win32", *for_windows)
    session.run("pytest", "-n", "2", "tests/typing", *session.posargs)


@nox.session
def generate(session: nox.Session) -> None:
    """Write the bindings from schema/; `-- --check` prints a diff instead and fails when there is one."""
    session.install("-e", ".", *group("codegen"))
    session.run("python", "-m", "codegen", *session.posargs)


@nox.session
def drift(session: nox.Session) -> None:
    """Fail when the committed bindings are not what the schemas give (`generate -- --check`)."""
    session.install("-e", ".", *group("codegen"))
    session.run("python", "-m", "codegen", "--check")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site into site/, of which no link may be broken; `-- --write` first fills in what programs print."""
    session.install("-e", ".", *group("docs"))
    if "--write" in session.posargs:
        session.install("-e", EXTRA, *group("codegen"))
        session.run("python", "-m", "tests.docs.embed")
    shutil.rmtree("site", ignore_errors=True)
    session.run("sphinx-build", "-q", "-E", "-W", "--keep-going", "-c", "docs/making", ".", "site")
    session.run("python", "docs/making/links.py", "site")


@nox.session
def workflows(session: nox.Session) -> None:
    """Look for weaknesses in what GitHub runs, with zizmor; it asks nothing of the network."""
    session.install(*group("workflows"))
    session.run("zizmor", "--offline", "--quiet", "--persona=pedantic", ".github", *session.posargs)


@nox.session(default=False)
def requirements(session: nox.Session) -> None:
    """Write docs/requirements.md, which lists what is required and its tests; `-- --check` only compares."""
    session.run("python", "-m", "tests.docs.requirements", *session.posargs)


@nox.session(default=False)
def conversation(session: nox.Session) -> None:
    """Have the example client talk with the example agent, and record it for docs/; `-- --check` only compares."""
    session.install("-e", EXTRA)
    session.run("python", "-m", "tests.docs.conversation", *session.posargs)


@nox.session(default=False)
def pictures(session: nox.Session) -> None:
    """Write docs/pictures: `mcp-launch check` on a terminal, and its page; needs Chromium."""
    session.install("-e", EXTRA, *group("pictures"))
    session.run("python", "-m", "tests.docs.pictures")


@nox.session(default=False)
def failures(session: nox.Session) -> None:
    """Print every way in which a server fails, what must be said of it and what is; `-- --messages` shows that."""
    session.install("-e", EXTRA, *group("test"))
    session.run("python", "-m", "tests.mcp_launch.failures.table", *session.posargs)


@nox.session(default=False)
def update_schema(session: nox.Session) -> None:
    """Replace the schemas: `-- npm:@agentclientprotocol/sdk@latest`, `-- github:TAG`, a URL or a folder."""
    session.install("-e", ".", *group("codegen"))
    session.run("python", "-m", "codegen.update", *session.posargs)


@nox.session(default=False)
def watch_schema(session: nox.Session) -> None:
    """When npm has newer schemas, make the branch and the text of the pull request that takes them: `-- FOLDER`."""
    session.install("-e", ".", *group("codegen"), *group("test"))
    session.run("python", "-m", "codegen.watch", *session.posargs)


@nox.session(default=False)
def compare(session: nox.Session) -> None:
    """Print what changed from one source to another: `-- npm:PACKAGE@2.0.0 npm:PACKAGE@2.4.0`."""
    session.install("-e", ".", *group("codegen"))
    session.run("python", "-m", "codegen.compare", *session.posargs)


@nox.session(default=False)
def history(session: nox.Session) -> None:
    """Build and try every schema ever published in npm; `-- 1.9.0 2.0.0` takes these, `-- --help` lists the options."""
    session.install("-e", ".", *group("codegen"), *group("test"))
    kept = Path(session.cache_dir) / "schemas"
    session.run("python", "-m", "tests.codegen.history_report", f"--kept={kept}", *session.posargs)


@nox.session(default=False)
def counts(session: nox.Session) -> None:
    """Print, for every schema, its definitions and how many random instances come back lossless."""
    session.install("-e", ".", *group("test"))
    session.run("python", "-m", "tests.acp_bindings.roundtrip_report", *session.posargs)


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Mutate a million valid messages at random; `-- --count 10000 --seed 7` for other ones."""
    session.install("-e", ".", *group("test"))
    session.run("python", "-m", "tests.acp_bindings.fuzz", *session.posargs)


@nox.session(default=False)
def interrupted(session: nox.Session) -> None:
    """Cancel a launch before every single step of its tasks, and see that nothing is left."""
    session.install("-e", EXTRA, *group("test"))
    session.run("python", "-W", "ignore::DeprecationWarning", "-m", "tests.mcp_launch.interrupted")


@nox.session(default=False)
def soak(session: nox.Session) -> None:
    """Open and close servers over a thousand times, well and badly: nothing may grow; `-- --cycles 5000 --seed 7`."""
    session.install("-e", EXTRA, *group("test"))
    session.run("python", "-m", "tests.mcp_launch.soak", *session.posargs)


@nox.session
def peers(session: nox.Session) -> None:
    """Show what the official SDK gets wrong, and that these packages get it right."""
    session.install("-e", ".[connection]", *group("peers"), *group("test"))
    session.run("pytest", "tests/peers", *session.posargs)


@nox.session(default=False)
def interop(session: nox.Session) -> None:
    """Read the same messages with the TypeScript SDK and compare; needs Node 20. Arguments go to pytest."""
    session.install("-e", ".", *group("test"))
    npm_install(session, "tests/interop", typescript_sdk(session))
    session.run("pytest", *TWO_AT_ONCE, "tests/interop", *session.posargs)


@nox.session(default=False)
def programs(session: nox.Session) -> None:
    """Let agents and clients of others talk to ours; needs Node 20. `-- --write-page` writes docs/interop.md."""
    session.install("-e", EXTRA, *group("test"), *group("peers"))
    npm_install(session, "tests/programs", typescript_sdk(session))
    session.run("pytest", "tests/programs", *session.posargs)


@nox.session(default=False)
def servers(session: nox.Session) -> None:
    """Launch MCP servers that others wrote, from npm and PyPI; needs Node 20. Arguments go to pytest."""
    session.install("-e", EXTRA, *group("test"), *group("servers"))
    npm_install(session, "tests/servers")
    session.run("pytest", *TWO_AT_ONCE, "tests/servers", *session.posargs)


@nox.session(default=False)
def conformance(session: nox.Session) -> None:
    """Play the client scenarios of MCP's conformance tests, with our session and with the SDK's alone; needs npm."""
    session.install("-e", EXTRA, *group("test"))
    npm_install(session, "tests/conformance")
    session.run("python", "-m", "tests.conformance", *session.posargs)


@nox.session(default=False, python="3.13")  # which is as new as some of the agents allow, and others want 3.12
def agents(session: nox.Session) -> None:
    """Connect to agents that others wrote, and check docs/agents.md; `-- --write` writes it. Takes 2 GB."""
    session.install("-e", EXTRA, *group("test"))
    npm_install(session, "tests/agents")
    pypi_install(session, "tests/agents")
    session.run("python", "-m", "tests.agents", *session.posargs)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure side by side with others: `-- bindings`, `command`, `connection`, `launch` or `limits`."""
    name, *options = session.posargs or ["bindings"]
    session.install(EXTRA, *group(f"bench-{name}"))
    if name == "command" and shutil.which("npm"):
        npm_install(session, "benchmarks/command")
    session.run("python", "-m", f"benchmarks.{name}", *options)


@nox.session
def package(session: nox.Session) -> None:
    """Build sdist and wheel, prove that they hold what they should and work when installed."""
    session.install(*group("package"), *group("test"))
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build", "--quiet")
    session.run("twine", "check", "--strict", *map(str, Path("dist").iterdir()))
    session.run(
        "pytest", "--noconftest", "-p", "no:cacheprovider", "tests/package", env={"ACP_DIST": str(Path("dist"))}
    )


@nox.session(python=PYTHONS, default=False)
def installed(session: nox.Session) -> None:
    """Run the tests against the wheel in dist/, as it is published, instead of the sources here."""
    (wheel,) = Path("dist").glob("*.whl")
    session.install(f"./{wheel}[launch]", *group("codegen"), *group("test"))
    # An environment that is used again keeps what has the same version.
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
    """Print the notes of the release that a tag is for, or say why it must not be one: `-- v1.2.0`."""
    session.install(*group("release"))
    session.run("python", "-m", "release", *session.posargs)

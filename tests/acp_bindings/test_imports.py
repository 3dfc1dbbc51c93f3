"""Imports are lazy: a protocol is loaded when it is named, and each of its modules when one of its names is."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

LOADED = "import sys; print(*sorted(name for name in sys.modules if name.startswith('acp_bindings.v')))"


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import acp_bindings", []),
        ("from acp_bindings import v2", ["v2"]),
        ("import acp_bindings; acp_bindings.v1_unstable", ["v1_unstable"]),
        ("from acp_bindings.v1 import ReadTextFileRequest", ["v1", "v1.common", "v1.fs"]),
        ("from acp_bindings._processes.process import ChildProcess", []),
        ("from acp_bindings import *", ["v1", "v1_unstable", "v2", "v2_unstable"]),
    ],
)
def test_only_the_named_modules_are_loaded(code: str, modules: list[str]) -> None:
    assert run(f"{code}; {LOADED}").split() == [f"acp_bindings.{module}" for module in modules]


@pytest.mark.parametrize(
    "code",
    [
        "import acp_bindings._processes",
        "from acp_bindings import v1; repr(v1.EnvVariable(name='A', value='B'))",
    ],
)
def test_the_redaction_module_is_loaded_only_by_connections(code: str) -> None:
    loaded = "import sys; print(*(name for name in sys.modules if name == 'acp_bindings._redact'))"
    assert run(f"{code}; {loaded}").split() == []
    assert "acp_bindings._redact" in run(f"{code}; import acp_bindings.connection._child; {loaded}").split()


READ = 'from acp_bindings import decode, v1; text = decode(v1.TextContent, \'{"text": "Hello"}\')'
MODELS = ["base", "embedding", "fields", "reading", "types", "validators"]
NEEDED = ["json", "lazy", "models", *(f"models.{name}" for name in MODELS)]
TO_WRITE = ["writing"]


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        (READ, NEEDED),
        (f"{READ}; from acp_bindings import encode; encode(text)", sorted([*NEEDED, *TO_WRITE])),
        (f"{READ}; text.annotations = v1.Annotations()", NEEDED),
    ],
    ids=["reading", "writing", "changing"],
)
def test_modules_for_errors_and_display_are_not_loaded(code: str, needed: list[str]) -> None:
    loaded = "import sys; print(*sorted(name for name in sys.modules if name.startswith('acp_bindings._')))"
    assert run(f"{code}; {loaded}").split() == [f"acp_bindings._{name}" for name in needed]


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("decoding", "decode"),
        ("encoding", "encode"),
        ("errors", "AcpError DecodeError EncodeError Finding Issue Path ReadingRule"),
        ("messages", "BadLine BadResponse ErrorResponse Id Message Notification Request Response"),
        ("methods", "Asks Method Methods NotificationType ProtocolPackage RequestType Side"),
    ],
)
def test_a_star_import_has_only_the_documented_names(module: str, names: str) -> None:
    assert run(f"from acp_bindings.{module} import *; print(*(name for name in dir() if name[0] != '_'))").split() == (
        names.split()
    )


@pytest.mark.parametrize("package", ["agent", "check", "client", "connection", "play", "remote", "setup", "view"])
def test_a_lazy_package_has_the_names_that_type_checkers_see(package: str) -> None:
    module = import_module(f"acp_bindings.{package}")
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    listed = [each.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for each in node.names]
    assert sorted(filter(None, listed)) == module.__all__
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def run(code: str) -> str:
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout

"""Lazy loading: what each import loads and builds, and how Python and editors see a package.

The tests do not measure time, but which modules a new interpreter has loaded and which classes it has built.
"""

import ast
import copy
import importlib
import inspect
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

import acp_bindings
from acp_bindings import decode, encode, v1, v1_unstable, v2, v2_unstable
from acp_bindings._models.base import _wire_name  # pyright: ignore[reportPrivateUsage]
from tests.acp_bindings.exact_json import Json
from tests.acp_bindings.instances import Instances
from tests.acp_bindings.samples import python_calls
from tests.acp_bindings.schemas import PACKAGES as NAMES
from tests.acp_bindings.schemas import load

PACKAGES = [v1, v1_unstable, v2, v2_unstable]
MESSAGE = '{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}'

WATCHING = """
import json, sys
before = set(sys.modules)

def loaded():
    return sorted(name for name in sys.modules if name.startswith("acp_bindings.v"))

def built():
    from acp_bindings._models.base import Model
    waiting, classes = [Model], set()
    while waiting:
        classes.update(waiting)
        waiting = [each for cls in waiting for each in cls.__subclasses__()]
    return sorted(cls.__name__ for cls in classes if cls.__pydantic_complete__)
"""


def in_a_fresh_interpreter(code: str, *arguments: str) -> Json:
    """Run the code in a new interpreter and return the value of its last line, an expression."""
    *lines, last = f"{WATCHING}\n{code}".splitlines()
    source = "\n".join([*lines, f"print(json.dumps({last}))"])
    command = [sys.executable, "-W", "error", "-c", source, *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout)


def test_importing_the_package_loads_nothing_that_was_installed() -> None:
    assert installed_by("import acp_bindings") == {"acp_bindings"}


def test_reading_and_writing_load_pydantic_and_nothing_else_that_was_installed() -> None:
    brought = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"}
    assert {"pydantic"} < installed_by("from acp_bindings import decode, encode") <= {"acp_bindings"} | brought


def installed_by(code: str) -> set[str]:
    """Return the packages that the code loads, except those of the standard library."""
    found = in_a_fresh_interpreter(f"{code}\nsorted({{name.split('.')[0] for name in set(sys.modules) - before}})")
    # The last is a part of the standard library that has another name on each system.
    return {name for name in found if name not in sys.stdlib_module_names and not name.startswith("_sysconfigdata")}


CANCEL = "CancelTerminalRequest"
METHODS = (
    "from acp_bindings import v1; v1.METHODS['session/new'].request.side; repr(v1.METHODS); 'a' in v1.METHODS; "
    "assert len(v1.METHODS); assert v1.METHODS.request_with({'a': 1}) is v1.METHODS.notification_with(None) is None"
)


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import acp_bindings", []),
        ("from acp_bindings import v2", ["v2"]),
        ("import acp_bindings; acp_bindings.v1_unstable", ["v1_unstable"]),
        ("from acp_bindings.v1 import ReadTextFileRequest", ["v1", "v1.common", "v1.fs"]),
        ("from acp_bindings._processes.process import ChildProcess", []),
        ("from acp_bindings import *", ["v1", "v1_unstable", "v2", "v2_unstable"]),
        (
            f"from acp_bindings import v2; assert v2.terminal.{CANCEL} is v2.{CANCEL}",
            ["v2", "v2.common", "v2.terminal"],
        ),
        (METHODS, ["v1", "v1.methods"]),
        (f"{METHODS}; v1.METHODS['terminal/create'].request.params", ["v1", "v1.common", "v1.methods", "v1.terminal"]),
    ],
)
def test_only_the_named_modules_are_loaded(code: str, modules: list[str]) -> None:
    assert in_a_fresh_interpreter(f"{code}\nloaded()") == [f"acp_bindings.{module}" for module in modules]


@pytest.mark.parametrize(
    "code",
    [
        "import acp_bindings._processes",
        "from acp_bindings import v1; repr(v1.EnvVariable(name='A', value='B'))",
    ],
)
def test_the_redaction_module_is_loaded_only_by_connections(code: str) -> None:
    there = "'acp_bindings._redact' in sys.modules"
    assert in_a_fresh_interpreter(
        f"{code}\nbefore = {there}\nimport acp_bindings.connection._child\n[before, {there}]"
    ) == [
        False,
        True,
    ]


READ = f"from acp_bindings import decode, v1\nread = decode(v1.SessionNotification, {MESSAGE!r})"
MODELS = ["base", "embedding", "fields", "reading", "types", "validators"]
NEEDED = ["json", "lazy", "models", *(f"models.{name}" for name in MODELS)]


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        (READ, NEEDED),
        (f"{READ}\nfrom acp_bindings import encode\nencode(read)", [*NEEDED, "writing"]),
        (f"{READ}\nread.update = v1.Plan(entries=[])", NEEDED),
    ],
    ids=["reading", "writing", "changing"],
)
def test_modules_for_errors_unions_and_display_are_not_loaded(code: str, needed: list[str]) -> None:
    prefixes = ("acp_bindings._", "acp_bindings.errors", "pydantic.type_adapter")
    found = in_a_fresh_interpreter(f"{code}\nsorted(name for name in sys.modules if name.startswith({prefixes}))")
    assert found == [f"acp_bindings._{name}" for name in needed]


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
    assert starred(f"acp_bindings.{module}") == names.split()


@pytest.mark.parametrize("package", NAMES)
def test_a_name_loads_no_module_that_it_does_not_need(package: str) -> None:
    modules = in_a_fresh_interpreter(f"from acp_bindings.{package} import NewSessionRequest\nloaded()")
    homes = {name.rpartition(".")[2] for name in modules if name.startswith(f"acp_bindings.{package}.")}
    assert {"common", "session"} <= homes
    assert not homes & {"elicitation", "session_update", "terminal", "connection", "fs"}
    assert len(modules) == len(homes) + 1


def test_a_name_builds_no_class() -> None:
    assert in_a_fresh_interpreter("from acp_bindings.v1 import NewSessionRequest\nbuilt()") == []


def test_reading_and_writing_build_only_the_types_they_need() -> None:
    code = f"from acp_bindings import decode, encode, v1\nread = decode(v1.SessionNotification, {MESSAGE!r})\n"
    assert in_a_fresh_interpreter(f"{code}built()") == ["SessionNotification"]
    assert in_a_fresh_interpreter(f"{code}encode(read)\nbuilt()") == ["Plan", "SessionNotification"]


def test_creating_an_object_builds_only_its_class() -> None:
    assert in_a_fresh_interpreter("from acp_bindings import v1\nv1.TextContent(text='t')\nbuilt()") == ["TextContent"]


@pytest.mark.parametrize("package", NAMES)
def test_the_names_of_a_package_are_known_before_they_are_loaded(package: str) -> None:
    code = f"from acp_bindings import {package} as package\n"
    assert in_a_fresh_interpreter(f"{code}[set(package.__all__) <= set(dir(package)), loaded()]") == [
        True,
        [f"acp_bindings.{package}"],
    ]


@pytest.mark.parametrize("package", NAMES)
def test_a_star_imports_every_name(package: str) -> None:
    assert starred(f"acp_bindings.{package}") == sorted(getattr(sys.modules[f"acp_bindings.{package}"], "__all__"))  # noqa: B009


def starred(module: str) -> list[str]:
    code = f"names = {{}}\nexec('from {module} import *', names)\nsorted(set(names) - {{'__builtins__'}})"
    return in_a_fresh_interpreter(code)


@pytest.mark.parametrize("package", ["agent", "check", "client", "connection", "play", "remote", "setup", "view"])
def test_a_lazy_package_has_the_names_that_type_checkers_see(package: str) -> None:
    module = importlib.import_module(f"acp_bindings.{package}")
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    listed = [each.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for each in node.names]
    assert sorted(filter(None, listed)) == module.__all__
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_programs_that_bundle_python_code_find_every_module() -> None:
    # PyInstaller does not see the names in calls of `import_module`. `_called` only runs in a Python interpreter.
    sources = [file for file in Path(acp_bindings.__file__).parents[1].rglob("*.py") if file.name != "_called.py"]
    hidden = re.compile(r"""import_module\(\s*["'](acp_bindings|mcp_launch)\b""")
    assert [file.name for file in sources if hidden.search(file.read_text(encoding="utf-8"))] == []


@cache
def one_of_each(package: str) -> dict[str, Any]:
    """Return a value of every definition of a schema, with the variants in it."""
    instances, module = Instances(load(package)), sys.modules[f"acp_bindings.{package}"]
    return {
        f"{name} {index}": decode(getattr(module, name), json.dumps(instance))
        for name in load(package).definitions
        for index, instance in enumerate(instances.series(name, 3, seed=7))
    }


@pytest.mark.parametrize("package", NAMES)
def test_every_model_crosses_to_another_process(package: str, tmp_path: Path) -> None:
    values, protocols = one_of_each(package), range(2, pickle.HIGHEST_PROTOCOL + 1)
    for protocol in protocols:
        (tmp_path / str(protocol)).write_bytes(pickle.dumps(values, protocol=protocol))
    code = """
import pathlib, pickle
crossed = {path.name: pickle.loads(path.read_bytes()) for path in pathlib.Path(sys.argv[1]).iterdir()}
from acp_bindings import encode
{protocol: {name: encode(value).decode() for name, value in values.items()} for protocol, values in crossed.items()}
"""
    written = in_a_fresh_interpreter(code.strip(), str(tmp_path))
    assert written == {
        str(each): {name: encode(value).decode() for name, value in values.items()} for each in protocols
    }


def test_unpickling_loads_the_modules_it_needs(tmp_path: Path) -> None:
    file = tmp_path / "value.pickle"
    file.write_bytes(pickle.dumps(v1.EnvVariable(name="A", value="B")))
    code = "import pickle, pathlib\npickle.loads(pathlib.Path(sys.argv[1]).read_bytes())\nloaded()"
    assert in_a_fresh_interpreter(code, str(file)) == ["acp_bindings.v1", "acp_bindings.v1.common"]


def copied_deep(value: Any) -> Any:
    return value.model_copy(deep=True) if isinstance(value, BaseModel) else copy.deepcopy(value)


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("copying", [copy.copy, copy.deepcopy, copied_deep, pickled])
@pytest.mark.parametrize("package", NAMES)
def test_a_copy_of_every_model_is_equal_and_encodes_equally(package: str, copying: Callable[[Any], Any]) -> None:
    for value in one_of_each(package).values():
        twin = copying(value)
        assert type(twin) is type(value)
        assert twin == value
        assert encode(twin) == encode(value)
        assert repr(twin) == repr(value)
        assert getattr(twin, "model_fields_set", None) == getattr(value, "model_fields_set", None)


def test_objects_are_equal_by_class_and_fields() -> None:
    block: object = v1.TextContent(text="t")
    assert block == v1.TextContent(text="t")
    assert block != v1.TextContent(text="u")
    assert block != v2.TextContent(text="t")
    assert block != {"type": "text", "text": "t"}
    assert v1.SessionInfoUpdate() != v1.SessionInfoUpdate(title=None) == v1.SessionInfoUpdate(title=None)
    assert v1.InitializeResponse(protocol_version=1) == v1.InitializeResponse(protocol_version=1, auth_methods=[])
    assert v1.UserMessageChunk(content=v1.TextContent(text="t")) != v1.AgentMessageChunk(
        content=v1.TextContent(text="t")
    )


def classes(package: Any) -> list[type[BaseModel]]:
    named = [getattr(package, name) for name in package.__all__]
    return [each for each in named if isinstance(each, type) and issubclass(each, BaseModel)]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_signature_lists_the_fields_as_keywords(package: Any) -> None:
    for cls in classes(package):
        parameters = inspect.signature(cls).parameters
        named = {name: each for name, each in parameters.items() if each.kind is inspect.Parameter.KEYWORD_ONLY}
        assert named.keys() == cls.model_fields.keys()
        assert {name for name, each in named.items() if each.default is inspect.Parameter.empty} == {
            name for name, field in cls.model_fields.items() if field.is_required()
        }
        assert set(parameters) - set(named) == ({"members"} if "Other" in cls.__name__ else set())


def test_a_signature_is_the_same_before_and_after_the_class_is_built_and_builds_nothing() -> None:
    code = """
import inspect
from acp_bindings import v1
before, none = str(inspect.signature(v1.EnvVariable)), built()
v1.EnvVariable(name="A", value="B")
[before, none, str(inspect.signature(v1.EnvVariable))]
"""
    before, none, after = in_a_fresh_interpreter(code.strip())
    # Python 3.14 says `Any` for `typing.Any`.
    shown = before.replace("typing.", "")
    assert (shown, after) == ("(*, name: str, value: str, meta: dict[str, Any] | None = None) -> None", before)
    assert none == []


def test_a_users_constructor_has_its_own_signature() -> None:
    class Named(v1.EnvVariable):
        def __init__(self, name: str) -> None:
            super().__init__(name=name, value="")

    assert str(inspect.signature(Named)) == "(name: str) -> None"
    assert Named("A").name == "A"
    assert str(inspect.signature(Named)) == "(name: str) -> None"


@pytest.mark.parametrize(
    ("code", "completed"),
    [
        ("from acp_bindings import v", {"v1", "v1_unstable", "v2", "v2_unstable", "view"}),
        ("from acp_bindings.v1 import NewSessionReq", {"NewSessionRequest"}),
        ("from acp_bindings import v1; v1.NewSessionReq", {"NewSessionRequest"}),
        ("from acp_bindings import v1; v1.NewSessionRequest(cw", {"cwd="}),
        ("from acp_bindings import v1; v1.NewSessionRequest(cwd='/', mcp_servers=[]).mcp", {"mcp_servers"}),
        ("from acp_bindings import decode, v1; decode(v1.NewSessionRequest, '').mcp", {"mcp_servers"}),
    ],
)
def test_an_editor_completes_names_arguments_and_attributes(
    code: str, completed: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jedi: Any = importlib.import_module("jedi")  # which has no types
    # pytest rewrites assertions in packages with a plugin, by a finder whose modules jedi cannot read.
    finders = [each for each in sys.meta_path if type(each).__name__ != "AssertionRewritingHook"]
    monkeypatch.setattr(sys, "meta_path", finders)
    # Its own cache is everybody's, and breaks when two processes write to it.
    monkeypatch.setattr(jedi.settings, "cache_directory", str(tmp_path))
    script = jedi.Script(code, environment=jedi.InterpreterEnvironment())
    assert {each.name for each in script.complete()} == completed


def test_members_are_written_as_pydantic_spells_camel_case() -> None:
    """Members with another spelling in the schema have explicit aliases. All others rely on pydantic's rule."""
    members = {name for package in PACKAGES for cls in classes(package) for name in cls.model_fields}
    names = members | {"a_b_c", "a1b_2c", "x_1", "ab2c", "utf_16_name", "myName", "class_", "a__b", "_c", "Über_x", "X"}

    assert {name: _wire_name(name) for name in names} == {name: to_camel(name) for name in names}


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (v1.SessionNotification, MESSAGE),
        (v1.NewSessionRequest, '{"cwd":"/","mcpServers":[{"name":"s","command":"/s","args":["a"],"env":[]}]}'),
        (v1.InitializeResponse, '{"protocolVersion":1,"authMethods":[{"id":"a","name":"A"}],"agentCapabilities":{}}'),
        (v2.IdleStateUpdate, '{"stopReason":"x-new"}'),
    ],
)
def test_ordinary_messages_are_read_without_python_calls(type_: Any, text: str) -> None:
    data = text.encode()
    decode(type_, data)
    assert [name for _, name in python_calls(lambda: decode(type_, data))] == ["decode"]

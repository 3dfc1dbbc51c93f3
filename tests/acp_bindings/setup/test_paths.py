"""Absolute paths of both kinds on any host, and the messages about strings that are not absolute paths."""

import os
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, get_args

import pytest

from acp_bindings import v1, v2
from acp_bindings.connection import AgentHandlers
from acp_bindings.setup import AgentHandshake
from acp_bindings.setup._paths import (
    Flavour,
    NotAbsolute,
    check_paths,
    is_absolute,
    require_absolute,
    require_directories,
)
from acp_bindings.setup.errors import InvalidParams

POSIX = ["/", "/home/me", "//net/share", "/with space/ü", "/~", "/a/../b", "/file:/x", "/C:/x", "/a\nb"]
WINDOWS = [
    "C:\\",
    "c:/Users/me",
    r"C:\Users\me",
    r"\\server\share",
    r"\\server\share\x",
    r"\\?\C:\very\long",
    r"\\?\UNC\server\share",
    r"\\.\C:\x",
]
NEITHER: dict[str, str] = {
    "": "empty",
    ".": "relative",
    "src/main": "relative",
    "~": "home",
    "~/x": "home",
    "~me": "home",
    "~$letter.docx": "relative",
    "$HOME/x": "variable",
    "${workspaceFolder}": "variable",
    "%USERPROFILE%\\x": "variable",
    "file:/x": "url",
    "file:///home/me": "url",
    "vscode-remote://ssh/x": "url",
    "C:foo": "drive",
    "\\foo": "drive",
    "\\\\server": "drive",
    "\\\\?\\C:": "drive",
    "\\\\.\\pipe": "drive",
    " /home/me": "padded",
    "\t/x": "padded",
    '"/home/me"': "quoted",
    "'C:\\x'": "quoted",
    "'a\nb'": "quoted",
    "/a\0b": "nul",
    "C:\\a\0b": "nul",
    "/caf\udce9": "not unicode",
}


def refusal(path: str, *, flavour: Flavour = "any") -> NotAbsolute:
    with pytest.raises(NotAbsolute) as raised:
        require_absolute(path, flavour=flavour)
    return raised.value


@pytest.mark.requirement("R50")
@pytest.mark.parametrize(
    ("flavour", "path"), [*(("posix", each) for each in POSIX), *(("windows", each) for each in WINDOWS)]
)
def test_a_path_of_either_system_is_absolute_on_any_host(flavour: Flavour, path: str) -> None:
    assert require_absolute(path) == require_absolute(path, flavour=flavour) == path


@pytest.mark.requirement("R50", "R100")
@pytest.mark.parametrize("flavour", get_args(Flavour))
@pytest.mark.parametrize(("path", "likeness"), NEITHER.items(), ids=ascii)
def test_a_relative_path_is_refused_with_the_kind_of_mistake(path: str, likeness: str, flavour: Flavour) -> None:
    error = refusal(path, flavour=flavour)
    assert (error.path, error.field, error.likeness, error.flavour) == (path, "cwd", likeness, flavour)


@pytest.mark.requirement("R50")
@pytest.mark.parametrize(
    ("flavour", "likeness", "path"),
    [
        *(("posix", "windows", each) for each in WINDOWS),
        *(("windows", "posix", each) for each in ("/", "/home/me", "/mnt/c/Users")),
    ],
)
def test_a_path_of_one_system_is_not_absolute_on_the_other(flavour: Flavour, likeness: str, path: str) -> None:
    assert refusal(path, flavour=flavour).likeness == likeness


def test_a_unc_path_may_be_written_with_slashes() -> None:
    assert is_absolute("//server/share", flavour="windows")
    assert not is_absolute("//server", flavour="windows")


@pytest.mark.requirement("R50")
def test_the_error_names_a_valid_path() -> None:
    assert str(refusal("~/x", flavour="posix")) == (
        'cwd: "~/x" is not an absolute path: only a shell expands "~"; send the full path. Example: /home/me/project'
    )
    assert str(refusal("", flavour="windows")) == (
        r'cwd: "" is not an absolute path: it is empty; send a directory. Example: C:\Users\me\project'
    )


def test_the_error_is_one_printable_line() -> None:
    assert str(refusal("a\nb\0\x1b[31m\udce9ü")).startswith(r'cwd: "a\nb\x00\x1b[31m\udce9ü" is no')


def test_a_long_string_is_truncated_in_the_error() -> None:
    error = refusal("x" * 100_000)
    assert len(str(error)) < 400
    assert error.path == "x" * 100_000


def test_a_path_object_is_accepted() -> None:
    assert require_absolute(PurePosixPath("/a/b")) == "/a/b"
    assert require_absolute(PureWindowsPath("C:/a")) == "C:\\a"
    assert require_absolute(Path.cwd()) == os.getcwd()


@pytest.mark.requirement("X5")
def test_each_of_several_directories_must_be_absolute() -> None:
    assert require_directories(["/a", PurePosixPath("/b")]) == ["/a", "/b"]
    with pytest.raises(NotAbsolute, match=r"^additionalDirectories\[1\]: \"\" is not an absolute path: it is empty"):
        require_directories(["/a", ""])


@pytest.mark.requirement("X5")
@pytest.mark.parametrize("path", ["/home/me", PurePosixPath("/home/me")])
def test_a_single_path_is_not_accepted_as_a_list(path: Any) -> None:
    with pytest.raises(TypeError, match="a list of paths, not one path"):
        require_directories(path)


@pytest.mark.parametrize("flavour", ["linux", "Windows", "", None])
def test_an_unknown_flavour_is_refused(flavour: Any) -> None:
    told = 'flavour must be "posix", "windows" or "any", not '
    for path in ("/a", "a"):
        with pytest.raises(ValueError, match=f"^{told}{flavour!r}$"):
            require_absolute(path, flavour=flavour)
    with pytest.raises(ValueError, match=f"^{told}"):
        AgentHandlers(AgentHandshake(anonymous=True), flavour=flavour)


@pytest.mark.requirement("R50")
def test_relative_paths_in_received_params_raise_the_error_to_respond_with() -> None:
    with pytest.raises(NotAbsolute) as raised:
        check_paths(v1.NewSessionRequest(cwd="~/x", mcp_servers=[]))
    assert isinstance(raised.value, InvalidParams)
    assert (raised.value.code, raised.value.data) == (-32602, {"field": "cwd"})
    with pytest.raises(NotAbsolute, match=r'^cwd: "" is not an absolute path: it is empty'):
        check_paths(v1.NewSessionRequest(cwd="", mcp_servers=[]))
    with pytest.raises(NotAbsolute, match="without a drive"):
        check_paths(v2.ListSessionsRequest(cwd="/home/me"), flavour="windows")
    check_paths(v2.ListSessionsRequest())
    check_paths(v1.LoadSessionRequest(session_id="s", cwd="/", mcp_servers=[]))
    check_paths(v1.CloseSessionRequest(session_id="s"))


@pytest.mark.requirement("X5")
def test_additional_directories_are_absolute_paths_of_the_system_of_the_agent() -> None:
    request = v1.NewSessionRequest(cwd="/x", mcp_servers=[], additional_directories=["/a", "C:\\x"])
    check_paths(request)
    with pytest.raises(NotAbsolute, match=r"^additionalDirectories\[1\]: .* it is a Windows path") as raised:
        check_paths(request, flavour="posix")
    assert raised.value.data == {"field": "additionalDirectories[1]"}

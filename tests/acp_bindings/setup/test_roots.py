"""The boundary of a session, with links, loops and missing files in real directories."""

import errno
import os
import pickle
import re
from pathlib import Path
from typing import cast

import pytest

from acp_bindings import AcpError
from acp_bindings.setup._paths import NotAbsolute, OutsideRoots, Roots


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project next to a secret. `out` in the project is a link to the directory of the secret."""
    made = tmp_path / "project"
    (made / "src").mkdir(parents=True)
    (made / "src" / "main.py").write_text("main")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    (made / "out").symlink_to(tmp_path / "outside")
    return made


def test_roots_are_shown_by_their_directories(project: Path, tmp_path: Path) -> None:
    assert repr(Roots(project, tmp_path)) == f"Roots({str(project)!r}, {str(tmp_path)!r})"


@pytest.mark.requirement("R52")
def test_a_path_is_within_if_it_leads_into_the_directory(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "project-2").mkdir()
    (project / "in").symlink_to(project / "src")
    (project / "dangling").symlink_to(tmp_path / "outside" / "new")
    (project / "loop").symlink_to(project / "loop")
    roots = Roots(project)
    within = ["src/main.py", "src/../src", "src/new/file", "in/main.py", "~$letter.docx"]
    elsewhere = ["../outside/secret", "src/../../outside/secret", "out", "out/secret", "out/new/file", "dangling"]
    misleading = ["", "src\0", "~", "~/x", "~me/x", "file:///etc/passwd"]
    unresolvable = ["loop", "loop/x", "src/main.py/x", "x" * 300, "x" * 300 + "/y"]
    absolute = [tmp_path, tmp_path / "outside" / "secret", tmp_path / "project-2", "/", f"{project}/../outside/secret"]
    assert all(map(roots.contains, [*within, *(project / each for each in within), project]))
    assert not any(map(roots.contains, [*elsewhere, *misleading, *unresolvable, *absolute]))


@pytest.mark.requirement("R52")
def test_a_root_that_is_a_link_means_its_target(project: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project)
    roots = Roots(tmp_path / "link")
    assert roots.contains(tmp_path / "link" / "src")
    assert roots.contains(project / "src")


def test_a_root_that_is_exchanged_leads_where_it_led(project: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project)
    roots = Roots(tmp_path / "link")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    assert not roots.contains(tmp_path / "link" / "secret")


@pytest.mark.requirement("R52")
def test_additional_directories_are_roots(project: Path, tmp_path: Path) -> None:
    roots = Roots(project, str(tmp_path / "outside"))
    assert roots.contains("out/secret")
    assert roots.contains(tmp_path / "outside" / "secret")
    assert not roots.contains(tmp_path / "elsewhere")


def test_a_root_that_cannot_be_resolved_contains_nothing(project: Path) -> None:
    (project / "loop").symlink_to(project / "loop")
    assert not Roots(project / "loop").contains(project / "loop" / "x")
    assert Roots(project / "loop", project / "src").contains(project / "src" / "main.py")


def test_the_root_of_the_system_contains_everything() -> None:
    assert Roots(os.path.abspath(os.sep)).contains(os.getcwd())


def test_a_resolved_path_can_be_opened(project: Path) -> None:
    (project / "in").symlink_to(project / "src")
    assert Roots(project).resolve("in/main.py") == (project / "src" / "main.py").resolve()


def test_a_path_outside_raises_a_permission_error(project: Path) -> None:
    with pytest.raises(OutsideRoots, match=r'^"out/secret" is outside the directories of the session$') as raised:
        Roots(project).resolve("out/secret")
    assert isinstance(raised.value, PermissionError)
    assert isinstance(raised.value, AcpError)
    assert raised.value.path == "out/secret"
    assert pickle.loads(pickle.dumps(raised.value)).path == "out/secret"
    with pytest.raises(OutsideRoots, match=r'^"\.\./a\\nb" is outside'):
        Roots(project).resolve("../a\nb")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "it is empty"),
        ("a\0b", "a path cannot contain a NUL character"),
        ("../a\ud83d.txt", "its name is not valid Unicode, so JSON cannot contain it"),
        ("~/x", 'only a shell expands "~"'),
        ("file:///x", "it is a URL"),
    ],
)
def test_a_path_that_is_not_one_raises_why(path: str, reason: str, project: Path) -> None:
    with pytest.raises(OutsideRoots) as raised:
        Roots(project).resolve(path)
    assert str(raised.value).endswith(f" is outside the directories of the session: {reason}")


def test_a_path_inside_that_cannot_be_resolved_raises_why(project: Path) -> None:
    (project / "loop").symlink_to(project / "loop")
    (project / "file").symlink_to(project / "src" / "main.py")
    (project / "secret").symlink_to(project / "out" / "secret")
    reasons = {"loop/x": errno.ELOOP, "src/main.py/x": errno.ENOTDIR, "file/x": errno.ENOTDIR}
    for path, reason in {**reasons, "x" * 300: errno.ENAMETOOLONG}.items():
        with pytest.raises(OSError, match=re.escape(os.strerror(reason))) as raised:
            Roots(project).resolve(path)
        assert not isinstance(raised.value, OutsideRoots)
    with pytest.raises(ValueError, match=r"^path: "):
        Roots(project).resolve(cast("str", 5))
    for path in ("secret/x", "out/secret/x"):  # which would show that the secret is a file
        with pytest.raises(OutsideRoots):
            Roots(project).resolve(path)


@pytest.mark.parametrize("path", ["a/" * 20_000, "/etc" + "/a" * 20_000])
def test_a_path_that_is_too_long_is_refused_without_work_for_its_parts(
    path: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = Roots(project)
    monkeypatch.delattr(os.path, "realpath")
    with pytest.raises(OSError, match=re.escape(os.strerror(errno.ENAMETOOLONG))):
        roots.resolve(path)


@pytest.mark.requirement("R50")
def test_a_root_must_be_absolute_here(project: Path) -> None:
    with pytest.raises(NotAbsolute, match=r"^cwd: "):
        Roots(".")
    with pytest.raises(NotAbsolute, match=r"^additionalDirectories\[0\]: "):
        Roots(project, "~")
    with pytest.raises(NotAbsolute, match="agent runs on POSIX" if os.sep == "/" else "without a drive"):
        Roots("C:\\x" if os.sep == "/" else "/x")

"""Proposes other programs, arguments and packages for a server that is started as a process."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

from mcp_launch._command.fix.draft import Draft, Remedy
from mcp_launch._command.fix.packages import Package, similar
from mcp_launch._command.fix.paths import (
    corrected_command,
    corrected_path,
    corrected_paths,
    environments_near,
    is_path,
)
from mcp_launch._diagnosis.process import has_no_input
from mcp_launch._executable import RUNNERS, WITH_VALUE, operand_in
from mcp_launch._json_values import as_items, as_members
from mcp_launch.config._edit import Edit


def other_program(draft: Draft) -> Iterator[Remedy]:
    """Propose another path of the program, or the program that was meant."""
    command, args = draft.command, draft.args
    if not command:
        return
    if draft.program == "cmd" and args[:1] in (["/c"], ["/C"]) and args[1:]:
        yield draft.run(args[1], args[2:], "start the program without cmd /c")
        return
    if found := corrected_command(command, draft):
        beyond = f"the program {found.path}" if found.is_guess else None
        yield draft.run(found.path, args, f"use the command {found.path}", beyond=beyond)
    if not os.path.dirname(command) and not any(each.isspace() for each in command):
        for package in similar(command) if draft.program not in RUNNERS else ():
            yield _of_package(draft, package, args)


def interpreter(draft: Draft) -> Iterator[Remedy]:
    """Propose the interpreter of a script that is not executable."""
    suffix = os.path.splitext(draft.command)[1]
    names = {".py": ("python3", "python"), ".sh": ("sh",), ".bash": ("bash",)}.get(suffix, ("node",))
    if suffix in (".py", ".sh", ".bash", ".js", ".mjs", ".cjs"):
        for name in names:
            if shutil.which(name):
                yield draft.run(name, [draft.command, *draft.args], f"start the script with {name}")
                return


def other_files(draft: Draft) -> Iterator[Remedy]:
    """Propose paths that exist instead of paths in args that do not."""
    args, guesses = corrected_paths(draft.args, draft)
    if args != draft.args:
        beyond = ", ".join(f"the file {each}" for each in guesses) or None
        yield draft.run(draft.command, args, "use paths that exist", beyond=beyond)


def other_directory(draft: Draft) -> Iterator[Remedy]:
    """Propose a directory that exists instead of one that does not."""
    member = draft.form.cwd
    given = draft.raw.get(member or "")
    if member and isinstance(given, str) and (found := corrected_path(given, draft)) and os.path.isdir(found.path):
        beyond = f"the directory {found.path}" if found.is_guess else None
        yield Remedy(what=f"use the directory {found.path}", edits=(Edit(draft.at(member), found.path),), beyond=beyond)


def other_options(draft: Draft) -> Iterator[Remedy]:
    """Propose other options of the program that starts the server, by what it says about them."""
    command, args, said, program = draft.command, draft.args, draft.output, draft.program
    if program == "npm" and re.search(r"^Unknown command: ", said, re.MULTILINE):
        yield draft.run(_npx_beside(command), ["-y", *args], "start the package with npx")
    if program == "node" and args[:1] in (["-y"], ["--yes"]) and args[1:]:
        yield draft.run(_npx_beside(command), args, "start the package with npx")
    if program in ("bash", "sh", "zsh") and len(args) == 1 and " " in args[0].strip():
        yield draft.run(command, ["-c", *args], "let the shell run a command line")
    if program in ("docker", "podman"):
        yield from _of_docker(draft)
    yield from _of_uv(draft)
    if program.startswith("python"):
        yield from _of_python(draft)
    yield from _of_stdio(draft)


def _of_uv(draft: Draft) -> Iterator[Remedy]:
    command, args, said = draft.command, draft.args, draft.output
    if draft.program in ("uv", "uvx"):
        if found := re.search(r"executable named `([^`]+)` is not provided by package `([^`]+)`", said):
            for other in re.findall(r"^- (\S+)$", said, re.MULTILINE):
                rest = [each for each in args if each not in ("--from", found[2])]
                at = rest.index(found[1]) if found[1] in rest else 0
                changed = [*rest[:at], "--from", found[2], other, *rest[at + 1 :]]
                yield draft.run(command, changed, f"run the program {other} of the package")
        if (needs := re.search(r"does not satisfy Python>=?(\d+\.\d+)", said)) and "--python" not in args:
            yield draft.run(command, _with(draft, "--python", needs[1]), f"run it with Python {needs[1]}")
        if insert := as_items(as_members(draft.failure["facts"].get("edit")).get("insert")):
            yield draft.run(command, _with(draft, *insert), f"run it with {insert[1]}")


def _of_python(draft: Draft) -> Iterator[Remedy]:
    command, args = draft.command, draft.args
    if found := re.search(r"No module named '?([\w.-]+)", draft.output):
        if found[1] in args and "-" in found[1]:
            changed = [each.replace("-", "_") if each == found[1] else each for each in args]
            yield draft.run(command, changed, "write the module with underscores")
        for python in environments_near(draft):
            yield draft.run(python, args, f"use the Python of {os.path.dirname(os.path.dirname(python))}")


def _with(draft: Draft, *options: str) -> list[str]:
    """Return the arguments with options of `uvx` or `uv run`."""
    args = draft.args
    at = args.index("run") + 1 if draft.program == "uv" and "run" in args else 0
    return [*args[:at], *options, *args[at:]]


def _of_docker(draft: Draft) -> Iterator[Remedy]:
    args = [{"-it": "-i", "-ti": "-i"}.get(each, each) for each in draft.args if each not in ("-t", "--tty")]
    if has_no_input(draft.command, args):
        at = args.index("run") + 1
        args = [*args[:at], "-i", *args[at:]]
    if args != draft.args:
        yield draft.run(draft.command, args, "keep standard input open, without a terminal (-i)")


def _of_stdio(draft: Draft) -> Iterator[Remedy]:
    """Propose the argument for MCP on stdio that the usage of the program names."""
    said, args = draft.output, draft.args
    if draft.program in RUNNERS and draft.program not in ("node", "python", "python3") and not args:
        return
    usage = re.search(r"(?i)usage|options:|commands:|subcommand|unknown|expected|required", said)
    if not usage or "stdio" not in said or any("stdio" in each for each in args):
        return
    if re.search(r"--stdio\b", said):
        yield draft.run(draft.command, [*args, "--stdio"], "add --stdio")
    if re.search(r"--transport\b", said):
        yield draft.run(draft.command, [*args, "--transport", "stdio"], "add --transport stdio")
    yield draft.run(draft.command, [*args, "stdio"], "add stdio")


_NO_PACKAGE = (
    r"npm (?:error|ERR!) (?:.*404|No versions available)|was not found in the package registry"
    r"|No matching distribution found|No module named|can't open file|Invalid version request: @"
)
_NO_VERSION = r"No matching version found|there is no version of"


def other_package(draft: Draft) -> Iterator[Remedy]:
    """Propose the package that was meant, by its name or from the other registry."""
    at = _package_at(draft)
    if at is None:
        return
    written = draft.args[at]
    found = re.fullmatch(r"(@?[^@=<>~!\[]+)(.*)", written)
    name, version = (found[1], found[2]) if found else (written, "")
    if version and re.search(_NO_VERSION, draft.output):
        args = [*draft.args[:at], name, *draft.args[at + 1 :]]
        yield draft.run(draft.command, args, f"leave out the version of {name}")
    if not re.search(_NO_PACKAGE, draft.output):
        return
    own = "npm" if draft.program in _NPM else "PyPI"
    others = [each for each in similar(name) if each != (own, name)]
    if all(each.name != name for each in others):
        swapped = Package("PyPI" if own == "npm" else "npm", name)
        others = [*others, swapped] if swapped.registry == "npm" or not name.startswith("@") else others
    for package in others:
        yield _of_package(draft, package, draft.args[at + 1 :])


_NPM = frozenset(("bunx", "node", "npm", "npx", "pnpx"))


def _of_package(draft: Draft, package: Package, args: list[str]) -> Remedy:
    program = "npx" if package.registry == "npm" else "uvx"
    is_same = draft.program == program
    before = draft.args[: _package_at(draft) or 0] if is_same else ["-y"] if program == "npx" else []
    command = draft.command if is_same else program
    what = f"start {package} with {program}"
    return draft.run(command, [*before, package.name, *args], what, beyond=str(package), package=package)


def _package_at(draft: Draft) -> int | None:
    """Return the number of the argument that names the package; None if there is none."""
    if draft.program not in RUNNERS - {"deno", "docker", "podman"}:
        return None
    # To npm, these two name the package itself.
    skip = WITH_VALUE.difference(("-p", "--package") if draft.program in _NPM else ())
    at = operand_in(draft.args, with_value=skip)
    return None if at is None or is_path(draft.args[at]) else at


def _npx_beside(command: str) -> str:
    """Return npx in the directory of the command, if it is there, otherwise only its name."""
    path = os.path.join(os.path.dirname(command), "npx")
    return path if os.path.dirname(command) and os.path.exists(path) else "npx"

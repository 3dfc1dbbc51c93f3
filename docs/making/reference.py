"""The reference as Markdown, from the source: what a module offers, with signatures and docstrings; by griffe."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import griffe

from acp_bindings.methods import Methods

__all__ = ["homes", "module", "package"]

SOURCES = Path(__file__).resolve().parents[2] / "src"
WIDTH = 100
"""Characters of a signature on one line."""


def module(name: str) -> str:
    """The public names of a module, each with what it takes, gives and raises."""
    found = _load(name)
    parts = [_docstring(found), *(_public(found, each) for each in _names(found))]
    return "\n\n".join(part for part in parts if part) + "\n"


@cache
def homes() -> dict[str, tuple[str, str]]:
    """Return the page and the anchor of each name. Plain words are left out."""
    found: dict[str, tuple[str, str]] = {}
    for page, module_name in _PAGES.items():
        for name in _names(_load(module_name)):
            found[f"{module_name}.{name}"] = (page, name.lower())
            if "_" in name or name not in (name.lower(), name.upper()):
                found.setdefault(name, (page, name.lower()))
    return found


_PAGES = {
    "acp_bindings": "acp_bindings",
    "jsonrpc": "acp_bindings.jsonrpc",
    "agent": "acp_bindings.agent",
    "client": "acp_bindings.client",
    "remote": "acp_bindings.remote",
    "connection": "acp_bindings.connection",
    "setup": "acp_bindings.setup",
    "check": "acp_bindings.check",
    "recordings": "acp_bindings.recordings",
    "play": "acp_bindings.play",
    "view": "acp_bindings.view",
    "mcp_launch": "mcp_launch",
    "testing": "mcp_launch.testing",
}


_INTERNAL = {
    "acp_bindings.agent._session.Session": "attach begin claim drop end_in_time finish flush forget has_same_servers"
    " keep keep_text line_of replay report_again run show_line show_state",
    "acp_bindings.agent._turn.Turn": "check_running part run",
    "acp_bindings.client._client_session.Session": "leave",
    "mcp_launch.failures.LaunchFailure": "because forget_variables",
    "mcp_launch._servers.record.Changes": "add end",
}
"""The members of public classes that only other modules of the package use. They have no underscore, because type
checkers would report these uses. The reference leaves them out."""


def package(name: str) -> str:
    """An index of a generated package: its methods, and for each of its modules the names and what they are."""
    homes = [_target(each) for _, each in sorted(_load(name).modules.items())]
    tables = [_table(each) for each in homes if isinstance(each, griffe.Module) and each.name != "methods"]
    return "\n\n".join([_methods(name), *tables])


@cache
def _all() -> griffe.ModulesCollection:
    loader = griffe.GriffeLoader(search_paths=[SOURCES], docstring_parser="google", allow_inspection=False)
    for name in ("acp_bindings", "mcp_launch"):
        loader.load(name)
    loader.resolve_aliases(implicit=True)
    for path, names in _INTERNAL.items():
        if gone := set(names.split()) - loader.modules_collection[path].members.keys():
            raise ValueError(f"{path} does not have {gone}: remove it from _INTERNAL")
    return loader.modules_collection


def _load(name: str) -> griffe.Module:
    found = _all()[name]
    if not isinstance(found, griffe.Module):
        raise TypeError(f"{name} is not a module")
    return found


def _names(found: griffe.Module) -> list[str]:
    """Return the public names; if `__all__` is computed at run time, the names that type checkers see imported."""
    names = [str(each) for each in found.exports or ()] or [
        each.name
        for each in found.members.values()
        if isinstance(each, griffe.Alias) and each.target_path.startswith(f"{found.path}.")
    ]
    if not names:
        raise ValueError(f"nothing of {found.path} is public")
    return [name for name in names if not isinstance(found[name], griffe.Module)]


def _public(found: griffe.Module, name: str) -> str:
    """One public name of a module, wherever it is made."""
    try:
        entry = _target(found[name])
    except griffe.AliasResolutionError:
        # Names that are assigned several at once, which griffe does not look into.
        value = getattr(importlib.import_module(found.path), name)
        return f"## `{name}`\n\n{_code(f'{name} = {value!r}')}"
    return _entry(name, entry, level=2)


def _target(entry: griffe.Object | griffe.Alias) -> griffe.Object:
    target = entry.final_target if isinstance(entry, griffe.Alias) else entry
    if isinstance(target, griffe.Alias):
        raise TypeError(f"{entry.path} is not defined")
    return target


def _entry(name: str, entry: griffe.Object, *, level: int) -> str:
    """A name with its docstring, and its members."""
    parts = [f"{'#' * level} `{name}`", _code(_signature(entry)), _docstring(entry)]
    if isinstance(entry, griffe.Class):
        internal = _INTERNAL.get(entry.path, "").split()
        members = [
            _target(each)
            for each in entry.members.values()
            if not each.name.startswith("_") and each.has_docstring and each.name not in internal
        ]
        values = [each for each in members if isinstance(each, griffe.Attribute)]
        parts.append(_list((_value(each), each.docstring.value if each.docstring else "") for each in values))
        parts += [
            _entry(f"{name}.{each.name}", each, level=level + 1)
            for each in members
            if isinstance(each, griffe.Function)
        ]
    return "\n\n".join(part for part in parts if part)


def _code(text: str) -> str:
    return f"```python\n{text}\n```"


def _signature(entry: griffe.Object) -> str:
    match entry:
        case griffe.Class():
            bases = ", ".join(str(base) for base in entry.bases if not str(base).startswith("_"))
            made_with = [each for each in entry.parameters if each.name != "self"]
            if made_with and "Error" not in bases and "Exception" not in bases:
                return _call(f"class {entry.name}", entry.parameters)
            return f"class {entry.name}({bases})" if bases else f"class {entry.name}"
        case griffe.Function():
            forms = entry.overloads or [entry]
            return "\n".join(_call(f"{_prefix(entry)}{entry.name}", each.parameters, each.returns) for each in forms)
        case griffe.Attribute():
            return _value(entry)
        case _:
            return entry.name


def _prefix(function: griffe.Function) -> str:
    if "asynccontextmanager" in {str(each.value) for each in function.decorators}:
        return "async with "
    return "async def " if "async" in function.labels else "def "


def _value(entry: griffe.Attribute) -> str:
    told = f": {entry.annotation}" if entry.annotation is not None else ""
    # A value set in `__init__` is not a default.
    is_default = entry.value is not None and "instance-attribute" not in entry.labels
    value = f" = {entry.value}" if is_default and len(str(entry.value)) < WIDTH else ""
    return f"{entry.name}{told}{value}"


def _call(name: str, parameters: griffe.Parameters, returns: object = None) -> str:
    shown = list(_parameters(parameters))
    end = f" -> {returns}" if returns is not None else ""
    line = f"{name}({', '.join(shown)}){end}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in shown) + f"){end}"


def _parameters(parameters: griffe.Parameters) -> Iterator[str]:
    starred = False
    for each in parameters:
        if each.name in ("self", "cls"):
            continue
        stars = _STARS.get(each.kind, "")
        if each.kind is griffe.ParameterKind.keyword_only and not starred:
            yield "*"
        starred = starred or bool(stars) or each.kind is griffe.ParameterKind.keyword_only
        annotation = f": {each.annotation}" if each.annotation is not None else ""
        default = f" = {each.default}" if each.default is not None and not stars else ""
        yield f"{stars}{each.name}{annotation}{default}"


_STARS: dict[griffe.ParameterKind | None, str] = {
    griffe.ParameterKind.var_positional: "*",
    griffe.ParameterKind.var_keyword: "**",
}


def _docstring(entry: griffe.Object) -> str:
    if entry.docstring is None:
        return ""
    return "\n\n".join(_section(each) for each in entry.docstring.parse("google", warnings=False))


def _section(section: griffe.DocstringSection) -> str:
    match section:
        case griffe.DocstringSectionText():
            return section.value
        case griffe.DocstringSectionParameters():
            return _list((each.name, each.description) for each in section.value)
        case griffe.DocstringSectionRaises():
            return "**Raises**\n\n" + _list((str(each.annotation), each.description) for each in section.value)
        case griffe.DocstringSectionReturns():
            return "**Gives** " + " ".join(each.description for each in section.value)
        case _:
            raise ValueError(f"the reference has no format for this section of a docstring: {section.kind.value}")


def _list(items: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- `{name}`: {_beside(text)}" for name, text in items)


def _beside(text: str) -> str:
    """A text in an item of a list."""
    return text.strip().replace("\n", "\n  ")


def _methods(name: str) -> str:
    """The methods of a protocol package, and the types of what they carry."""
    methods: Methods = importlib.import_module(name).METHODS
    rows: list[str] = []
    for method, each in methods.items():
        if each.request:
            answer = f"`{each.request.result_name}`" if each.request.result_name else "any JSON"
            rows.append(f"| `{method}` | {each.request.side} | `{each.request.params_name}` | {answer} |")
        if each.notification:
            rows.append(f"| `{method}` | {each.notification.side} | `{each.notification.params_name}` | |")
    return "\n".join(["## Methods", "", "| method | handled by | params | answer |", "|---|---|---|---|", *rows])


def _table(home: griffe.Module) -> str:
    """The definitions of a generated module, each with its first sentence and its members."""
    rows = [
        f"| `{name}` | {_first(entry)} | {_members(entry)} |"
        for name, entry in home.members.items()
        if isinstance(entry, griffe.Class | griffe.Attribute) and not name.startswith("_")
    ]
    return "\n".join([f"## `{home.name}`", "", "| name | what | members |", "|---|---|---|", *rows])


def _first(entry: griffe.Object) -> str:
    text = entry.docstring.value if entry.docstring else ""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def _members(entry: griffe.Object) -> str:
    if not isinstance(entry, griffe.Class):
        return ""
    return ", ".join(f"`{name}`" for name in entry.members if not name.startswith("_"))

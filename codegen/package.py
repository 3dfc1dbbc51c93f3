"""The `__init__` of a generated package: every name importable, no module loaded before one of its names is used."""

from __future__ import annotations

import textwrap


def package_init(modules: dict[str, str]) -> str:
    """The source of `__init__.py` for definitions that live in *modules*."""
    homes: dict[str, list[str]] = {}
    for name, module in sorted(modules.items()):
        homes.setdefault(module, []).append(name)
    imports = [
        f"    from .{module} import {', '.join(f'{name} as {name}' for name in names)}"
        for module, names in sorted(homes.items())
    ]
    table = [f'            "{module}": {_text_of(names)},' for module, names in sorted(homes.items())]
    return "\n".join(
        [
            "from typing import TYPE_CHECKING",
            "",
            "if TYPE_CHECKING:",
            *imports,
            "else:",
            "    from acp_bindings._lazy import lazy_names",
            "",
            "    # What each module holds; a module is loaded when one of its names is used.",
            "    __all__, __getattr__, __dir__ = lazy_names(__name__, {",
            *table,
            "    })",
            "",
        ]
    )


def _text_of(names: list[str]) -> str:
    """The literal of a text with the *names*: one line if they fit, else a block that is indented as the table is."""
    if len(text := " ".join(names)) <= 80:
        return f'"{text}"'
    margin = " " * 16
    return f'"""\n{textwrap.fill(text, 116, initial_indent=margin, subsequent_indent=margin)}\n            """'

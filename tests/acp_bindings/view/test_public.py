"""The public list of the package, and what it requires."""

import subprocess
import sys

import acp_bindings.view


def test_the_public_names_are_these() -> None:
    names: list[str] = getattr(acp_bindings.view, "__all__")  # noqa: B009 - it is made when the package is loaded
    assert names == ["LiveView", "page_of"]
    assert set(names) <= set(dir(acp_bindings.view))


def test_it_requires_only_pydantic() -> None:
    code = (
        "import sys; from acp_bindings.view import LiveView, page_of; "
        "print({'anyio', 'h11', 'jinja2', 'typer'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "set()\n"

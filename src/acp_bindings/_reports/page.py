"""The page of a report: one HTML file without scripts, whose style is `page.css`."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from acp_bindings._reports.text import visible


def page_environment() -> Environment:
    """Return an environment for templates. Every text is passed through `visible` and then escaped."""
    return Environment(autoescape=True, finalize=_seen, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def styled() -> dict[str, Any]:
    """Return the style of a page, and the policy that allows nothing else."""
    style = files("acp_bindings._reports").joinpath("page.css").read_text(encoding="utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    return {"style": Markup(style), "policy": policy}  # noqa: S704 - our own file


def _seen(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

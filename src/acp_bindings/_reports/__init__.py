"""Shared by reports: text that is safe to show, HTML pages, and JUnit XML."""

from __future__ import annotations

import unicodedata
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from io import StringIO
from typing import TYPE_CHECKING, Any, cast
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from acp_bindings._standard_streams import without_ci_commands

if TYPE_CHECKING:
    from jinja2 import Environment

_KEPT = frozenset("\n\t\u200c\u200d")
"""Line ends and tabs; and the two joiners that Persian and emoji need, with which nothing can be hidden."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: controls, marks of direction and tags, halves of characters, separators."""


def visible(text: str) -> str:
    r"""Return the text with escapes like `\u202e` for invisible characters, so that UTF-8, XML and HTML can contain it.

    Nothing is removed: a secret with such a character in the middle was not redacted, and removing it would restore it.
    """
    if text.isprintable():
        return text
    return "".join(map(_visible, text.replace("\r\n", "\n")))


def _visible(char: str) -> str:
    # The last two code points of each plane are not characters, and not allowed in XML.
    if char in _KEPT or (unicodedata.category(char) not in _UNSEEN and ord(char) & 0xFFFE != 0xFFFE):
        return char
    return char.encode("unicode_escape").decode("ascii")


def fit(text: str) -> str:
    """Return the text for JUnit XML, which CI systems interpret."""
    # Jenkins and GitLab publish the file at the path after this marker, which a server must not choose. Reporters
    # print the texts to a log, in which the runner looks for commands.
    return without_ci_commands(visible(text).replace("[[ATTACHMENT|", "[[ATTACHMENT |"))


class JUnit:
    """A report in the format of junit-10.xsd of Jenkins' xUnit plugin, which other CI systems read as well."""

    def __init__(
        self, command: str, source: str, *, tests: int, failures: int, skipped: int, seconds: float, when: datetime
    ) -> None:
        """Begin the report of *command* on *source*. The test cases are added to `suite`."""
        counts = {"tests": str(tests), "failures": str(failures), "errors": "0", "time": f"{seconds:.3f}"}
        more = {"skipped": str(skipped), "timestamp": when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")}
        self._root = Element("testsuites", {"name": command, **counts})
        self.suite = SubElement(self._root, "testsuite", {"name": fit(source), **counts, **more})

    def case(self, name: str, classname: str, *, seconds: float) -> Element:
        """Add a test case and return it."""
        return SubElement(self.suite, "testcase", name=name, classname=classname, time=f"{seconds:.3f}")

    def text(self) -> str:
        """Return the report as XML."""
        indent(self._root)
        file = StringIO()
        ElementTree(self._root).write(file, encoding="unicode", xml_declaration=True)
        return f"{file.getvalue()}\n"


def page_environment() -> Environment:
    """Return an environment for templates of jinja2. Every text is passed through `visible` and then escaped.

    Templates extend `layout`, which has the head of the page, its style, and the policy that allows nothing else.
    """
    # Not needed for text and XML, and slow to import.
    import jinja2  # noqa: PLC0415
    from markupsafe import Markup  # noqa: PLC0415

    def seen(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = jinja2.Environment(
        autoescape=True, finalize=seen, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    here = files("acp_bindings._reports")
    style = here.joinpath("page.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src {digest(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    layout = environment.from_string(here.joinpath("layout.html").read_text(encoding="utf-8"))
    shared = cast("dict[str, Any]", environment.globals)
    shared |= {"style": Markup(style), "policy": policy, "layout": layout}  # noqa: S704 - our own file
    return environment


def digest(code: str) -> str:
    """Return the source for a script or style in a Content-Security-Policy."""
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"

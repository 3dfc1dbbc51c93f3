"""Build the documentation site with Sphinx, MyST and Furo: `nox -s docs`. Warnings are errors.

The pages have the same names and links as on the code host. Reasons for these tools: MyST reads CommonMark with the
tables and anchors of code hosts, so the pages need no changes for the site. Sphinx is maintained, builds offline, and
warns about every broken link and anchor. Furo loads no font, script or picture from other hosts. MkDocs 1 is not
maintained any more, and Material for it ends in 2027. Its successor Zensical reads another Markdown, which would break
folded lists and nested blocks here, and calls its support for references preliminary. griffe reads the reference from
the source, because the docstrings are Markdown, which autodoc does not read, and mkdocstrings needs MkDocs or Zensical.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import reference  # noqa: E402 - it is next to this file, which is not on the path by default

project = "acp-bindings"
author = "The acp-bindings maintainers"
copyright = "the acp-bindings maintainers, Apache-2.0"  # noqa: A001 - Sphinx requires the name
extensions = ["myst_parser"]

root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "schema/README.md"]
exclude_patterns = [".*", "**/node_modules", "site", "dist", "build", "src", "tests", "codegen", "benchmarks"]

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
highlight_language = "text"

pygments_style = "github-light"
pygments_dark_style = "github-dark"
html_theme = "furo"
html_title = project
html_static_path = ["static"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_sphinx = False

PAGES = "docs/README.md"
"""The page whose headings and links determine the order of the pages."""


def navigation() -> str:
    """Return the table of contents, as directives for the first page."""
    listed = (ROOT / PAGES).read_text(encoding="utf-8")
    parts: list[tuple[str, list[str]]] = []
    for section in re.split(r"^## ", listed, flags=re.MULTILINE)[1:]:
        caption, _, text = section.partition("\n")
        links = re.findall(r"^\| \[[^]]*\]\(([^)#]+)\.md\)", text, re.MULTILINE)
        first = [] if parts else [f"All pages </{PAGES.removesuffix('.md')}>"]
        parts.append((caption, first + [f"/docs/{link}" for link in links]))
    rest = [f"/{path.stem}" for path in sorted(ROOT.glob("*.md")) if path.stem != root_doc]
    parts.append(("The project", [*rest, "/schema/README"]))
    return "".join(_toctree(names, caption=caption) for caption, names in parts)


def _toctree(names: list[str], *, caption: str = "") -> str:
    options = f":hidden:\n:caption: {caption}\n" if caption else ":hidden:\n"
    entries = "".join(f"{name}\n" for name in names)
    return f"\n```{{toctree}}\n{options}\n{entries}```\n"


def complete(_: Sphinx, name: str, source: list[str]) -> None:
    """Add to a page what only the site has: the table of contents, the reference, and anchors for MyST."""
    text = source[0]
    text = re.sub(r'<a id="([^"]+)"></a>', r"[]{#\1}", text)
    text = re.sub(r"^<!-- reference: ([\w.]+) -->$", lambda found: reference.module(found[1]), text, flags=re.MULTILINE)
    text = re.sub(r"^<!-- package: ([\w.]+) -->$", lambda found: reference.package(found[1]), text, flags=re.MULTILINE)
    if name == root_doc:
        # The site loads nothing from other hosts, so it has no badges.
        text = re.sub(r"^\[!\[.*\n", "", text, flags=re.MULTILINE) + navigation()
    elif re.fullmatch(r"docs/\w+/README", name):
        rows = "".join(re.findall(r"^\|.*", text, re.MULTILINE))
        text += _toctree(re.findall(r"\]\((\w+)\.md\)", rows))
    source[0] = text


class LinkNames(SphinxPostTransform):
    """Link public names in code spans to the reference."""

    default_priority = 200

    def run(self, **_: Any) -> None:
        """Wrap them, except in headings and links."""
        known = reference.homes()
        for literal in list(self.document.findall(nodes.literal)):
            home = known.get(literal.astext())
            if home is None or isinstance(literal.parent, nodes.title | nodes.reference):
                continue
            page, name = home
            uri = self.app.builder.get_relative_uri(self.env.docname, f"docs/reference/{page}")
            literal.replace_self(nodes.reference("", "", literal.deepcopy(), internal=True, refuri=f"{uri}#{name}"))


def put_the_rest(app: Sphinx, error: Exception | None) -> None:
    """Copy the first page to index.html, and the pictures that HTML in the pages refers to."""
    if error is None and app.builder.name == "html":
        shutil.copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))
        shutil.copytree(ROOT / "docs" / "pictures", Path(app.outdir, "docs", "pictures"), dirs_exist_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the hooks with Sphinx."""
    app.add_post_transform(LinkNames)
    app.connect("source-read", complete)
    app.connect("build-finished", put_the_rest)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

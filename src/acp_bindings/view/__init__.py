"""Draw a recorded conversation as a page for the browser, as the command `acp-bindings view` does.

    with open("talk.ndjson", "rb") as lines, open("talk.html", "w", encoding="utf-8") as file:
        file.writelines(page_of(lines, name="talk.ndjson"))

`LiveView` serves the page on loopback and follows a recording while it is written. Both require only pydantic.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._live_page import LiveView as LiveView
    from ._page import page_of as page_of
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(__name__, {"_page": "page_of", "_live_page": "LiveView"})

"""A picture of a recorded conversation, as the command `acp-bindings view` makes it.

    with open("talk.ndjson", "rb") as lines, open("talk.html", "w", encoding="utf-8") as page:
        page.writelines(page_of(lines, name="talk.ndjson"))

`LiveView` shows a recording in the browser while it is written. Both require only pydantic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

"""Updates of v1 as a client of v2 gets them."""

from __future__ import annotations

from typing import Any

import pytest

from acp_bindings import DecodeError, v1, v1_unstable, v2
from acp_bindings._from_v1 import from_v1


@pytest.mark.parametrize("end", ["\r\n", "\x0c\n", "\u2028\n"])
def test_the_lines_of_a_patch_end_only_at_line_feeds(end: str) -> None:
    diff = v1.Diff(path="/a", old_text=f"one{end}two", new_text=f"one{end}2\n")
    update: Any = from_v1(v2, v1.SessionToolCallUpdate(tool_call_id="c", content=[diff]))
    patch = update.content[0].patch.text
    changed = f"@@ -1,2 +1,2 @@\n one{end}-two\n\\ No newline at end of file\n+2\n"
    assert patch == f"diff --git /a /a\n--- /a\n+++ /a\n{changed}"


def test_the_mode_is_not_an_update_of_v2() -> None:
    with pytest.raises(DecodeError, match=r"session\.set_mode changes the mode"):
        from_v1(v2, v1.CurrentModeUpdate(current_mode_id="code"))
    newer: Any = {"session_update": "weather", "degrees": 21}
    assert from_v1(v2, v1.OtherSessionUpdate(**newer)) == v2.OtherSessionUpdate(**newer)


def test_an_update_of_the_unstable_package_becomes_one_of_the_stable_package() -> None:
    content = v1_unstable.TextContent(text="Hi")
    update = from_v1(v1, v1_unstable.AgentMessageChunk(content=content))
    assert update == v1.AgentMessageChunk(content=v1.TextContent(text="Hi"))
    assert type(update) is v1.AgentMessageChunk

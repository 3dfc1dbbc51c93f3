"""A scripted agent, for tests of clients. Needs the extra `connection`.

    async with Client("editor", version="1.0").connect(Play().connected()) as agent: ...

Importing this package loads nothing; its names load what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_bindings._lazy import lazy_names

if TYPE_CHECKING:
    from acp_bindings.play._replay import Replay
    from acp_bindings.play._rude import RUDE
    from acp_bindings.play._scenes import SCENES
    from acp_bindings.play._script import Script, ScriptError
    from acp_bindings.play._scripted_agent import Play
else:
    _, _load, __dir__ = lazy_names(
        __name__,
        {
            "_scripted_agent": "Play",
            "_replay": "Replay",
            "_rude": "RUDE",
            "_scenes": "SCENES",
            "_script": "Script ScriptError",
        },
    )

    def __getattr__(name: str) -> Any:
        try:
            return _load(name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"acp_bindings.play needs {error.name}: pip install 'acp-bindings[connection]'"
            ) from error


__all__ = [
    "RUDE",
    "SCENES",
    "Play",
    "Replay",
    "Script",
    "ScriptError",
]

"""A scripted agent, for tests of clients. Needs the extra `connection`.

    async with Client("editor", version="1.0").connect(Play().connected()) as agent: ...

Importing this package loads nothing; its names load what they need.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._replay import Replay as Replay
    from ._rude import RUDE as RUDE
    from ._scenes import SCENES as SCENES
    from ._script import Script as Script
    from ._script import ScriptError as ScriptError
    from ._scripted_agent import Play as Play
else:
    from acp_bindings._lazy import lazy_names

    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_scripted_agent": "Play",
            "_replay": "Replay",
            "_rude": "RUDE",
            "_scenes": "SCENES",
            "_script": "Script ScriptError",
        },
        extra="connection",
    )

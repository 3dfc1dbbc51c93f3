"""Typed models of the Agent Client Protocol, with one package for each published schema.

    from acp_bindings import decode, encode, v1

`import acp_bindings` does not import pydantic. Each protocol package imports its modules when you use their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_bindings._lazy import PACKAGES, lazy_names

if TYPE_CHECKING:
    from acp_bindings import v1, v1_unstable, v2, v2_unstable
    from acp_bindings.decoding import decode
    from acp_bindings.encoding import encode
    from acp_bindings.errors import AcpError, DecodeError, EncodeError, Finding, Issue
else:
    _, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "decoding": "decode",
            "encoding": "encode",
            "errors": "AcpError DecodeError EncodeError Finding Issue",
            **dict.fromkeys(PACKAGES, ""),
        },
    )

__all__ = [
    "AcpError",
    "DecodeError",
    "EncodeError",
    "Finding",
    "Issue",
    "decode",
    "encode",
    "v1",
    "v1_unstable",
    "v2",
    "v2_unstable",
]

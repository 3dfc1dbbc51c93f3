"""The version of these packages, which are published as one."""

from __future__ import annotations

__all__ = ["version"]


def version() -> str:
    """What is installed; `unknown` where only the code is, as in an archive or a frozen program."""
    from importlib import metadata  # noqa: PLC0415 - few ever ask, and it loads much

    try:
        return metadata.version("acp-bindings")
    except metadata.PackageNotFoundError:
        return "unknown"

"""A format that is a map from names to servers, which all are but ACP's."""

from __future__ import annotations

from mcp_launch.config.formats.map_reading import MapReader
from mcp_launch.config.formats.map_writing import MapWriter

__all__ = ["MapFormat"]


class MapFormat(MapReader, MapWriter):
    """Its words are data, and both ways are made of them."""

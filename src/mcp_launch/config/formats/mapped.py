"""The base class of the formats that are a map from names to servers, which are all but ACP's."""

from __future__ import annotations

from mcp_launch.config.formats.map_reading import MapReader
from mcp_launch.config.formats.map_writing import MapWriter

__all__ = ["MapFormat"]


class MapFormat(MapReader, MapWriter):
    """Reads and writes by the names and rules that its class attributes give."""

"""What a server offers: its tools, resources and prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_types import Prompt, Resource, ResourceTemplate, Tool

__all__ = ["Offer"]


@dataclass(slots=True, kw_only=True)
class Offer:
    """What a server listed; None for what it was not asked for, or could not tell, or not yet."""

    tools: list[Tool] | None = None
    resources: list[Resource] | None = None
    resource_templates: list[ResourceTemplate] | None = None
    prompts: list[Prompt] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many of each there are, of those that were listed."""
        listed = {
            "tools": self.tools,
            "resources": self.resources,
            "resource_templates": self.resource_templates,
            "prompts": self.prompts,
        }
        return {kind: len(items) for kind, items in listed.items() if items is not None}

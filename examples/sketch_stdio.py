"""An MCP server over stdio to explore, with arguments of all kinds, an image, a resource and a prompt."""

from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from pydantic import BaseModel, Field

sketch = MCPServer("sketch", version="1.0", log_level="WARNING")
Size = Annotated[int, Field(ge=1, le=9, description="Characters on a side.")]


class Pen(BaseModel):
    """The characters for drawing."""

    ink: str = "#"
    thick: bool = False


@sketch.tool(structured_output=False)
def draw(shape: Literal["line", "box"], size: Size = 3, labels: list[str] | None = None, pen: Pen | None = None) -> str:
    """Draw a shape out of characters.

    Labels are written below it, one on each line.
    """
    row = (pen or Pen()).ink * size * (2 if pen and pen.thick else 1)
    return "\n".join([row] * (size if shape == "box" else 1) + (labels or []))


@sketch.tool(structured_output=False)
async def paint(colours: list[str], ctx: Context) -> list[str | Image]:
    """Paint a picture: one pixel, to be honest."""
    for done, colour in enumerate(colours, start=1):
        await ctx.report_progress(done, len(colours), f"mixing {colour}")
    return ["Here it is.", Image(data=PIXEL, format="gif")]


@sketch.resource("sketch://inks", mime_type="text/plain")
def inks() -> str:
    """The characters that look best."""
    return "# * +"


@sketch.prompt()
def criticise(work: str, tone: str = "kind") -> str:
    """Ask for an opinion of a work."""
    return f"Say something {tone} about {work}."


PIXEL = b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"

if __name__ == "__main__":
    sketch.run("stdio")

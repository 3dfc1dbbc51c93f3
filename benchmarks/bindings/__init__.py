"""How fast messages are read and written, side by side with the official SDK, msgspec and what pydantic can at most."""

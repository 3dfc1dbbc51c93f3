"""The speed of reading and writing messages, compared with the official SDK, msgspec and plain pydantic."""

"""The one part of this package that does I/O; it needs the extra `connection`, and importing it loads no models."""

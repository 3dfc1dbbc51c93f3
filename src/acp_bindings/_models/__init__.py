"""The base classes, markers and reading rules of the generated classes."""

"""Prints reports as lines, live on a terminal, or as JSON, and writes JUnit XML and HTML."""

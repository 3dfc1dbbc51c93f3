"""Checks the tag of a release and writes its notes. Not part of the distributions."""

"""Checks before a model is written: its lists and maps may have been changed in place, which nothing noticed."""

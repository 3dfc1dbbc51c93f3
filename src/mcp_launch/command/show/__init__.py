"""A report in the forms in which people and other programs take it, a module for each."""

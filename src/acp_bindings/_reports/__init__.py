"""Shared by reports in files: text that is safe in XML and HTML, the page, and how a file is replaced."""

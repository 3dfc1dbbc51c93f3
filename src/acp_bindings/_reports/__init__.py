"""What reports in files have in common: text that is safe in XML and HTML, the page, and how a file is replaced."""

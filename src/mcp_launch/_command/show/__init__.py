"""Shows a report: as lines, on a live terminal, as JSON, JUnit XML or HTML."""

"""What must not be shown stays out of all that is shown: messages, reports, logs. Standard library alone."""

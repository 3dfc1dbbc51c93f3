"""The run time of whole commands, as measured by a shell."""

"""The process of a stdio server until it runs: its command, its environment, its start, and the start ahead of that."""

"""Starts the process of a stdio server: finds its command, makes its environment, and says why it cannot be started."""

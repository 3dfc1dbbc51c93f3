"""How fast a client and an agent talk to each other over pipes, side by side with the official Python SDK."""

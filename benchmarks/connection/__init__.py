"""The speed of a client and an agent over pipes, compared with the official Python SDK."""

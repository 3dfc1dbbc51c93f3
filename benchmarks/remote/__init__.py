"""The speed of agents over HTTP and WebSocket."""

"""What a line of JSON-RPC is made of, and who may send it."""

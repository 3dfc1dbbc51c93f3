"""The command `acp-bindings`."""

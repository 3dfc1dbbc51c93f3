"""`acp-bindings tap`: forwards a conversation unchanged, and records it in a second process."""

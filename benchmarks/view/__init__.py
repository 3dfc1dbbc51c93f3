"""How fast the page of `acp-bindings view` opens and scrolls."""

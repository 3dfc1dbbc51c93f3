"""What `acp-bindings tap` costs a conversation, next to no tap and to `tee`."""

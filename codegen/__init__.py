"""The pipeline from the published ACP schemas to the packages in `src/acp_bindings`; never shipped."""

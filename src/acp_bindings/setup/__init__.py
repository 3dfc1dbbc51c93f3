"""The rules of the Agent Client Protocol around its types, without I/O."""

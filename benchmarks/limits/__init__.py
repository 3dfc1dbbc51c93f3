"""The memory and the blocked time that a hostile server can cause."""

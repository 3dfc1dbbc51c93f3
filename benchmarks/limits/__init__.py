"""What a hostile server can cost: memory, and time during which nothing else runs."""

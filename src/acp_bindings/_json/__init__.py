"""JSON itself: its text, its numbers, its shapes."""

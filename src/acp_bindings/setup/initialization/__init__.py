"""`initialize`: what both sides say in it, how each reads the other, and what may come before and after it."""

"""How long whole commands take, from the shell's point of view."""

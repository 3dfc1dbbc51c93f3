"""What is a stdio server's own about its process: its command, its environment, what it says on standard error."""

"""Shows what servers offer and tries it: lists it, calls tools, and reads lines that are typed at a prompt."""

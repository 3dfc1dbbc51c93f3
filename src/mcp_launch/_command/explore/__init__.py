"""Lists what servers offer, calls tools, and runs the shell."""

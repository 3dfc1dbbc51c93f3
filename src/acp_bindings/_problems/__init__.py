"""What is wrong with a message, and what reading it excused: worked out only where there is something to tell."""

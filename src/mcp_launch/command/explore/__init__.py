"""What servers offer, shown and tried: arguments by schemas, answers as text and files, lines typed at a prompt."""

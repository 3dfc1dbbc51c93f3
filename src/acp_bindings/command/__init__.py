"""What the commands of both packages share."""

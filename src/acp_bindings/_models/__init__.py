"""What the generated classes stand on."""

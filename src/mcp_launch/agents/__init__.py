"""What an agent needs between its servers, its model and its client: names of tools, content, capabilities."""

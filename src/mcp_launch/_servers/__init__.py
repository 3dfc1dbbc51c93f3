"""The servers of a launch, each from its entry in the request to its end."""

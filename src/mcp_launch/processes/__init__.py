"""The processes of stdio servers: what is run, with which environment, its pipes, and an end that leaves nothing."""

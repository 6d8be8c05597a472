"""The pipes between a run and the sandbox."""

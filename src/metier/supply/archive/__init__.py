"""Archives on this machine."""

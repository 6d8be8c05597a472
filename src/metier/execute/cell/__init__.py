"""One bubblewrap at work."""

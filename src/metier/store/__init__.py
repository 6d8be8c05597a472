"""Trees of files by content, changes that happen whole or not at all, and safe files."""

"""What the scanner reads from disk: trees to judge, and its own source."""

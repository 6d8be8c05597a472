"""Small files of other people's: locks and records."""

"""Putting a change in place, all at once."""

"""Drafts of agents as the review queue sees them: what is written about each, what it comes to, and where a person works on it."""

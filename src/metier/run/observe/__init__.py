"""Watches what a skill does: runs what it would have an agent run, in the sandbox, among decoys."""

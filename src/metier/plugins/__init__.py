"""Plugins mirrored into the versioned store: their states and transitions, versions, candidates, and how all that is written."""

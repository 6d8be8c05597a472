"""Snapshots as files, and the SQLite cache of digests and verdicts."""

"""The sandbox at work, and what a run keeps on disk."""

"""The disk, this machine, and notices of changes."""

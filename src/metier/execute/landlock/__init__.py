"""Landlock: what the kernel itself keeps a thread, and all that it starts, from doing (`proc`)."""

"""Getting skills in and keeping them current: sources, the lock, merges, and what is handed on to others."""

"""Getting skills in and keeping them current: add, update, sync, merge, remove, and the lock."""

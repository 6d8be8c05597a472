"""The kernel's limits on a process that has not begun yet."""

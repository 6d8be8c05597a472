"""Control groups: the kernel counts a run's tasks and memory, and ends what is over."""

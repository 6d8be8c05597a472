"""What the sandbox is told: the arguments of bubblewrap and the seccomp filter, as values."""

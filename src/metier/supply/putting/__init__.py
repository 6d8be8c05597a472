"""Writing files that others read: whole or not at all."""

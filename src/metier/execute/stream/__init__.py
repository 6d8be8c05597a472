"""A run from its start to its end: what it prints is handed on, its limits are kept, and nothing of it is left."""

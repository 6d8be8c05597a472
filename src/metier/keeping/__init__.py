"""How metier keeps what is its own: whole, private, and one process at a time."""

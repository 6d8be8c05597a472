"""A bare repository of metier's own, and what is read out of it."""

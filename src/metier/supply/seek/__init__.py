"""Asking many remote sources at once."""

"""Bytes by their hash."""

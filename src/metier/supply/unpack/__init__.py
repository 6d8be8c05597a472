"""Readers of zip and tar and of what squeezes them, written for hostile input: bytes in, entries out."""

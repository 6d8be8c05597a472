"""Zip and tar, read with limits and written reproducibly: bytes in, entries out. No I/O."""

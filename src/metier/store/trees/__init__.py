"""Folders of files as they lie on disk, read without following anything."""

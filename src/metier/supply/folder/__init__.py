"""Folders on this machine."""

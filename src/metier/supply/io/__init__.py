"""Everything of supply that touches the world: git, HTTP, folders, archives, quarantine, lock
files.
"""

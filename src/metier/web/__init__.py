"""The page: one library in a browser on this machine."""

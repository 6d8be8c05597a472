"""The descriptors that one run holds."""

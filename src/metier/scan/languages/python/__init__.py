"""Python: a syntax tree and a bounded taint walk."""

"""One analyzer a file: text in, hits out."""

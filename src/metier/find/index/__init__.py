"""The index on words and vectors: its format, and how it is written and asked."""

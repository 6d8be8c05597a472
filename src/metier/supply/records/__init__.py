"""Other tools' records of what they installed, one module to each format: bytes in, values out, and back."""

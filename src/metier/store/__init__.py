"""Trees of files by their digest, and the change that puts them in place whole or not at all."""

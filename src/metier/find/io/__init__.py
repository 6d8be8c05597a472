"""The index as a folder of mapped files, and the model that sees meaning."""

"""The very bytes that were decided about, apart from the folder they came from, which may change at any moment."""

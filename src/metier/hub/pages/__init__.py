"""The hub's pages, for people with a browser."""

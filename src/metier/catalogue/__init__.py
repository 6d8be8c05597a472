"""2 · What was found, remembered with the stats that prove it still true, and queryable."""

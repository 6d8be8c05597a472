"""Stage 5: what was read, remembered with the stats that prove it still true."""

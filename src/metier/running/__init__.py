"""The library's side of running: whether a script may be run, with what, and what is noted of it."""

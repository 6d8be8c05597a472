"""One call of git: for so long, so large, and with nothing left behind."""

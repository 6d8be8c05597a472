"""What becomes of plugins here: found, enabled, mirrored, compared with what they ship now, paused, disabled, adopted."""

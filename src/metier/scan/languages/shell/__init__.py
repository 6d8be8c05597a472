"""Shell: text to commands, commands to behaviour."""

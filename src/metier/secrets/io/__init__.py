"""Where secrets are kept: a file of the user's own, or the system keyring."""

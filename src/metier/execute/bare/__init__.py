"""Running without a sandbox, for who has said in so many words that they want it."""

"""3 · Many candidates to what each name means, and what is missing."""

"""7 · Card → body → file → prompt, counted in tokens: what a model is given, and in which words."""

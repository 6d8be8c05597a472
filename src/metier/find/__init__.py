"""6 · Which skill fits a task: words, meaning, triggers."""

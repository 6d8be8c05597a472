"""Which of many skills fits a task: triggers, words, meaning, and how they are weighed."""

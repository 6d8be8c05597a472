"""Count words, sentences and the minutes it takes to read a text.

A code skill is one Python file with a top-level `run`. What it says of itself is read from the source text; the file
is never imported for that. That is why a listing can show it although the package below need not be installed.
"""

import a_package_that_is_not_installed as reading_speed

SKILL_NAME: str = "word-count"
SKILL_DESCRIPTION: str = "Count the words and sentences of a text and say how long it takes to read."
SKILL_TRIGGERS = ["how many words", "how long does it take to read"]
SKILL_DESTRUCTIVE = False
SKILL_PERMISSIONS = ["read"]


def run(task: str) -> str:
    """Count the words of the task's text."""
    words = len(task.split())
    sentences = sum(task.count(mark) for mark in ".!?")
    return f"{words} words, {sentences} sentences, {words / reading_speed.WORDS_PER_MINUTE:.1f} minutes"

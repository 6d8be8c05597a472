"""Three versions of a skill into one: pure, and the same as git where both can do it."""

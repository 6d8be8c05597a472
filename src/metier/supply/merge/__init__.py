"""Three versions of a skill into one, with the same result as git where git can do it."""

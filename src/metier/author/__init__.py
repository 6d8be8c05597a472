"""How people and agents write skills: new, check, manage, and the drafts that wait for review."""

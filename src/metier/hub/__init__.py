"""The fourth door: a team's own place for skills, on a database and an object store."""

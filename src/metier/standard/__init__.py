"""The formats of skills, as pure functions over bytes."""

"""Code skills inside this very process: only for levels that the user names, and only `builtin` and `trusted` ones."""

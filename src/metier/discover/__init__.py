"""1 · Roots to trees: agents and scopes as data, the bounded walk, watching."""

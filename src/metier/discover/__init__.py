"""Stage 1: from scopes to roots, and from roots to what lies below them."""

"""Stage 6: what each level of a skill shows, and in which JSON."""

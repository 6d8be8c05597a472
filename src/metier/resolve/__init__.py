"""Stage 4: from many candidates to what each name means."""

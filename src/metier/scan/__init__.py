"""Stage 2 · tree → verdict: what a skill might do, judged from its bytes alone."""

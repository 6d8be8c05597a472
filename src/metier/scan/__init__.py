"""Stage 4: bytes to verdict. What a skill might do, judged from its files alone."""

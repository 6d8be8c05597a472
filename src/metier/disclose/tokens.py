"""How many tokens a text costs: a documented estimate, one token for four bytes of UTF-8, rounded up (CX-52)."""

from __future__ import annotations

BYTES_PER_TOKEN = 4


def estimate(text: str) -> int:
    """Estimate the tokens of a text."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)

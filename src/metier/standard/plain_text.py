"""Plain work on texts that a listing asks for, so it loads nothing: their words, and how many tokens
they cost.

The cost is a documented estimate, one token for four bytes of UTF-8, rounded up (CX-52). It is
deliberately plain: it needs no model, gives the same answer on every machine, and errs on the dear
side for prose in Latin letters. A host that has its model's own tokenizer puts it behind
`ports.Counter`, and then budgets are kept by that one.
"""

from __future__ import annotations

BYTES_PER_TOKEN = 4


def estimate(text: str) -> int:
    """Estimate the tokens of a text."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)


class Estimate:
    """The estimate as a `Counter`."""

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        return estimate(text)


def words(text: str) -> frozenset[str]:
    """Give the words of a text as a set: a long list is easier to read and to keep as one text than
    with a line for each.
    """
    return frozenset(text.split())


def normalised(name: str) -> str:
    """Give the form under which a Python distribution is known: small letters, with `-` for every
    run of `-`, `_` and `.`.
    """
    return "-".join(
        part for part in name.lower().replace("_", "-").replace(".", "-").split("-") if part
    )

"""Names of Python distributions. Apart from the rest, because a listing asks for it."""

from __future__ import annotations


def normalised(name: str) -> str:
    """Give the form under which a distribution is known: small letters, with `-` for every run of `-`, `_` and `.`."""
    return "-".join(part for part in name.lower().replace("_", "-").replace(".", "-").split("-") if part)

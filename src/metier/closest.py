"""The known word that somebody may have meant: for commands, options, keys and agents. Nothing when none comes near."""

from __future__ import annotations

from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str:
    """Give the known word that takes the fewest slips of the finger to become `word`; nothing when it takes too many."""
    bare = word.lower().strip("-")
    fewest, best = min(((slips(bare, one.lower().strip("-")), one) for one in known), default=(len(bare), ""))
    return best if fewest <= max(1, len(bare) // 3) else ""


def slips(typed: str, meant: str, most: int | None = None) -> int:
    """Count letters left out, added, changed or swapped with their neighbour; above `most`, it is not told by how many."""
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for at, letter in enumerate(typed, 1):
        previous, before, row = before, row, [at]
        for to, wanted in enumerate(meant, 1):
            best = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == meant[to - 2] and typed[at - 2] == wanted:
                best = min(best, previous[to - 2] + 1)
            row.append(best)
        if most is not None and min(row) > most:
            return most + 1
    return row[-1] if most is None else min(row[-1], most + 1)

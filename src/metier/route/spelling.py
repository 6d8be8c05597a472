"""Words that were typed wrongly or are not finished yet → the words of an index that were meant. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metier.closest import slips

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.route.postings import Numbers

LEAST, LONG = 4, 8
"""Letters of a word that may have one slip, and of one that may have two."""
SURE = 7
"""Letters of a word from which on its first may be the one that was typed wrongly: many short words differ in that alone."""
_BITS = 63


def slips_allowed(word: str) -> int:
    """Tell how many slips of the finger are forgiven in a word; with a digit in it, another digit is another thing."""
    return (len(word) >= LEAST) + (len(word) >= LONG) if word.isalpha() else 0


class Spellings:
    """Known words, ready to be compared with one that is not known."""

    def __init__(self, words: Iterable[str]) -> None:
        """Take the words; the order plays no part."""
        self.words: Sequence[str] = sorted(words)
        letters: Numbers = np.array(self.words or [""], dtype=np.str_)
        codes = letters.view(np.uint32).reshape(len(letters), -1)
        self.lengths: Numbers = np.count_nonzero(codes, axis=1)
        bits = np.where(codes > 0, np.uint64(1) << (codes & np.uint32(_BITS)).astype(np.uint64), np.uint64(0))
        self.letters: Numbers = np.bitwise_or.reduce(bits, axis=1)

    def near(self, word: str, most: int) -> tuple[int, list[str]]:
        """Give the words that take the fewest slips to become `word`, and how many that is; none when it takes more than `most`."""
        own = 0
        for letter in word:
            own |= 1 << (ord(letter) & _BITS)
        close = np.abs(self.lengths - len(word)) <= most
        close &= np.bitwise_count(self.letters ^ np.uint64(own)) <= 2 * most  # a slip changes two letters at the most
        found: dict[int, list[str]] = {}
        for at in np.flatnonzero(close).tolist() if most and self.words else ():
            if len(word) >= SURE or _begins_alike(word, self.words[at]):
                found.setdefault(slips(word, self.words[at], most), []).append(self.words[at])
        return next(((count, found[count]) for count in range(1, most + 1) if count in found), (0, []))


def _begins_alike(typed: str, meant: str) -> bool:
    """Tell whether two words begin with the same letter, or with the same two the other way round."""
    return typed[0] == meant[0] or typed[:2] == meant[1::-1]

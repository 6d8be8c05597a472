"""Turns a query as somebody wrote it into the terms that an index is searched for, misspelled and
unfinished words included. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metier.errors import slips
from metier.find.index.dictionary import live_words
from metier.find.words import (
    DESCRIPTION,
    EXACT_TAG,
    HEADINGS,
    NAME,
    STOP_WORDS,
    TAGS,
    exact_tag,
    plain_words,
    spoken,
    stem,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.find.index.bm25 import QueryTerm, WordIndex
    from metier.find.index.postings import Numbers


MIN_ONE_SLIP_CHARS = 4
MIN_TWO_SLIPS_CHARS = 8
"""Letters of a word that may have one slip, and of one that may have two."""
MIN_FIRST_SLIP_CHARS = 7
"""Letters of a word from which on its first may be the one that was typed wrongly: many short words
differ in that alone."""
_BITS = 63


def slips_allowed(word: str) -> int:
    """Tell how many slips of the finger are forgiven in a word; with a digit in it, another digit
    is another thing.
    """
    return (
        (len(word) >= MIN_ONE_SLIP_CHARS) + (len(word) >= MIN_TWO_SLIPS_CHARS)
        if word.isalpha()
        else 0
    )


class Spellings:
    """Known words, ready to be compared with one that is not known."""

    def __init__(self, words: Iterable[str]) -> None:
        """Take the words; the order plays no part."""
        self.words: Sequence[str] = sorted(words)
        letters: Numbers = np.array(self.words or [""], dtype=np.str_)
        codes = letters.view(np.uint32).reshape(len(letters), -1)
        self.lengths: Numbers = np.count_nonzero(codes, axis=1)
        bits = np.where(
            codes > 0, np.uint64(1) << (codes & np.uint32(_BITS)).astype(np.uint64), np.uint64(0)
        )
        self.letters: Numbers = np.bitwise_or.reduce(bits, axis=1)

    def near(self, word: str, most: int) -> tuple[int, list[str]]:
        """Give the words that take the fewest slips to become `word`, and how many that is; none
        when it takes more than `most`.
        """
        own = 0
        for letter in word:
            own |= 1 << (ord(letter) & _BITS)
        close = np.abs(self.lengths - len(word)) <= most
        close &= (
            np.bitwise_count(self.letters ^ np.uint64(own)) <= 2 * most
        )  # a slip changes two letters at the most
        found: dict[int, list[str]] = {}
        for at in np.flatnonzero(close).tolist() if most and self.words else ():
            if len(word) >= MIN_FIRST_SLIP_CHARS or _begins_alike(word, self.words[at]):
                found.setdefault(slips(word, self.words[at], most), []).append(self.words[at])
        return next(
            ((count, found[count]) for count in range(1, most + 1) if count in found), (0, [])
        )


def _begins_alike(typed: str, meant: str) -> bool:
    """Tell whether two words begin with the same letter, or with the same two the other way
    round.
    """
    return typed[0] == meant[0] or typed[:2] == meant[1::-1]


MAX_QUERY_CHARS = 1 << 16
"""Characters of a query that are read."""
MAX_QUERY_WORDS = 1024
"""Words that are looked up, the first of the query; the rarest of them then count."""
MAX_ENDINGS = 32
"""Words that an unfinished one may become: the shortest that a name, a description, a tag or a
heading has."""
SLIP_WEIGHTS = (0.0, 0.6, 0.4)
"""What a word counts that was typed with no, one or two slips."""
_MIN_BEGUN_CHARS = 4
_END = b"\xff"
"""Behind every word that begins as what stands before it does."""


class TermFinder:
    """Looks up what is asked of one index."""

    def __init__(self, index: WordIndex) -> None:
        """Ask this index."""
        self.index = index
        self._spellings: Spellings | None = None

    def terms(self, text: str, *, unfinished: bool) -> list[QueryTerm]:
        """Give what a query asks for."""
        text = text[:MAX_QUERY_CHARS]
        plain = {
            stem(word): word for word in reversed(self._meant(text))
        }  # of two forms of a word, the first is the one
        last = _last(text) if unfinished else ""
        roots = list(reversed(plain))[:MAX_QUERY_WORDS]
        found = [self._term(root, plain[root]) for root in roots if not last or root != stem(last)]
        if last:
            found.append(self._begun(last))
        return self.index.foremost(found)

    def _meant(self, text: str) -> list[str]:
        """Give the words of a query. An identifier that no skill has is asked for by its parts, and
        any other by itself alone.
        """
        found: list[str] = []
        for word, parts in spoken(text):
            whole = not parts or self.index.term([stem(word).encode()]).size
            found += [word] if whole else parts
        return found

    def _term(self, root: str, word: str) -> QueryTerm:
        """Look a word up; one that nobody has may be a name typed wrongly, unless it stands in
        every request.
        """
        term = self.index.term([root.encode()])
        most = slips_allowed(word)
        if term.size or root in STOP_WORDS or not most:
            return term
        count, near = self._near(word, most)
        meant = sorted({stem(name).encode() for name in near})
        return (
            self.index.term(meant, [NAME], SLIP_WEIGHTS[count])._replace(word=term.word)
            if meant
            else term
        )

    def _near(self, word: str, most: int) -> tuple[int, list[str]]:
        """Compare a word with those of all names as both are written: a slip in an ending makes
        another stem.
        """
        if self._spellings is None:
            self._spellings = Spellings(
                {
                    name
                    for segment, live in self.index.parts
                    for name in live_words(segment.names(), live)
                }
            )
        return self._spellings.near(word, most)

    def _begun(self, word: str) -> QueryTerm:
        """Give a term for all words that an unfinished one may become, or for the stem of which it
        is a form so far.
        """
        found = self._endings(word.encode())
        for length in range(len(word) - 1, _MIN_BEGUN_CHARS - 1, -1):
            if found:
                break
            found = [root for root in [stem(word[:length]).encode()] if self._is_told(root)]
        root = stem(word).encode()
        return self.index.term([root, *(one for one in found if one != root)])

    def _endings(self, start: bytes) -> list[bytes]:
        stretches = [
            segment.vocabulary.between(start, start + _END) for segment, _live in self.index.parts
        ]
        told = {
            word
            for stretch in stretches
            for word, row in zip(stretch.words, stretch.rows.tolist(), strict=True)
            if row[NAME] or row[DESCRIPTION] or row[TAGS] or row[-1]
        }
        found: list[bytes] = []
        for word in sorted(told, key=lambda word: (len(word), word)):
            if len(found) == MAX_ENDINGS:
                break
            if self._is_told(word):
                found.append(word)
        return found

    def _is_told(self, word: bytes) -> bool:
        """Tell whether a document that is still there has a word elsewhere than in the middle of
        its text.
        """
        sizes = self.index.term([word]).sizes
        return any(sizes[field] for field in (NAME, DESCRIPTION, TAGS, HEADINGS))

    def tagged(self, tags: Sequence[str]) -> Numbers:
        """Give a mask of the documents that have every one of these tags."""
        mask = self.index.live
        for tag in tags:
            term = self.index.term([(EXACT_TAG + exact_tag(tag)).encode("utf-8", "surrogatepass")])
            has: Numbers = np.zeros_like(mask)
            for start, lists in zip(self.index.starts, term.lists, strict=False):
                found = lists[TAGS]
                if found is not None:
                    has[start + found.documents] = True
            mask = mask & has
        return mask


def _last(text: str) -> str:
    """Give the word at which a text stops, unless a space says that it is finished."""
    if not text or text[-1].isspace():
        return ""
    return next(reversed(plain_words(text.rsplit(maxsplit=1)[-1])), "")

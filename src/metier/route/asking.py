"""A query as somebody wrote it → the terms that an index is searched for. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metier.route.fields import DESCRIPTION, EXACT, HEADINGS, NAME, TAGS, exact
from metier.route.named import standing
from metier.route.spelling import Spellings, slips_allowed
from metier.route.words import SAY_NOTHING, plain_words, spoken, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.route.lexical import Index, Term
    from metier.route.postings import Numbers

MOST_TEXT = 1 << 16
"""Characters of a query that are read."""
MOST_WORDS = 1024
"""Words that are looked up, the first of the query; the rarest of them then count."""
MOST_ENDINGS = 32
"""Words that an unfinished one may become: the shortest that a name, a description, a tag or a heading has."""
SLIPPED = (0.0, 0.6, 0.4)
"""What a word counts that was typed with no, one or two slips."""
_LEAST_BEGUN = 4
_END = b"\xff"
"""Behind every word that begins as what stands before it does."""


class Asker:
    """Looks up what is asked of one index."""

    def __init__(self, index: Index) -> None:
        """Ask this index."""
        self.index = index
        self._spellings: Spellings | None = None

    def terms(self, text: str, *, unfinished: bool) -> list[Term]:
        """Give what a query asks for."""
        text = text[:MOST_TEXT]
        plain = {stem(word): word for word in reversed(self._meant(text))}  # of two forms of a word, the first is the one
        last = _last(text) if unfinished else ""
        roots = list(reversed(plain))[:MOST_WORDS]
        found = [self._term(root, plain[root]) for root in roots if not last or root != stem(last)]
        if last:
            found.append(self._begun(last))
        return self.index.foremost(found)

    def _meant(self, text: str) -> list[str]:
        """Give the words of a query. An identifier that no skill has is asked for by its parts, and any other by itself alone."""
        found: list[str] = []
        for word, parts in spoken(text):
            whole = not parts or self.index.term([stem(word).encode()]).size
            found += [word] if whole else parts
        return found

    def _term(self, root: str, word: str) -> Term:
        """Look a word up; one that nobody has may be a name typed wrongly, unless it stands in every request."""
        term = self.index.term([root.encode()])
        most = slips_allowed(word)
        if term.size or root in SAY_NOTHING or not most:
            return term
        count, near = self._near(word, most)
        meant = sorted({stem(name).encode() for name in near})
        return self.index.term(meant, [NAME], SLIPPED[count])._replace(word=term.word) if meant else term

    def _near(self, word: str, most: int) -> tuple[int, list[str]]:
        """Compare a word with those of all names as both are written: a slip in an ending makes another stem."""
        if self._spellings is None:
            self._spellings = Spellings({name for segment, live in self.index.parts for name in standing(segment.names(), live)})
        return self._spellings.near(word, most)

    def _begun(self, word: str) -> Term:
        """Give a term for all words that an unfinished one may become, or for the stem of which it is a form so far."""
        found = self._endings(word.encode())
        for length in range(len(word) - 1, _LEAST_BEGUN - 1, -1):
            if found:
                break
            found = [root for root in [stem(word[:length]).encode()] if self._is_told(root)]
        root = stem(word).encode()
        return self.index.term([root, *(one for one in found if one != root)])

    def _endings(self, start: bytes) -> list[bytes]:
        stretches = [segment.vocabulary.between(start, start + _END) for segment, _live in self.index.parts]
        told = {word for stretch in stretches for word, row in zip(stretch.words, stretch.rows.tolist(), strict=True)
                if row[NAME] or row[DESCRIPTION] or row[TAGS] or row[-1]}  # fmt: skip
        found: list[bytes] = []
        for word in sorted(told, key=lambda word: (len(word), word)):
            if len(found) == MOST_ENDINGS:
                break
            if self._is_told(word):
                found.append(word)
        return found

    def _is_told(self, word: bytes) -> bool:
        """Tell whether a document that is still there has a word elsewhere than in the middle of its text."""
        sizes = self.index.term([word]).sizes
        return any(sizes[field] for field in (NAME, DESCRIPTION, TAGS, HEADINGS))

    def tagged(self, tags: Sequence[str], part: int) -> Numbers:
        """Give a mask of the documents of a segment that have every one of these tags."""
        mask: Numbers = np.ones(self.index.parts[part][0].count, np.bool_)
        for tag in tags:
            has: Numbers = np.zeros_like(mask)
            found = self.index.term([(EXACT + exact(tag)).encode("utf-8", "surrogatepass")]).lists[part][TAGS]
            if found is not None:
                has[found.documents] = True
            mask &= has
        return mask


def _last(text: str) -> str:
    """Give the word at which a text stops, unless a space says that it is finished."""
    if not text or text[-1].isspace():
        return ""
    return next(reversed(plain_words(text.rsplit(maxsplit=1)[-1])), "")

"""Text → the numbers that a BERT model reads, as the models of its uncased family were trained to
expect them. Pure.

What stands in brackets is text here: `[MASK]` in a skill's description is a word like any other,
not an order to the model.
"""

from __future__ import annotations

import re
import unicodedata

MAX_TEXT_CHARS = 4000
"""How much of a text is looked at: more than fits into any model of this kind."""
MAX_WORD_CHARS = 100
"""Characters of a word; what is longer is unknown to the model as a whole."""
MAX_CACHED_WORDS = 1 << 16
MAX_CACHED_CHARS = 1 << 14
"""How many are remembered; a text made of nothing but rare ones must not fill the memory."""

_SPACES = frozenset("\t\n\r")
_IDEOGRAPHS = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
)
"""Each a word of its own. The gap before 2B920 is the gap of those who trained the models."""
_ASCII_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class _Plain(dict[int, str]):
    """What becomes of each character: nothing, a space, itself without case and accents, or a word
    of its own.
    """

    def __missing__(self, code: int) -> str:
        made = _plain(chr(code))
        if len(self) < MAX_CACHED_CHARS:
            self[code] = made
        return made


_PLAIN = _Plain()


class WordPieces:
    """The pieces that a model knows, one to a line, each numbered by its line."""

    def __init__(self, text: str) -> None:
        """Read the lines; `ValueError` when the pieces that every model has are missing."""
        self._pieces = {piece: number for number, piece in enumerate(text.rstrip("\n").split("\n"))}
        try:
            self.first, self.last, self.unknown = (
                self._pieces[piece] for piece in ("[CLS]", "[SEP]", "[UNK]")
            )
        except KeyError as missing:
            raise ValueError(f"not the vocabulary of a model: it has no {missing}") from None
        self._widest = max(map(len, self._pieces))
        self._words: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        """Count the pieces."""
        return len(self._pieces)

    def encode(self, text: str, limit: int) -> list[int]:
        """Give at most `limit` numbers, with the marks of beginning and end among them."""
        found = [self.first]
        for word in text[:MAX_TEXT_CHARS].translate(_PLAIN).split(" "):
            if word:
                found += self._words.get(word) or self._kept(word)
                if len(found) >= limit:
                    break
        return [*found[: max(limit - 1, 1)], self.last]

    def _kept(self, word: str) -> tuple[int, ...]:
        if len(word) > MAX_WORD_CHARS:
            return (self.unknown,)
        made = self._cut(word)
        if len(self._words) < MAX_CACHED_WORDS:
            self._words[word] = made
        return made

    def _cut(self, word: str) -> tuple[int, ...]:
        """Cut a word into the longest pieces there are, from the left; a word with a rest is
        unknown.
        """
        found = list[int]()
        start = 0
        lead = ""
        while start < len(word):
            for end in range(min(len(word), start + self._widest), start, -1):
                number = self._pieces.get(lead + word[start:end])
                if number is not None:
                    break
            else:
                return (self.unknown,)
            found.append(number)
            start, lead = end, "##"
        return tuple(found)


def _plain(character: str) -> str:
    if character in _SPACES:
        return " "
    kind = unicodedata.category(character)
    if (
        kind in {"Cc", "Cf", "Co", "Cs"} or character == "\ufffd"
    ):  # one that is not assigned yet is an unknown word
        return ""
    if character.isspace():
        return " "
    pieces = unicodedata.normalize("NFD", character)
    letters = [
        letter
        for piece in pieces
        if unicodedata.category(piece) != "Mn"
        for letter in piece.lower()
    ]
    made = "".join([f" {letter} " if _is_mark(letter) else letter for letter in letters])
    return f" {made} " if _IDEOGRAPHS.match(character) else made


def _is_mark(letter: str) -> bool:
    return letter in _ASCII_MARKS or unicodedata.category(letter)[0] == "P"

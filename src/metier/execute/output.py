"""Makes what a script prints fit to be shown: text, without the values that it was lent, without power over a terminal. Pure.

Each stream of a script has a cleaner of its own. What comes out does not depend on how the bytes were cut into pieces, and
nothing is kept waiting but the beginning of what may yet turn out to be a secret.

What steers a terminal is **removed** where honest programs use it, whole: colours, titles, links. A sequence that is not finished
ends with its line at the latest, so it hides nothing that follows. A control character by itself is **shown** as its picture (`␈`
for a backspace), so that nobody hides text by rubbing it out. A return of the carriage becomes a new line: nothing that was shown
is written over. Marks that turn the direction of text, and characters that nobody sees, are removed: what is left stands in the
order in which it was written, and a model reads in it what a person reads. Of those that join what stands beside them, one is kept
where writing needs it: in emoji, and in the scripts whose letters change with their neighbours.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from metier.execute.veil import Hidden, Veil
from metier.secrets.masking import GUESSED, forms_of, plain_forms_of
from metier.standard.unseen import UNSEEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ALL_FORMS = 65_536
"""So many characters of forms the words of files are looked for in; those that follow, only as they are and as JSON has them."""
_PICTURES = 0x2400
"""Where Unicode has a picture of each control character."""
_ODD = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{UNSEEN}]")
_UNSEEN = re.compile(f"[{UNSEEN}]")
_EMOJI = (
    "\u203c\u2049\u2122\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\U0001f000-\U0001faff"
)
_SHAPED = "\u0600-\u0dff"
"""Arabic and what is written like it, and the scripts of India."""
_JOINS = {
    "\u200c": re.compile(f"[{_SHAPED}]"), "\u200d": re.compile(f"[{_EMOJI}{_SHAPED}\ufe0f]"), "\ufe0f": re.compile(f"[{_EMOJI}]"),
}  # fmt: skip
"""What is kept of the unseen, and after what: the joiners, and the mark that asks for a picture in colours."""
_EMPTY = "\u2800"
"""A braille pattern without dots, which programs draw with: it takes the room of a space."""
_LINES = frozenset("\x85\u2028\u2029")
"""Other ways to begin a new line."""
_STRINGS = frozenset("\x90\x98\x9d\x9e\x9f")
"""DCS, SOS, OSC, PM and APC: what follows is for the terminal, up to an end."""
_AFTER_ESCAPE = {"[": "csi", "]": "string", "P": "string", "X": "string", "^": "string", "_": "string"}
_PARAMETERS = re.compile(r"[\x20-\x3f]*")
_BETWEEN = re.compile(r"[\x20-\x2f]*")
_STRING_ENDS = re.compile("[\x07\x18\x1a\x1b\x9c\r\n]")


class Cleaner:
    """Cleans one stream of bytes as it comes."""

    def __init__(self, secrets: Mapping[str, str] | Hidden) -> None:
        """Take out these values, by the names of their variables; or what was made ready for several streams."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._terminal = Terminal()
        self._veil = Veil(secrets if isinstance(secrets, Hidden) else hidden(secrets))

    def feed(self, data: bytes) -> str:
        """Give what can be shown by now."""
        return self._veil.feed(self._terminal.feed(self._decoder.decode(data)))

    def finish(self) -> str:
        """Give the rest, at the end of the stream."""
        rest = self._veil.feed(self._terminal.feed(self._decoder.decode(b"", final=True)))
        return rest + self._veil.finish()


def plain(text: str) -> str:
    """Give a whole text without power over a terminal."""
    return Terminal().feed(text)


def hidden(secrets: Mapping[str, str], words: Mapping[str, str] | None = None) -> Hidden:
    """Make ready what must not be shown: values by the names of their variables, and words with the file that each is from."""
    found: dict[str, str] = {}
    for name, value in secrets.items():
        _add(found, forms_of(value) if len(value) >= GUESSED else (), name)
    room = ALL_FORMS
    for word, name in (words or {}).items():
        forms = forms_of(word) if room > 0 else plain_forms_of(word)
        room -= sum(map(len, forms))
        _add(found, forms, name)
    return Hidden(found)


def _add(found: dict[str, str], forms: Iterable[str], name: str) -> None:
    """Add forms as they would stand in clean text, with the name to show."""
    for form in forms:
        shown = plain(_as_decoded(form))
        if len(shown) >= GUESSED:
            found.setdefault(shown, plain(name))


def _as_decoded(form: str) -> str:
    """Give a value as its bytes are read again where they are no text."""
    try:
        data = form.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = form.encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "replace")


class Terminal:
    """Takes what steers a terminal out of text that comes in pieces."""

    def __init__(self) -> None:
        """Begin outside any sequence."""
        self._state = ""
        """Which sequence is not finished: `escape`, `between`, `csi` or `string`."""
        self._returned = False
        """Whether the last character was a return, which already became a new line."""
        self._last = ""
        """The last character that was shown."""

    def feed(self, text: str) -> str:
        """Give the text without sequences and control characters."""
        out: list[str] = []
        at = 0
        while at < len(text):
            at = self._text(text, at, out) if not self._state else self._sequence(text, at)
        return "".join(out)

    def _text(self, text: str, at: int, out: list[str]) -> int:
        if self._returned:
            self._returned = text[at] == "\r"
            if text[at] in "\r\n":
                return at + 1
        odd = _ODD.search(text, at)
        self._show(text[at : odd.start()] if odd else text[at:], out)
        if odd is None:
            return len(text)
        self._show(self._instead(odd.group()), out)
        return odd.end()

    def _show(self, text: str, out: list[str]) -> None:
        if text:
            out.append(text)
            self._last = text[-1]

    def _instead(self, odd: str) -> str:
        """Give what is shown in the place of one character, and note which sequence it begins."""
        if odd == "\x1b":
            self._state = "escape"
        elif odd == "\x9b":
            self._state = "csi"
        elif odd in _STRINGS:
            self._state = "string"
        elif odd == "\r":
            self._returned = True
            return "\n"
        elif odd in _LINES:
            return "\n"
        elif odd < " ":
            return chr(_PICTURES + ord(odd))
        elif odd == "\x7f":
            return "\u2421"
        else:
            return self._unseen(odd) if _UNSEEN.match(odd) else "\ufffd"  # the other controls above ASCII have no picture
        return ""

    def _unseen(self, odd: str) -> str:
        """Give what is left of a character that nobody sees: nothing, but for one that joins where it stands."""
        if odd == _EMPTY:
            return " "
        return odd if odd in _JOINS and _JOINS[odd].match(self._last) else ""

    def _sequence(self, text: str, at: int) -> int:
        """Pass over what belongs to the sequence; leave the first character that does not."""
        if self._state == "string":
            return self._string(text, at)
        if self._state == "escape":
            self._state = _AFTER_ESCAPE.get(text[at], "between")
            return at if self._state == "between" else at + 1
        inside, least = (_PARAMETERS, "@") if self._state == "csi" else (_BETWEEN, "0")
        match = inside.match(text, at)
        end = match.end() if match else at
        if end == len(text):
            return end
        self._state = ""
        return end + 1 if least <= text[end] <= "~" else end

    def _string(self, text: str, at: int) -> int:
        end = _STRING_ENDS.search(text, at)
        if end is None:
            return len(text)
        self._state = "escape" if end.group() == "\x1b" else ""
        return end.start() if end.group() in "\r\n" else end.end()

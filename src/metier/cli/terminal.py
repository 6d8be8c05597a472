"""What a terminal can show: how wide it is and how wide a text is on it, colour, short paths, and a
pager for what is taller than the screen.

Widths are counted in cells: a Chinese character takes two, a combining accent none. `wcwidth` knows
which, and is imported only for text that is not ASCII (docs/adr/0041).
"""

from __future__ import annotations

import os
import sys

from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

COLOUR_CHOICES = ("auto", "always", "never")
HELP_COLUMNS = 80
"""How wide help is where nobody says how wide the screen is."""
UNBOUNDED_COLUMNS = 1 << 20
MIN_COLUMNS = 40
"""Text is laid out for at least so many columns, however narrow the window."""
MIN_CELL_COLUMNS = 4
NARROW_COLUMN = 12
"""A column of a table that needs no more than this is never made smaller."""
MIN_BESIDE_COLUMNS = 8
"""What each other column keeps at least, where one is to stay whole."""
GAP = 2
"""Spaces between two columns."""
ELLIPSIS = "…"
SHALLOW_INDENT = "    "
"""Where a line goes on whose own beginning would leave the next word no room."""
ESCAPE = "\x1b["
MAX_ESCAPE_CHARS = 6
"""How long an escape sequence of a colour may be."""
HANGING_WORDS = ("error: ", "hint: ", "note: ", "warning: ", "next: ")
"""Beginnings of lines below whose text a line that is folded goes on."""
_PATH_BREAKS = frozenset(" \t\n'\"`([{<,;:=|")
"""What may stand before a path."""

_colour = "auto"


# --- who looks


def choose_colour(words: Sequence[str]) -> None:
    """Take `--color` from a command line, before anything can go wrong that is told in colour."""
    global _colour  # noqa: PLW0603 - one process, one terminal
    _colour = "auto"
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == "--color":
            value = value if equals else "".join(words[at + 1 : at + 2])
            _colour = value if value in COLOUR_CHOICES else "auto"


def has_colour(stream: TextIO | None = None) -> bool:
    """Tell whether to use colour: `--color` decides, then NO_COLOR, then FORCE_COLOR and
    CLICOLOR_FORCE, then whether this is a terminal.
    """
    if _colour != "auto":
        return _colour == "always"
    env = os.environ
    if env.get("NO_COLOR"):
        return False
    if any(env.get(name, "0") not in {"", "0"} for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return (stream or sys.stdout).isatty() and env.get("TERM") != "dumb"


def width() -> int:
    """Give the width to lay text out in; without bounds when nobody is looking."""
    if not sys.stdout.isatty():
        return UNBOUNDED_COLUMNS
    return screen_columns(sys.stdout)


def screen_columns(stream: TextIO) -> int:
    """Give the width of a terminal."""
    for one in (stream, sys.__stdout__):  # what is only kept for a terminal is as wide as that
        try:
            columns = os.get_terminal_size(one.fileno()).columns if one else 0
        except (OSError, ValueError):
            continue
        if columns:
            return max(columns, MIN_COLUMNS)
    return HELP_COLUMNS


# --- how wide a text is

_JOINING = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Lm", "Mc", "Me", "Mn", "Sk", "So", "Zl", "Zp"})
"""Kinds of characters that may be joined to others, or drawn in a way of their own."""
_ODD_LETTERS = (
    ("\u1100", "\u11ff"),
    ("\u2190", "\u2bff"),
    ("\u3164", "\u3164"),
    ("\ud7b0", "\ud7ff"),
    ("\uffa0", "\uffa0"),
)
"""Parts of Korean syllables, arrows and signs: how wide they are depends on what is beside them."""


def cells(text: str) -> int:
    """Count the cells that a text takes; escape sequences take none."""
    if ESCAPE in text:
        text = _plain(text)
    if text.isascii():
        return len(text)
    quick = _quick_cells(text)
    if quick >= 0:
        return quick
    from wcwidth import wcswidth  # loading it takes twice as long as starting Python

    found: int = wcswidth(text)
    return found if found >= 0 else len(text)


def _quick_cells(text: str) -> int:
    """Count the cells of letters that stand by themselves, as most do; -1 where some join others, or
    are pictures, or too new for this Python: about those only the library knows.
    """
    from unicodedata import category, combining, east_asian_width

    total = 0
    for char in text:
        if char > "~":
            if combining(char) or category(char) in _JOINING:
                return -1
            if char > "\U00010000" or any(low <= char <= high for low, high in _ODD_LETTERS):
                return -1
            total += east_asian_width(char) in {"W", "F"}
        total += 1
    return total


def _plain(text: str) -> str:
    """Take the escape sequences of colours out of a text."""
    first, *rest = text.split(ESCAPE)
    return first + "".join(part.partition("m")[2] for part in rest)


def pad(text: str, size: int) -> str:
    """Fill a text up with spaces."""
    return text + " " * (size - cells(text))


MAX_SCHEME_CHARS = 16


def cut(text: str, room: int) -> str:
    """Cut a text to so many cells, with an ellipsis; of a path or an address the end is kept, which
    tells more.
    """
    if cells(text) <= room:
        return text
    is_address = "://" in text[:MAX_SCHEME_CHARS] and " " not in text
    if is_address or text.startswith(("/", "~/", "./", "../")):
        return ELLIPSIS + _taken(text, room - 1, backwards=True)
    return _taken(text, room - 1).rstrip() + ELLIPSIS


def _taken(text: str, room: int, *, backwards: bool = False) -> str:
    """Give as much of a text as fits, whole characters as people see them."""
    if text.isascii():
        return text[max(len(text) - room, 0) :] if backwards else text[:room]
    from wcwidth import iter_graphemes

    parts = list(iter_graphemes(text))
    if backwards:
        parts.reverse()
    kept: list[str] = []
    for part in parts:
        room -= cells(part)
        if room < 0:
            break
        kept.append(part)
    return "".join(reversed(kept) if backwards else kept)


def share_out(needs: Sequence[int], room: int, whole: Sequence[int] = ()) -> list[int]:
    """Share a width out among columns: those that are to stay `whole` get what they need, as long as
    the others can still be read; of these, what needs little gets it, and the wide ones share the
    rest alike.
    """
    room -= GAP * (len(needs) - 1)
    if sum(needs) <= room:
        return list(needs)
    sizes = [0] * len(needs)
    others = list(range(len(needs)))
    for at in whole:
        beside = sum(min(needs[one], MIN_BESIDE_COLUMNS) for one in others if one != at)
        if needs[at] + beside <= room:
            sizes[at] = needs[at]
            room -= needs[at]
            others.remove(at)
    for at, size in zip(others, _shared([needs[at] for at in others], room), strict=True):
        sizes[at] = size
    return sizes


def _shared(needs: Sequence[int], room: int) -> list[int]:
    """Share a width out alike among columns, of which the narrow ones stay as they are."""
    sizes = [min(need, NARROW_COLUMN) for need in needs]
    left = room - sum(sizes)
    if left < 0:  # too many columns even so: the widest give way first
        while sum(sizes) > room and max(sizes) > MIN_CELL_COLUMNS:
            sizes[sizes.index(max(sizes))] -= 1
        return sizes
    hungry = [at for at, need in enumerate(needs) if need > sizes[at]]
    while left > 0 and hungry:
        for at in list(hungry):
            if left <= 0:
                break
            sizes[at] += 1
            left -= 1
            if sizes[at] == needs[at]:
                hungry.remove(at)
    return sizes


# --- lines that fit


def fold(text: str, room: int) -> str:
    """Fold lines that are too wide between words, each below its own beginning. A command stays on
    one line where that is wide enough, and a word that is too long, such as a path, stays whole, so
    that they can be copied.
    """
    if room >= UNBOUNDED_COLUMNS:
        return text
    return "\n".join(
        line if cells(line) <= room else _folded(line, room) for line in text.split("\n")
    )


def _folded(line: str, room: int) -> str:
    bare = line.lstrip(" ")
    before = line[: len(line) - len(bare)]
    begins = next((word for word in HANGING_WORDS if _plain(bare).startswith(word)), "  ")
    hanging = before + " " * len(begins)
    first, *rest = _pieces(bare, room - len(hanging))
    out = [before]
    _extend(out, first, hanging, room, gap="")
    for piece in rest:
        _extend(out, piece, hanging, room)
    return "\n".join(one.rstrip() for one in out)


def _extend(out: list[str], piece: str, hanging: str, room: int, gap: str = " ") -> None:
    """Add what is not to be parted to the last line, or to a new one."""
    longer = out[-1] + gap + piece
    if cells(longer) <= room or not (out[-1].strip() or _may_break(piece)):
        out[-1] = longer
        return
    fits = len(hanging) <= len(SHALLOW_INDENT) or cells(hanging + piece) <= room
    indent = hanging if fits or _may_break(piece) else SHALLOW_INDENT
    if not _may_break(piece) or cells(indent + piece) <= room:
        out.append(indent + piece)
        return
    left = room - cells(out[-1] + gap)
    here = _broken(piece, left) if left >= MIN_CELL_COLUMNS else ""
    if here:
        out[-1] += gap + here
    rest = piece[len(here) :]
    while rest:
        part = _broken(rest, room - len(indent)) or rest
        out.append(indent + part)
        rest = rest[len(part) :]


def _broken(text: str, room: int) -> str:
    """Give as much of a text as fits, so that no line begins with what ends a sentence."""
    from unicodedata import category

    part = _taken(text, room)
    while len(part) > 1 and len(part) < len(text) and category(text[len(part)]) in _CLOSING:
        part = part[:-1]
    return part


_CLOSING = frozenset({"Po", "Pe", "Pf"})
"""Kinds of characters that no line begins with: full stops, commas, brackets that close."""


def _may_break(word: str) -> bool:
    """Tell whether a word may be parted anywhere: Chinese and the like, which has no spaces; not a
    path, which is copied.
    """
    return not word.isascii() and "/" not in word and ESCAPE not in word


MAX_FOLLOWED_WORDS = 200
"""How many words are looked at for the end of a command: more fit on no line."""
MAX_COMMAND_WORDS = 4
"""How many words of a command are plain ones: its name, what it does, and with what."""


def _pieces(line: str, room: int) -> list[str]:
    """Part a line where it may be folded: at spaces, but not inside a command that somebody copies,
    if so much fits on a line.
    """
    words = line.split(" ")
    out: list[str] = []
    at = 0
    while at < len(words):
        follows = not out or out[-1][-1:] in _BEFORE_COMMANDS or out[-1] == "run"
        begins = follows or words[at][:1] in _QUOTES
        size = _command_words(words[at : at + MAX_FOLLOWED_WORDS]) if begins else 1
        piece = " ".join(words[at : at + size])
        if cells(piece) > room:
            size, piece = 1, words[at]
        out.append(piece)
        at += size
    return out


def _command_words(words: Sequence[str]) -> int:
    """Count the words of the command that a text begins with: as far as the sentence, or the quote
    around it, lets it go; 1 where it begins with none.
    """
    has_variable = words[0].partition("=")[0].isupper() and words[1:2] == ["metier"]
    first = int(has_variable)
    if words[first].lstrip("'`(") != "metier":
        return 1
    quote = words[first][0] if words[first][0] in "'`" else ""
    is_open = False
    for at, word in enumerate(words[first + 1 :], start=first + 1):
        before = words[at - 1]
        if quote and quote in word:
            return at + 1
        plain = at < MAX_COMMAND_WORDS or (before.startswith("--") and "=" not in before)
        if not (quote or is_open or plain or word[:1] in "-./~'\"" or word.isupper()):
            return at
        is_open ^= not quote and word.count("'") % 2 == 1
        if not is_open and not quote and word.strip(".") and word[-1:] in _SENTENCE_ENDS:
            return at + 1
    return len(words)


_QUOTES = frozenset("'`(")
_BEFORE_COMMANDS = frozenset(":,;.")
"""How a word ends that a command may follow; elsewhere metier is its own subject."""
_SENTENCE_ENDS = frozenset(".,;:)?")
"""What ends a command that stands in a sentence."""


def wrapped(text: str, room: int) -> list[str]:
    """Give a text as lines of so many cells at most, cut between words."""
    out = [""]
    for piece in _pieces(" ".join(text.split()), room):
        _extend(out, piece, "", room, " " if out[-1] else "")
    return out


# --- paths as people write them


def shorten_paths(text: str) -> str:
    """Write the home folder as `~`, and leave the working folder away, wherever a path stands."""
    try:
        here = os.getcwd()
    except OSError:
        here = ""
    home = os.environ.get("HOME", "").rstrip("/")
    if len(here) > 1 and here != home:
        text = _shorten(text, here, "", "")
    if len(home) > 1:
        text = _shorten(text, home, "~/", "~")
    return text


def _shorten(text: str, folder: str, inside: str, itself: str) -> str:
    """Write paths below a folder with `inside` instead of it, and the folder as `itself`; without
    one, as `.` in a command and in full elsewhere.
    """
    first, *rest = text.split(folder)
    out = [first]
    for part in rest:
        before = out[-1]
        coloured = before.endswith("m") and ESCAPE in before[-MAX_ESCAPE_CHARS:]
        begins = not before or before[-1] in _PATH_BREAKS or coloured
        if begins and part[:1] == "/" and part[1:2] not in {"", " ", "\n"}:
            out.append(inside + part[1:])
        elif begins and (not part or part[0] in _PATH_ENDS):
            # "." tells nobody which folder is meant, but in a command to be copied it is just that
            in_command = "metier " in before.rpartition("\n")[2]
            out.append((itself or ("." if in_command else folder)) + part)
        else:
            out.append(folder + part)
    return "".join(out)


_PATH_ENDS = frozenset(" \t\n'\"`)]},;:|\x1b")
"""What may stand behind a path."""


# --- the pager


def page(text: str) -> bool:
    """Show a text through the pager, where it is taller than the screen; tell whether that was
    done.
    """
    if not sys.stdout.isatty():
        return False
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        return False
    tall = sum(1 + max(cells(line) - 1, 0) // max(size.columns, 1) for line in text.split("\n"))
    command = os.environ.get("METIER_PAGER", os.environ.get("PAGER", "less"))
    if not size.lines or tall <= size.lines or command.strip() in {"", "cat"}:
        return False
    import shlex
    import subprocess

    # as git and gh do: quit where it fits, keep colours, leave the screen as it is
    env = {"LESS": "FRX", "LESSCHARSET": "utf-8", **os.environ}
    try:
        words = shlex.split(command)
        done = subprocess.run(  # noqa: S603 - the pager that the user chose
            words, input=text.encode("utf-8", "backslashreplace"), env=env, check=False
        )
    except (OSError, ValueError):
        return False
    return done.returncode == 0

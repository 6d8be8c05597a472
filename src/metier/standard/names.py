"""Names: how a skill's name is checked, made into a slug, looked up and guessed at. Pure text in,
text out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.errors import slips

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_NAME = 64
"""Characters, not bytes (CX-2)."""

Fault = tuple[str, str, str]
"""Code, message, hint."""

_COMPARED = 128
"""Characters of a name that count when names are compared: enough for any honest name, and a bound
for the rest."""
_ALIKE = 0.3
"""The least share of letter pairs in common that makes two names similar."""

_MUCH_ALIKE = 0.6
"""The least share that makes a person see that two names are."""

_PLAIN_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NOT_SLUG = re.compile(r"[\W_]+")
_GAPS = re.compile(r"[\s_-]+")


def one_line(text: str) -> str:
    """Collapse every run of whitespace to one space; lone surrogates, which nothing could print,
    become `?`.
    """
    line = " ".join(text.split())
    return line if line.isascii() else line.encode("utf-8", "replace").decode("utf-8")


def slug(name: str) -> str:
    """Make the form used in slash commands: lower case, hyphens for gaps, nothing but letters and
    digits else.
    """
    # HE-26 drops everything outside a-z0-9; letters of other scripts stay here, or such names would
    # share a slug.
    words = _GAPS.split(_folded(name))
    return "-".join(filter(None, (_NOT_SLUG.sub("", word) for word in words)))


def encodable(text: str) -> str:
    """Replace what UTF-8 cannot say: a name may hold half a character."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def shortened(text: str, most: int) -> str:
    """Cut a text to so many characters; an ellipsis stands for what is left out."""
    return text if len(text) <= most else text[: most - 1] + "…"


def lookup_key(name: str) -> str:
    """Give the form under which a name is looked up; two spellings of one name share it. Never
    shown.
    """
    return one_line(_folded(name)).replace("_", "-").replace(" ", "-")


def name_faults(name: str, folder: str) -> tuple[Fault, ...]:
    """Say which of the standard's rules a name breaks, at most once each; an empty name is the
    reader's to report.
    """
    if not name or (len(name) <= MAX_NAME and name == folder and _PLAIN_NAME.fullmatch(name)):
        return ()
    return tuple(_faults(_normal(name), _normal(folder)))


def nearest(name: str, known: Iterable[str], limit: int = 20) -> list[str]:
    """List the known names most like this one, best first; the first few of all when none is
    (HE-9).
    """
    import heapq  # only a name that was not found needs it

    names = set(known)
    wanted = lookup_key(name)[:_COMPARED]
    pairs = _pairs(wanted)
    scored = ((_distance(wanted, pairs, lookup_key(each)[:_COMPARED]), each) for each in names)
    similar = heapq.nsmallest(limit, (item for item in scored if item[0] < _FAR))
    return [each for _, each in similar] or heapq.nsmallest(limit, names)


def near_names(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """List the known names that somebody may have meant by this one, best first; none when none is
    near. A slip of the finger is near, a swapped pair of letters too.
    """
    import heapq  # only a name that was not found needs it

    wanted = lookup_key(name)[:_COMPARED]
    pairs = _pairs(wanted)
    scored = ((_nearness(wanted, pairs, lookup_key(each)[:_COMPARED]), each) for each in set(known))
    near = heapq.nsmallest(limit, (item for item in scored if item[0] < _FAR))
    return [each for _, each in near]


def did_you_mean(name: str, known: Iterable[str], limit: int = 3) -> str:
    """Give the question after the near names, with a space at its end; nothing when none is near."""
    near = near_names(name, known, limit)
    return f"did you mean {', '.join(near)}? " if near else ""


_FAR = (9, 0.0)
_MIN_CONTAINED = 3
"""Letters from which on a name inside another one says something."""


def _nearness(wanted: str, pairs: frozenset[str], key: str) -> tuple[int, float]:
    """Rank a known name for a person: same, few slips away, begins alike, contains, or much
    alike.
    """
    most = max(1, len(wanted) // 3)
    # Letters that only one of them has each take a slip; this is cheap, and leaves few to compare.
    if abs(len(key) - len(wanted)) <= most and len(set(wanted) - set(key)) <= most:
        found = slips(wanted, key, most)
        if found <= most:
            return (0, found / _COMPARED)
    rank, rest = _distance(wanted, pairs, key)
    if rank in {1, 2}:
        return (rank, rest) if min(len(wanted), len(key)) >= _MIN_CONTAINED else _FAR
    return (rank, rest) if rest <= 1 - _MUCH_ALIKE else _FAR


def _distance(wanted: str, pairs: frozenset[str], key: str) -> tuple[int, float]:
    """Rank a known name: same, begins alike, contains, shares letter pairs; `_FAR` when it does
    none of these.
    """
    if key == wanted:
        return (0, 0.0)
    if not key or not wanted:
        return _FAR
    excess = abs(len(key) - len(wanted)) / _COMPARED
    if key.startswith(wanted) or wanted.startswith(key):
        return (1, excess)
    if wanted in key or (len(key) > 2 and key in wanted):
        return (2, excess)
    # Counting the wanted pairs inside the key is many times cheaper than difflib, and fast enough
    # for 100,000 names.
    edged = f"^{key}$"
    shared = sum(pair in edged for pair in pairs)
    alike = 2 * shared / (len(pairs) + len(key) + 1)
    return (3, 1 - alike) if alike >= _ALIKE else _FAR


def _pairs(key: str) -> frozenset[str]:
    edged = f"^{key}$"
    return frozenset(edged[at : at + 2] for at in range(len(edged) - 1))


def _faults(name: str, folder: str) -> Iterator[Fault]:
    if len(name) > MAX_NAME:
        yield (
            "SK032",
            f"name is {len(name)} characters long; at most {MAX_NAME} are allowed",
            "choose a shorter name",
        )
    strange = [
        char
        for char in dict.fromkeys(name)
        if char != "-" and (not char.isalnum() or char != char.lower())
    ]
    if strange:
        shown = ", ".join(
            ascii(char) if not char.isprintable() else repr(char) for char in strange[:5]
        )
        better = slug(name)
        hint = f"write it as {better!r}" if better else "use lowercase letters, digits and hyphens"
        yield (
            "SK033",
            f"name may hold only lowercase letters, digits and hyphens, not {shown}",
            hint,
        )
    if name.startswith("-") or name.endswith("-") or "--" in name:
        yield (
            "SK034",
            "name has a leading, trailing or double hyphen",
            "put single hyphens between words only",
        )
    if folder and name != folder:
        hint = "rename the folder or the skill so that both agree"
        yield "SK035", f"name {_short(name)} differs from its folder {_short(folder)}", hint


def _short(name: str) -> str:
    return repr(shortened(name, MAX_NAME))


def _normal(text: str) -> str:
    """Give the NFKC form, in which the standard's own validator compares names."""
    if text.isascii():
        return text
    import unicodedata  # a megabyte of tables that plain names never need

    return unicodedata.normalize("NFKC", text)


def _folded(text: str) -> str:
    # Folding can undo the normal form, so it is made again.
    return text.lower() if text.isascii() else _normal(_normal(text).casefold())

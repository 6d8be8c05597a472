"""How results look: JSON in one place, plain text that pipes well, colour only on a terminal."""

from __future__ import annotations

import os
import sys

from metier.disclose.wire import plain
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TextIO

    from metier.cli.meter import Meter
    from metier.model import Diagnostic

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
STATE_STYLES = {"visible": "green", "ask": "yellow", "hidden": "dim", "shadowed": "dim", "invalid": "red",
                "quarantined": "red", "blocked": "red"}  # fmt: skip
SEVERITY_STYLES = {"error": "red", "warning": "yellow", "info": "dim"}
LEVEL_STYLES = {"safe": "green", "caution": "yellow", "dangerous": "red"}
HARM_STYLES = {"critical": "red", "high": "red", "medium": "yellow", "low": "dim", "info": "dim"}


METERS: list[Meter] = []
"""The meter of the command that runs, if it has one."""


class UnwrittenError(Exception):
    """The output cannot be written: a fault of no command, and not of the skills. It carries the reason of the system."""


def write(text: str) -> None:
    """Print to standard output, after taking away whatever a meter shows."""
    clear_meter()
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwrittenError(error.strerror) from error


def flush() -> None:
    """See to it that what was printed is out."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwrittenError(error.strerror) from error


def remark(text: str) -> None:
    """Print to standard error; where that cannot be done, there is nobody left to be told."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        forget(sys.stderr)


def forget(stream: TextIO) -> None:
    """Nobody reads this any more: keep Python from complaining about it while it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def stand_in() -> None:
    """Put something in the place of a stream that was closed: no file that is opened later may take its number.

    Remarks go nowhere then. Output that cannot be written is to be said, so what stands in for it refuses to be written.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def clear_meter() -> None:
    """Take a meter's line away, if there is one."""
    if METERS:
        METERS[-1].clear()


def note(text: str) -> None:
    """Print a line to standard error, where it spoils no data, after taking away whatever a meter shows there."""
    clear_meter()
    remark(clean(text) + "\n")


def json_text(value: Any) -> str:
    """Give one JSON document for any value made of dicts, lists, named tuples and scalars."""
    import json

    return json.dumps(plain(value), ensure_ascii=True)


_SPACES = frozenset("\xa0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000")
"""Spaces of other languages: not printable by Python's word, and harmless."""


def clean(text: str, *, lines: bool = False) -> str:
    """Make a stranger's text safe for a terminal: no escape sequences, no invisible direction changes."""
    if text.isascii() and text.isprintable():
        return text
    if lines and "\r\n" in text:
        text = text.replace("\r\n", "\n")
    kept = "\n\t" if lines else "\t"
    return "".join(
        char if char.isprintable() or char in kept or char in _SPACES else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def coloured() -> bool:
    """Tell whether to use colour: on a terminal, unless NO_COLOR says otherwise."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, name: str) -> str:
    """Colour a text, on a terminal."""
    return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if coloured() else text


def width() -> int:
    """Give the width to lay a table out in; wide when nobody is looking."""
    if not sys.stdout.isatty():
        return 1 << 20
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return 100


WIDEST = 48
"""A column does not grow beyond this for one long name; the name itself is shown whole."""


def table(rows: Sequence[Sequence[str]], heads: Sequence[str], styles: Sequence[str] | None = None, widest: int = WIDEST) -> str:
    """Lay out columns; the last one is cut to the width of the terminal. `styles` colours the first cell of a row."""
    if not rows:
        return ""
    sizes = [min(max(len(head), *(len(row[at]) for row in rows)), widest) for at, head in enumerate(heads)]
    room = max(width() - sum(sizes[:-1]) - 2 * (len(heads) - 1), 20)
    out = [style("  ".join(head.ljust(size) for head, size in zip(heads, sizes, strict=True)).rstrip(), "bold")]
    for at, row in enumerate(rows):
        cells = [cell.ljust(size) for cell, size in zip(row[:-1], sizes, strict=False)]
        if styles:
            cells[0] = style(cells[0], styles[at])
        last = row[-1] if len(row[-1]) <= room else row[-1][: room - 1] + "…"
        out.append("  ".join([*cells, last]).rstrip())
    return "\n".join(out) + "\n"


def diagnostic_lines(path: str, diagnostics: Iterable[Diagnostic], indent: str = "") -> str:
    """Give each diagnostic as `place: code message`, with its hint below."""
    out = []
    for one in diagnostics:
        place = clean(path) if path.endswith(one.path) else f"{clean(path)}/{clean(one.path)}"
        code = style(one.code, SEVERITY_STYLES[one.severity])
        out.append(f"{indent}{place}:{one.line}:{one.column}: {code} {clean(one.message)}\n{indent}    hint: {clean(one.hint)}\n")
    return "".join(out)

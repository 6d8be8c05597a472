"""Prints everything that the command line prints: JSON, plain text that pipes well, colour only on
a terminal, and a progress meter.

The meter is one line on a terminal's standard error, shown for work that takes longer than a second
and gone when that is done.
"""

from __future__ import annotations

import os
import sys
import time

from metier.catalogue.wire import plain
from metier.cli.terminal import (
    GAP,
    UNBOUNDED_COLUMNS,
    cells,
    cut,
    fold,
    has_colour,
    pad,
    page,
    screen_columns,
    share_out,
    shorten_paths,
    width,
    wrapped,
)
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TextIO, TypeVar

    from metier.cli.argv import Values
    from metier.model import Diagnostic, Problem

    Found = TypeVar("Found")


NO_AGENTS = "No agents found on this machine.\n"
"""What every command says that lists agents where there are none."""
_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "cyan": "36",
}
WORD_STYLES = {
    # how a skill stands
    "visible": "green",
    "ask": "yellow",
    "hidden": "dim",
    "shadowed": "dim",
    "invalid": "red",
    "quarantined": "red",
    "blocked": "red",
    # what a policy makes of it
    "allow": "green",
    "warn": "yellow",
    "block": "red",
    # verdicts
    "safe": "green",
    "caution": "yellow",
    "dangerous": "red",
    # how grave a finding or a fault is
    "critical": "red",
    "high": "red",
    "medium": "yellow",
    "low": "dim",
    "info": "dim",
    "error": "red",
    "warning": "yellow",
    # what became of a change that waited for a person
    "open": "yellow",
    "published": "green",
    "accepted": "green",
    "rejected": "red",
    "superseded": "dim",
}
"""The colour of each word that has one."""
SEVERITIES = ("critical", "high", "medium", "low", "info")
"""How grave a finding is, the gravest first."""


MAX_COLUMN_CHARACTERS = 48
"""In a pipe a column does not grow beyond this for one long name; the name itself is whole."""
MIN_DESCRIPTION_CELLS = 24
"""What a description keeps of a table's width; columns that can be spared go before it has less."""
OWN_LINE_INDENT = "    "
"""Before a cell that stands on a line of its own."""
MIN_HELP_COLUMNS = 30
"""What the right column of help takes at least beside the left one."""
METERS: list[Meter] = []
"""The meter of the command that runs, if it has one."""
HELD: list[str] | None = None
"""What waits for the pager, where there is one."""


class UnwrittenError(Exception):
    """The output cannot be written: a fault of no command, and not of the skills. It carries the
    reason of the system.
    """


def write(text: str) -> None:
    """Print data to standard output as it is, after taking away whatever a meter shows."""
    clear_meter()
    if HELD is not None:
        HELD.append(text)
    else:
        _attempt(sys.stdout.write, text)


def say(text: str) -> None:
    """Print a text for people: paths are short, and lines fit the terminal."""
    write(fold(shorten_paths(text), width()))


def hold_for_pager() -> None:
    """Keep what is printed until all of it is there, so that a pager can show it."""
    global HELD  # noqa: PLW0603 - one process, one standard output
    HELD = []


def flush() -> None:
    """See to it that what was printed is out, through a pager where it is taller than the
    screen.
    """
    global HELD  # noqa: PLW0603 - as above
    text = "".join(HELD or ())
    HELD = None
    if text and not page(text):
        _attempt(sys.stdout.write, text)
    _attempt(sys.stdout.flush)


def _attempt(act: Callable[..., object], *text: str) -> None:
    try:
        act(*text)
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
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Nobody reads this any more: keep Python from complaining about it while it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def replace_closed_streams() -> None:
    """Put something in the place of a stream that was closed: no file that is opened later may take
    its number.

    Remarks go nowhere then. Output that cannot be written is to be said, so what stands in for it
    refuses to be written.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def clear_meter() -> None:
    """Take a meter's line away, if there is one."""
    if METERS:
        METERS[-1].clear()


def note(text: str, word: str = "", colour: str = "dim") -> None:
    """Print a line to standard error, where it spoils no data, after taking away whatever a meter
    shows there; `word` says what it is, in its colour.
    """
    clear_meter()
    begins = f"{word}: " if word else ""
    line = _for_stderr(begins + clean(text))
    remark(style(begins[:-1], colour, sys.stderr) + line[len(begins[:-1]) :] + "\n")


def _for_stderr(text: str) -> str:
    """Make a text short, and fold it where standard error is a terminal."""
    text = shorten_paths(text)
    return fold(text, screen_columns(sys.stderr)) if sys.stderr.isatty() else text


def report_error(message: str, hint: str) -> None:
    """Print an error and what to do next to standard error."""
    text = f"error: {clean(message, lines=True)}\n" + (f"\nhint: {clean(hint)}\n" if hint else "")
    text = _for_stderr(text)
    if has_colour(sys.stderr):
        text = text.replace("error:", style("error:", "red", sys.stderr), 1)
        text = text.replace("\nhint:", "\n" + style("hint:", "cyan", sys.stderr), 1)
    remark(text)


def warn(warnings: Iterable[str]) -> None:
    """Print each warning as a line to standard error."""
    for warning in warnings:
        note(warning, "warning", "yellow")


def notes(texts: Iterable[str]) -> None:
    """Print each note as a line to standard error."""
    for text in texts:
        note(text, "note")


def json_text(value: Any) -> str:
    """Give one JSON document, on a line of its own, for any value made of dicts, lists, named
    tuples and scalars.
    """
    import json

    return json.dumps(plain(value), ensure_ascii=True) + "\n"


def write_json(value: Any) -> None:
    """Print a value as one JSON document."""
    write(json_text(value))


def answer(
    values: Values,
    found: Found,
    text: str | Callable[[Found], str],
    document: Any = None,
    *,
    raw: bool = False,
) -> None:
    """Print what was found: as JSON where that was asked for, else as text. `document` is the JSON
    where it is not what was found, as it is; a `raw` text is data, and is printed as it is.
    """
    if values.json:
        write_json(found if document is None else document)
    else:
        (write if raw else say)(text if isinstance(text, str) else text(found))


_SPACES = frozenset(
    "\xa0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
"""Spaces of other languages: not printable by Python's word, and harmless."""


_JOINER, _PICTURE_MARK = "\u200d", "\ufe0f"


def clean(text: str, *, lines: bool = False) -> str:
    """Make a stranger's text safe for a terminal: no escape sequences, no invisible direction
    changes.
    """
    if text.isascii() and text.isprintable():
        return text
    if lines and "\r\n" in text:
        text = text.replace("\r\n", "\n")
    kept = "\n\t" if lines else "\t"
    return "".join(
        char
        if char.isprintable()
        or char in kept
        or char in _SPACES
        or (char == _JOINER and _joins_emoji(text, at))
        else char.encode("unicode_escape").decode("ascii")
        for at, char in enumerate(text)
    )


def _joins_emoji(text: str, at: int) -> bool:
    """Tell whether a joiner stands between two pictures, of which it makes one."""
    before = text[:at].removesuffix(_PICTURE_MARK)[-1:]
    return all(
        "\u2190" <= char < "\u2c00" or "\U0001f000" <= char < "\U0001fb00"
        for char in (before, text[at + 1 : at + 2])
    )


def style(text: str, name: str, stream: TextIO | None = None) -> str:
    """Colour a text where that is wanted."""
    return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if text and has_colour(stream) else text


def coloured(word: str, text: str = "") -> str:
    """Give a word, or a text about it, in the word's own colour; bold where it has none."""
    return style(clean(text or word), WORD_STYLES.get(word, "bold"))


def bold(text: str) -> str:
    """Make a stranger's text harmless, and bold on a terminal."""
    return style(clean(text), "bold")


def counted(count: int, noun: str) -> str:
    """Give a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def tally(words: Iterable[str]) -> str:
    """Say how often each word is there, in the order of the words."""
    from collections import Counter

    return ", ".join(f"{word} {count}" for word, count in sorted(Counter(words).items()))


def counts_text(counts: Mapping[str, int]) -> str:
    """Say how many there are of each."""
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())


def moment(at: str) -> str:
    """Give a moment to the second, as people write it."""
    return clean(at[:19].replace("T", " "))


def lines(texts: Iterable[str], indent: str = "  ") -> str:
    """Give each text, made harmless, on a line of its own."""
    return "".join(f"{indent}{clean(text)}\n" for text in texts)


def table(
    rows: Sequence[Sequence[str]],
    heads: Sequence[str],
    styles: Sequence[str] | None = None,
    spare: Sequence[str] = (),
    whole: Sequence[str] = (),
    below: str = "",
    colours: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Lay out columns, every cell made harmless. On a terminal they fit its width: columns that are
    `spare` go first, then the one `below` goes to lines of its own, then the wide ones give way, the
    `whole` ones last. `styles` colours the first cell of a row, and `colours` those of a column.
    """
    if not rows:
        return ""
    lines = [list(heads), *([_cell(cell) for cell in row] for row in rows)]
    room = width()
    for head in spare:
        if head in lines[0] and not _fits(lines, room):
            _take_column(lines, head)
    own_lines: list[str] = []
    if below in lines[0] and not _fits(lines, room):
        own_lines = _take_column(lines, below)
    if room >= UNBOUNDED_COLUMNS:  # nothing is cut, and nothing stands behind the last column
        sizes = [min(need, MAX_COLUMN_CHARACTERS) for need in _needs([one[:-1] for one in lines])]
    else:
        needs = _needs(lines)
        kept = [lines[0].index(head) for head in whole if head in lines[0]]
        sizes = share_out(needs, room, kept)
        lines = [
            [cut(cell, size) for cell, size in zip(line, sizes, strict=True)] for line in lines
        ]
    paint = {lines[0].index(head): names for head, names in (colours or {}).items()}
    paint.update({0: styles} if styles else {})
    if not has_colour():
        paint = {}
    out = []
    for at, line in enumerate(lines):
        padded = [pad(cell, size) for cell, size in zip(line[:-1], sizes, strict=False)] + line[-1:]
        for column, names in paint.items() if at else ():
            padded[column] = style(padded[column], names[at - 1])
        text = "  ".join(padded).rstrip()
        out.append(text if at else style(text, "bold"))
        if own_lines and own_lines[at]:
            out.append(_own_line(own_lines[at], room, is_head=not at))
    return "\n".join(out) + "\n"


def _take_column(lines: list[list[str]], head: str) -> list[str]:
    """Take a column out of a table, and give its cells."""
    at = lines[0].index(head)
    return [line.pop(at) for line in lines]


def _fits(lines: Sequence[Sequence[str]], room: int) -> bool:
    """Tell whether nothing needs to be cut but a description, which is to keep some cells."""
    if room >= UNBOUNDED_COLUMNS:
        return True
    needs = [
        min(need, MIN_DESCRIPTION_CELLS) if head.startswith("DESCRIPTION") else need
        for head, need in zip(lines[0], _needs(lines), strict=True)
    ]
    return sum(needs) + GAP * (len(needs) - 1) <= room


def _own_line(cell: str, room: int, *, is_head: bool) -> str:
    """Give a cell as a line below its row. A text is cut to fit; a single word, such as a path,
    stays whole, so that it can be copied.
    """
    text = cut(cell, room - len(OWN_LINE_INDENT)) if " " in cell else cell
    return OWN_LINE_INDENT + (style(text, "bold") if is_head else text)


def _cell(text: str) -> str:
    """Make a cell harmless, and its path short before it is measured."""
    return shorten_paths(clean(text)) if "/" in text else clean(text)


def _needs(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(cells, column)) for column in zip(*lines, strict=True)]


def columns(rows: Sequence[tuple[str, str]], gap: str = "  ", room: int = 0) -> str:
    """Lay out two columns below a title: the right one is folded to the terminal, or to `room`;
    where the left one would leave it little, it goes below.
    """
    size = max(cells(left) for left, _right in rows)
    room = (room or width()) - 2
    below = room - size - len(gap) < MIN_HELP_COLUMNS
    indent = "      " if below else " " * (2 + size + len(gap))
    out = []
    for left, right in rows:
        first, *rest = wrapped(right, room + 2 - len(indent))
        head = f"  {left}\n{indent}{first}" if below else f"  {pad(left, size)}{gap}{first}"
        out += [head, *(indent + line for line in rest)]
    return "\n".join(line.rstrip() for line in out) + "\n"


def diagnostic_lines(path: str, diagnostics: Iterable[Diagnostic], indent: str = "") -> str:
    """Give each diagnostic as `place: code message`, with its hint below."""
    out = []
    for one in diagnostics:
        place = clean(path if path.endswith(one.path) else f"{path}/{one.path}")
        code = coloured(one.severity, one.code)
        at = f":{one.line}:{one.column}" if one.line else ""
        out.append(
            f"{indent}{place}{at}: {code} {clean(one.message)}\n{indent}    "
            f"hint: {clean(one.hint)}\n"
        )
    return "".join(out)


def problem_lines(problems: Iterable[Problem]) -> str:
    """Give each problem with a folder as `place: code message`."""
    return lines((f"{one.path}: {one.code} {one.message}" for one in problems), "")


# --- the progress meter

METER_DELAY_SECONDS = 1.0
METER_STEP_SECONDS = 0.1
METER_WORDS = {
    "skills judged": ("scanning", "skills"),
    "scanned": ("scanning", "skills"),
    "observed": ("observing", "skills"),
    "judged": ("asking your judge about", "skills"),
    "vectors": ("embedding", "skills"),
    "digests": ("hashing", "skills"),
    "sources asked": ("asking", "sources"),
    "fetched": ("fetching", "bytes"),
    "files": ("staging", "files"),
    "skills checked": ("checking", "skills"),
    "skills compared": ("comparing", "skills with their sources"),
    "skills restored": ("restoring", "skills"),
    "skills staged": ("staging", "skills"),
}
"""What work is called while it goes on, and what is counted."""
ONE_OF = {
    "skills": "skill",
    "sources": "source",
    "files": "file",
    "skills with their sources": "skill with its source",
}
"""What is counted, where there is one of it."""
METER_CELLS = 24
"""How long the bar is, where it is known how much there is to do."""
MIN_METER_CELLS = 6
"""A bar that has room for less than this is left out."""


class Meter:
    """Says how far work has come, once it has taken long enough for a person to wonder."""

    def __init__(self) -> None:
        """Begin to count the time."""
        self.begun = self.last = time.monotonic()
        self.shown = False
        self.what = ""
        self.since = self.begun
        self.already = 0
        self.said = False

    def __call__(self, what: str, count: int, total: int = 0) -> None:
        """Show what is done, how much of how many, how fast and how long it still takes, not more
        often than an eye can follow.
        """
        now = time.monotonic()
        if what != self.what:
            self.what, self.since, self.already = what, now, count
        if now - self.begun < METER_DELAY_SECONDS or now - self.last < METER_STEP_SECONDS:
            return
        self.last = now
        if what == JUDGING and total >= MIN_ANNOUNCED and not self.said:
            self.said = True
            remark(f"scanning {total:,} skills{ONCE}; {QUICKER}\n")
        self.shown = True
        room = max(screen_columns(sys.stderr) - 1, 1)  # a line that wraps could not be taken away
        remark("\r\x1b[K" + cut(self._line(what, count, total, now, room), room))

    def _line(self, what: str, count: int, total: int, now: float, room: int) -> str:
        verb, noun = METER_WORDS.get(what, ("reading", what))
        if (total or count) == 1:
            noun = ONE_OF.get(noun, noun)
        is_bytes = noun == "bytes"
        if not total and is_bytes:  # nobody knows how much will come
            some = f": {_megabytes(count)}{self._pace(count, 0, now, is_bytes=True)}"
            return f"{verb}{some if count else ''} ..."
        if not total:
            return f"{verb}: {count:,} {noun} ..."
        amount = (
            f"{_megabytes(count)} of {_megabytes(total)}"
            if is_bytes
            else f"{count:,} of {total:,} {noun}"
        )
        told = f"{amount}{self._pace(count, total, now, is_bytes=is_bytes)}"
        # the bar gives way: how much is left says more
        size = min(room - len(f"{verb} [] {told}"), METER_CELLS)
        done = min(count * size // total, size)
        bar = f"[{'#' * done}{'.' * (size - done)}] " if size >= MIN_METER_CELLS else ""
        return f"{verb} {bar}{told}"

    def _pace(self, count: int, total: int, now: float, *, is_bytes: bool) -> str:
        """Say how many are done in a second, and how many seconds are left; nothing at first."""
        took = now - self.since
        if count <= self.already or took <= 0:
            return ""
        rate = (count - self.already) / took
        pace = f", {_megabytes(rate) if is_bytes else f'{rate:,.1f}'}/s"
        if not total:
            return pace
        left = (total - count) / rate
        time_left = f"{left:,.0f} s" if left < 120 else f"{left / 60:,.0f} min"
        return f"{pace}, {time_left} left"

    def clear(self) -> None:
        """Take the line away; what is shown instead may be read for a moment before it comes
        again. Whoever has waited for somebody to type clears it once more: no work was done
        meanwhile.
        """
        self.begun = time.monotonic()
        if self.shown:
            remark("\r\x1b[K")
            self.shown = False


MIN_ANNOUNCED = 25
"""How many there must be to do before somebody is told in a line of its own what is going on."""
JUDGING = "skills judged"
"""What is done once for each skill, and again only when it has changed."""
ONCE, QUICKER = ", once", "the next time is quicker"


class Announcer:
    """Says once what keeps somebody waiting, where there is no terminal for a meter."""

    def __init__(self) -> None:
        """Begin to count the time."""
        self.begun = time.monotonic()
        self.said = False

    def __call__(self, what: str, _count: int, total: int = 0) -> None:
        """Say it, when it has taken a while and there is a lot to do."""
        waited = time.monotonic() - self.begun >= METER_DELAY_SECONDS
        if waited and total >= MIN_ANNOUNCED and not self.said:
            self.said = True
            verb, noun = METER_WORDS.get(what, ("reading", what))
            remark(f"{verb} {total:,} {noun}{ONCE if what == JUDGING else ''}; {QUICKER}\n")


def _megabytes(count: float) -> str:
    return f"{count / 1e6:,.1f} MB"

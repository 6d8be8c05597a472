"""Lets a person at a terminal pick: one row of a list, several that are ticked, or a letter.

It draws on standard error, so that what was picked can go into a pipe. prompt_toolkit is imported
only here, and only when somebody is asked (docs/adr/0042).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from metier.cli.consent import DeclinedError, has_person
from metier.cli.main import exit_on_signal
from metier.cli.output import clean, clear_meter, flush, note, write
from metier.cli.terminal import cells, cut, has_colour, pad, wrapped
from metier.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prompt_toolkit.application import Application
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.output import Output

    from metier.cli.argv import Values
    from metier.library import Library
    from metier.model import Card

    Fragments = list[tuple[str, str]]

MAX_ROWS_SHOWN = 12
"""Rows of a list that are on the screen at a time."""
MIN_ROWS_SHOWN = 3
OTHER_LINES = 6
"""Lines that a list needs beside its rows: the question, the filter and the keys."""
MAX_NAME_SHARE = 0.45
"""How much of a line a name may take; what it is about has the rest."""
ESCAPE_SECONDS = 0.05
"""How long an Esc may turn out to be the beginning of another key."""
NOTHING_PICKED = "nothing was picked"
LEAVE_KEYS = ("escape", "c-c", "c-d", "c-q")
STEPS = {"up": -1, "down": 1, "s-tab": -1, "tab": 1, "c-p": -1, "c-n": 1} | {
    "pageup": 1 - MAX_ROWS_SHOWN,
    "pagedown": MAX_ROWS_SHOWN - 1,
}
"""How far each key moves."""
STYLES = {
    "question": "bold",
    "here": "bold ansicyan",
    "tick": "ansigreen",
    "about": "ansibrightblack",
}
STYLES |= {"keys": "ansibrightblack", "warning": "ansiyellow"}


class PickRow(NamedTuple):
    """Something to pick."""

    name: str
    about: str = ""
    key: str = ""
    """A letter that picks it at once."""


# --- what commands ask


def pick_one(question: str, rows: Sequence[PickRow], left: str = NOTHING_PICKED) -> int:
    """Let somebody pick a row, by the arrows or by typing a part of it; give its number. Whoever
    leaves declines, with `left` as what came of it.
    """
    return _ask(PickList(question, rows), left)[0]


def tick(question: str, rows: Sequence[PickRow], *, ticked: bool, least: int) -> list[int]:
    """Let somebody tick rows, at `least` so many; all or none are `ticked` already. Give their
    numbers.
    """
    return _ask(PickList(question, rows, many=True, ticked=ticked, least=least))


def press(question: str, rows: Sequence[PickRow], at: int) -> str:
    """Let somebody press the letter of a row, or go to it from row `at`; give the letter, and
    nothing for whoever leaves.
    """
    try:
        return rows[_ask(PickList(question, rows, at=at))[0]].key
    except DeclinedError:
        return ""


def check_pick(values: Values) -> None:
    """Refuse `--pick` where nobody can be asked."""
    if values.json:
        raise UsageError("--pick asks, and a document cannot", hint="leave --pick or --json away")
    if not has_person():
        raise UsageError("there is no terminal to pick on", hint="name the skill: metier path NAME")


def pick_card(question: str, cards: Sequence[Card]) -> Card:
    """Let somebody pick a skill."""
    if not cards:
        raise NotFoundError("there is no skill to pick", hint="see: metier list --all")
    names = [card.name for card in cards]
    rows = [
        PickRow(
            f"{card.scope}:{card.name}" if names.count(card.name) > 1 else card.name,
            card.description,
        )
        for card in cards
    ]
    return cards[pick_one(question, rows)]


def hand_on(m: Library, path: str) -> None:
    """Show the skill that was picked; in a pipe, print where it is."""
    if sys.stdout.isatty():
        from metier.cli.commands.show import skill_text

        write(skill_text(m, path))
    else:
        write(f"{clean(path)}\n")


# --- a list, and what keys do to it


class PickList:
    """A list on the screen: what was typed, which rows fit that, where one is and what is
    ticked.
    """

    def __init__(
        self,
        question: str,
        rows: Sequence[PickRow],
        *,
        many: bool = False,
        ticked: bool = False,
        least: int = 1,
        at: int = 0,
    ) -> None:
        """Begin at a row, with nothing typed."""
        self.question = question
        self.rows = [
            PickRow(clean(" ".join(row.name.split())), clean(" ".join(row.about.split())), row.key)
            for row in rows
        ]
        self.many = many
        self.least = least
        self.ticked = set(range(len(rows)) if ticked else ())
        self.typed = ""
        self.at = at
        self.warning = ""
        self._top = 0

    @property
    def has_keys(self) -> bool:
        """Whether letters pick a row, instead of narrowing the list."""
        return any(row.key for row in self.rows)

    def fitting(self) -> list[int]:
        """Give the numbers of the rows that have every word that was typed: the name itself first,
        then names that begin with it, names that have it, and what is only about it.
        """
        words = self.typed.casefold().split()
        if not words:
            return list(range(len(self.rows)))
        typed = " ".join(words)
        found = []
        for at, row in enumerate(self.rows):
            name, about = row.name.casefold(), row.about.casefold()
            if all(word in name or word in about for word in words):
                is_named = all(word in name for word in words)
                found.append((name != typed, not name.startswith(typed), not is_named, at))
        return [at for *_rank, at in sorted(found)]

    def move(self, by: int) -> None:
        """Go up or down, as far as there are rows."""
        self.at = max(0, min(self.at + by, len(self.fitting()) - 1))

    def take(self, text: str) -> list[int]:
        """Take what was typed: it narrows the list, or it is a letter and picks a row. Give the
        number of that row.
        """
        if self.has_keys:
            return [at for at, row in enumerate(self.rows) if row.key == text.lower()][:1]
        if not text.startswith("\x1b"):  # a key that does nothing here
            self.typed += "".join(char for char in text if char.isprintable())
            self.at = 0
        return []

    def erase(self) -> None:
        """Take back what was typed last."""
        self.typed = self.typed[:-1]
        self.at = 0

    def tick_here(self) -> None:
        """Tick the row one is at, or take its tick away."""
        self.warning = ""
        self.ticked ^= set(self.fitting()[self.at : self.at + 1])

    def tick_all(self) -> None:
        """Tick all rows that fit; where they are ticked, take their ticks away."""
        self.warning = ""
        fitting = set(self.fitting())
        self.ticked = self.ticked - fitting if fitting <= self.ticked else self.ticked | fitting

    def answer(self) -> list[int] | None:
        """Give what is picked; nothing while that is too little, which is said."""
        if not self.many:
            return self.fitting()[self.at : self.at + 1] or None
        if len(self.ticked) >= self.least:
            return sorted(self.ticked)
        self.warning = "nothing is selected yet: press space to select, esc to cancel"
        return None

    # how it looks

    def draw(self, columns: int, lines: int) -> Fragments:
        """Give the list as styled pieces of text, for a screen of so many columns and lines."""
        room = columns - 1  # the last column would make some terminals begin a new line
        count = f" ({len(self.ticked)} selected)" if self.many else ""
        out: Fragments = []
        for line in wrapped(f"{self.question}{count}", room):
            out += [("class:question", line), ("", "\n")]
        fitting = self.fitting()
        if self.typed:
            fits = f"filter: {self.typed}  ({len(fitting):,} of {len(self.rows):,} fit)"
            out += [("class:keys", cut(fits, room)), ("", "\n")]
        shown = max(MIN_ROWS_SHOWN, min(MAX_ROWS_SHOWN, lines - OTHER_LINES))
        self._top = max(0, min(self._top, self.at, len(fitting) - shown))
        self._top = max(self._top, self.at - shown + 1)
        name_room = min(
            max((cells(row.name) for row in self.rows), default=0), int(room * MAX_NAME_SHARE)
        )
        for place, number in enumerate(fitting[self._top : self._top + shown], self._top):
            out += self._row(number, name_room, room, is_here=place == self.at)
        rest = len(fitting) - shown
        if rest > 0:
            out += [("class:keys", f"  … and {rest:,} more\n")]
        for line in wrapped(self.warning or self._keys(), room):
            out += [("class:warning" if self.warning else "class:keys", line), ("", "\n")]
        return out[:-1]

    def _row(self, number: int, name_room: int, room: int, *, is_here: bool) -> Fragments:
        row = self.rows[number]
        begins = "> " if is_here else "  "
        mark = ("[x] " if number in self.ticked else "[ ] ") if self.many else ""
        mark += f"{row.key}  " if row.key else ""
        name = pad(cut(row.name, name_room), name_room)
        left = room - len(begins) - len(mark) - name_room - 2
        about = f"  {cut(row.about, left)}" if row.about and left > MIN_ROWS_SHOWN else ""
        return [
            ("class:here" if is_here else "", begins),
            ("class:tick" if number in self.ticked else "", mark),
            ("class:here" if is_here else "", name),
            ("class:about", about.rstrip()),
            ("", "\n"),
        ]

    def _keys(self) -> str:
        if self.has_keys:
            return "press a letter, or use the arrows and enter"
        if self.many:
            return "type to filter, space: select, ctrl-a: all, enter: go on, esc: cancel"
        return "arrows: move, type to filter, enter: pick, esc: cancel"


# --- the terminal


def _ask(listed: PickList, left: str = "") -> list[int]:
    """Show a list until somebody picks or leaves; it goes away then, and a line says what was
    picked.
    """
    clear_meter()
    flush()
    asked = _application(listed)
    with exit_on_signal():
        try:
            found = asked.run()
        except EOFError:  # the terminal is gone
            found = None
        except SystemExit:  # a signal, at whatever moment of drawing
            asked.output.reset_attributes()
            asked.output.show_cursor()
            asked.output.flush()
            raise
    clear_meter()
    if found is None:
        raise DeclinedError(left)
    names = ", ".join(listed.rows[at].name for at in found) or "none"
    note(f"{listed.question} {names}")
    return found


def _application(listed: PickList) -> Application[list[int] | None]:
    from prompt_toolkit.application import Application
    from prompt_toolkit.layout import FormattedTextControl, Layout, Window
    from prompt_toolkit.output import ColorDepth
    from prompt_toolkit.styles import Style

    output = _screen()

    def draw() -> StyleAndTextTuples:
        size = output.get_size()
        return [*listed.draw(size.columns, size.rows)]

    control = FormattedTextControl(draw, focusable=True, show_cursor=False)
    found: Application[list[int] | None] = Application(
        layout=Layout(Window(control, dont_extend_height=True)),
        key_bindings=_keys(listed),
        style=Style.from_dict(STYLES),
        color_depth=None if has_colour(sys.stderr) else ColorDepth.DEPTH_1_BIT,
        output=output,
        erase_when_done=True,
    )
    found.ttimeoutlen = ESCAPE_SECONDS
    return found


def _screen() -> Output:
    """Give the terminal behind standard error. It isn't asked where its cursor is: some never
    answer, and the list only needs lines below it.
    """
    from prompt_toolkit.output import create_output
    from prompt_toolkit.output.vt100 import Vt100_Output

    found = create_output(sys.stderr)
    if isinstance(found, Vt100_Output):
        found.enable_cpr = False
    return found


def _keys(listed: PickList) -> KeyBindings:
    """Say what each key does."""
    from prompt_toolkit.key_binding import KeyBindings

    found = KeyBindings()

    def leave(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    def enter(event: KeyPressEvent) -> None:
        picked = listed.answer()
        if picked is not None:
            event.app.exit(result=picked)

    def type_key(event: KeyPressEvent) -> None:
        picked = listed.take(event.data)
        if picked:
            event.app.exit(result=picked)

    for key in LEAVE_KEYS:
        found.add(key, eager=True)(leave)
    for key, by in STEPS.items():
        found.add(key)(lambda _event, by=by: listed.move(by))
    found.add("enter")(enter)
    found.add("backspace")(lambda _event: listed.erase())
    found.add("<any>")(type_key)
    found.add("<bracketed-paste>")(type_key)
    if listed.many:
        found.add(" ")(lambda _event: listed.tick_here())
        found.add("c-a")(lambda _event: listed.tick_all())
    return found

"""`metier expand`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.main import library
from metier.cli.output import answer, clean, notes, table, warn
from metier.errors import UsageError

if TYPE_CHECKING:
    from metier.disclose.expand import SlashCommand
    from metier.library import Library

NO_COMMANDS = "No commands yet.\n\nnext: metier new NAME\n"


def run(values: Values) -> int:
    """Print the message that a model receives, or the commands that there are."""
    listing = values.flag("commands")
    if not values.words and not listing:
        raise UsageError("metier expand needs TEXT", hint="see: metier expand --help")
    if values.words and listing:
        raise UsageError("--commands takes no TEXT", hint="write metier expand --commands")
    m = library(values)
    if values.flag("session"):
        m.begin_session(values.text("session"))
    told: list[str] = []
    try:
        with m:
            if listing:
                commands = m.commands()
                answer(values, commands, _commands_text, {"commands": commands})
                if not values.json:
                    notes(
                        f"/{one.slug} is {one.path}; of the same slug: {', '.join(one.clash)}"
                        for one in commands
                        if one.clash
                    )
                return 0
            selections = [_selection(m, word) for word in values.many("select")]
            found = m.expand(_text(values.word), selections=selections)
            told = found.warnings
    finally:
        warn(dict.fromkeys([*told, *m.context.warnings]))
    text = clean(found.message, lines=True).rstrip("\n") + "\n"
    answer(values, found, text, raw=True)
    return 1 if found.refused else 0


def _text(operand: str) -> str:
    """Give the message; a dash reads it from standard input, without the newline that ends it."""
    if operand != "-":
        return operand
    return sys.stdin.buffer.read().decode("utf-8", "replace").removesuffix("\n")


def _selection(m: Library, word: str) -> tuple[str, str]:
    """Read `PATH` or `name=PATH`; a path is meant from where the command was started."""
    from metier.discover.io import disk

    name, equals, path = word.partition("=")
    if not equals or "/" in name:
        name = ""
        path = word
    return name, path if "://" in path else disk.absolute(path, m.context.cwd, m.context.home)


def _commands_text(found: list[SlashCommand]) -> str:
    rows = [
        (f"/{one.slug} {one.argument_hint}".rstrip(), one.name, one.description) for one in found
    ]
    return table(rows, ("COMMAND", "NAME", "DESCRIPTION")) or NO_COMMANDS


ROWS = (
    CommandRow(
        "expand",
        operands="[TEXT]",
        options=(
            Option(
                "--select",
                "a skill selected by hand: its path, or name=path (may be repeated)",
                "PATH",
                repeat=True,
            ),
            Option("--session", "the id of the session, for skills that ask for it", "ID"),
            Option("--commands", "list every slash command instead, with its argument hint"),
        ),
        examples={
            "metier expand '/pdf fill in the form'": "the skill's instructions, then the request",
            "metier expand 'use $pdf and $brand for this'": "mentions; [$pdf](/path/SKILL.md) names one copy",
        },
        detail="TEXT - reads standard input. \\/ at the start is a plain slash. Exit code 1 "
        "when a slash command gives no skill. On paper, control characters are shown "
        "escaped; --json has the message as it is.",
        run=run,
    ),
)

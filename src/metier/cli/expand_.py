"""`metier expand`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from metier import cli
from metier.cli import output
from metier.discover import disk
from metier.errors import UsageError

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values
    from metier.expanding import SlashCommand

NO_COMMANDS = "No commands yet.\n\nnext: metier new NAME\n"


def run(values: Values) -> int:
    """Print the message that a model receives, or the commands that there are."""
    operands, selected = values["operands"], values["select"]
    assert isinstance(operands, list)
    assert isinstance(selected, list)
    if not operands and not values["commands"]:
        raise UsageError("metier expand needs TEXT", hint="see: metier expand --help")
    if operands and values["commands"]:
        raise UsageError("--commands takes no TEXT", hint="write metier expand --commands")
    library = cli.library(values)
    if values["session"]:
        library.begin_session(cli.text_of(values["session"]) or "")
    told: list[str] = []
    try:
        with library as m:
            if values["commands"]:
                _list(m.commands(), values)
                return 0
            found = m.expand(_text(operands[0]), selections=[_selection(m, one) for one in selected])
            told = found.warnings
    finally:
        for warning in dict.fromkeys([*told, *library.warnings]):
            output.note(f"warning: {warning}")
    if values["json"]:
        output.write(output.json_text(found) + "\n")
    else:
        output.write(output.clean(found.message, lines=True).rstrip("\n") + "\n")
    return 1 if found.refused else 0


def _text(operand: str) -> str:
    """Give the message; a dash reads it from standard input, without the newline that ends it."""
    if operand != "-":
        return operand
    return sys.stdin.buffer.read().decode("utf-8", "replace").removesuffix("\n")


def _selection(m: Library, word: str) -> tuple[str, str]:
    """Read `PATH` or `name=PATH`; a path is meant from where the command was started."""
    name, equals, path = word.partition("=")
    if not equals or "/" in name:
        name, path = "", word
    return name, path if "://" in path else disk.absolute(path, m.cwd, m.home)


def _list(found: list[SlashCommand], values: Values) -> None:
    if values["json"]:
        output.write(output.json_text({"commands": found}) + "\n")
        return
    clean = output.clean
    rows = [(f"/{clean(one.slug)} {clean(one.argument_hint)}".rstrip(), clean(one.name), clean(one.description)) for one in found]
    output.write(output.table(rows, ("COMMAND", "NAME", "DESCRIPTION")) or NO_COMMANDS)
    for one in found:
        if one.clash:
            output.note(f"note: /{one.slug} is {one.path}; of the same slug: {', '.join(one.clash)}")

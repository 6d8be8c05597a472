"""Reads a command line against a table of commands. Small on purpose: it is on the path of every `metier list`.

Importing click takes as long as two Python start-ups, argparse as long as one (docs/adr/0003).
"""

from __future__ import annotations

from metier.closest import closest
from metier.errors import UsageError
from metier.light import NamedTuple

Values = dict[str, object]


class Option(NamedTuple):
    """One option: a flag when it has no metavar. A repeatable one gives a list."""

    name: str
    help: str
    metavar: str = ""
    short: str = ""
    repeat: bool = False
    choices: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name under which its value is found."""
        return self.name.lstrip("-").replace("-", "_")


class Command(NamedTuple):
    """One command: its module below `metier.cli`, what it takes, what its help says."""

    name: str
    summary: str
    operands: str = ""
    """As shown in usage: `NAME`, `[NAME]` for an optional one, `PATH...` for one or more."""
    options: tuple[Option, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    detail: str = ""
    private: bool = False
    """Whether a word may be a secret that somebody gave by mistake: then no wrong one is quoted."""


def parse(command: Command, arguments: list[str], common: tuple[Option, ...]) -> Values:
    """Give the value of every option and operand; raise `UsageError` on anything unknown or missing."""
    options = (*command.options, *common)
    by_name = {name: option for option in options for name in (option.name, option.short) if name}
    values: Values = {option.key: [] if option.repeat else None if option.metavar else False for option in options}
    operands: list[str] = []
    values["rest"] = []
    waiting = list(reversed(arguments))
    while waiting:
        word = waiting.pop()
        if word == "--":
            values["rest"] = waiting[::-1]
            operands += waiting[::-1]
            break
        if word == "-" or not word.startswith("-"):
            operands.append(word)
            continue
        name, equals, attached = word.partition("=")
        option = by_name.get(name)
        if option is None:
            raise _unknown(command, name, list(by_name))
        _take(values, option, attached if equals else None, waiting, private=command.private)
    values["operands"] = _counted(command, operands)
    return values


def _take(values: Values, option: Option, attached: str | None, waiting: list[str], *, private: bool) -> None:
    if not option.metavar:
        if attached is not None:
            raise UsageError(f"option {option.name} takes no value", hint=f"write {option.name} alone")
        values[option.key] = True
        return
    if attached is None:
        if not waiting:
            raise UsageError(f"option {option.name} needs a value", hint=f"write {option.name} {option.metavar}")
        attached = waiting.pop()
    if option.choices and attached not in option.choices:
        what = "that" if private else f"'{attached}'"
        raise UsageError(f"{option.name} cannot be {what}", hint=f"choose one of: {', '.join(option.choices)}")
    if option.repeat:
        found = values[option.key]
        assert isinstance(found, list)
        found.append(attached)
    else:
        values[option.key] = attached


def _counted(command: Command, operands: list[str]) -> list[str]:
    wanted = command.operands.split()
    least = sum(1 for word in wanted if not word.startswith("["))
    most = None if any(word.rstrip("]").endswith("...") for word in wanted) else len(wanted)
    if len(operands) < least:
        raise UsageError(f"metier {command.name} needs {wanted[len(operands)]}", hint=f"see: metier {command.name} --help")
    if most is not None and len(operands) > most:
        what = "word: a value is never an argument" if command.private else f"'{operands[most]}'"
        raise UsageError(f"unexpected {what}", hint=f"see: metier {command.name} --help")
    return operands


def _unknown(command: Command, name: str, known: list[str]) -> UsageError:
    near = closest(name, [option for option in known if option.startswith("--")])
    hint = f"did you mean {near}? " if near else ""
    what = "such option" if command.private else f"option {name}"
    return UsageError(f"metier {command.name} has no {what}", hint=f"{hint}see: metier {command.name} --help")

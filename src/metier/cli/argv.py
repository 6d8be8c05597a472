"""Reads a command line against a table of commands. Small on purpose: it is on the path of every
`metier list`.

Importing click takes as long as two Python start-ups, argparse as long as one (docs/adr/0003).
"""

from __future__ import annotations

from metier.errors import UsageError, closest
from metier.fast import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from metier.model import JsonObject, Texts


class Option(NamedTuple):
    """One option: a flag when it has no metavar. A repeatable one gives a list."""

    name: str
    help: str
    metavar: str = ""
    short: str = ""
    repeat: bool = False
    choices: Texts = ()

    @property
    def key(self) -> str:
        """The name under which its value is found."""
        return self.name.lstrip("-").replace("-", "_")


YES = Option("--yes", "do not ask")
YES_UNASKED = Option("--yes", "accepted for scripts; nothing is asked")
PROJECT_OR_USER = (
    Option("--project", "the skills of this project"),
    Option("--user", "the skills of your home folder instead of this project's"),
)
PICK = Option("--pick", "pick one on a terminal: it is shown, or in a pipe its path is printed")
VERBOSE = Option("--verbose", "show the files, findings and places of each skill", short="-v")
DRY_RUN = Option("--dry-run", "show what would be done, and do nothing")


class CommandRow(NamedTuple):
    """One command: what it takes, what its help says, and what runs it."""

    name: str
    run: Callable[[Values], int | None]
    """Gives the exit code; nothing where that is 0."""
    examples: dict[str, str]
    """Command lines, each with what it does."""
    operands: str = ""
    """As shown in usage: `NAME`, `[NAME]` for an optional one, `PATH...` for one or more."""
    options: tuple[Option, ...] = ()
    detail: str = ""
    paged: bool = False
    """Whether what it prints may go through a pager: it asks nothing, and it ends by itself."""
    private: bool = False
    """Whether a word may be a secret that somebody gave by mistake: then no wrong one is quoted."""


class Values:
    """What a command line gave: its words, and each option by the name and the type that it has."""

    def __init__(
        self, options: JsonObject, words: list[str], rest: list[str] | None = None
    ) -> None:
        """Keep the operands as `words`; `rest` are those of them that stood after `--`."""
        self._options = options
        self.words = words
        self.rest = rest or []
        self.json = self.flag("json")

    @property
    def word(self) -> str:
        """The first operand."""
        return self.words[0]

    def flag(self, name: str) -> bool:
        """Tell whether a flag was given, or a value that is not empty."""
        return bool(self._options[name])

    def given(self, name: str) -> bool:
        """Tell whether an option was given, be it with an empty value."""
        return self._options[name] not in (None, False, [])

    def takes(self, name: str) -> bool:
        """Tell whether the command has such an option."""
        return name in self._options

    def leave_out(self, name: str) -> None:
        """Forget an option that only other verbs of the command have: no hint is to name it."""
        self._options = {key: value for key, value in self._options.items() if key != name}

    def optional(self, name: str) -> str | None:
        """Give the text of an option; nothing when it was not given."""
        value = self._options[name]
        return value if isinstance(value, str) else None

    def text(self, name: str) -> str:
        """Give the text of an option; an empty one when it was not given."""
        return self.optional(name) or ""

    def many(self, name: str) -> list[str]:
        """Give the texts of an option that may be repeated."""
        found: list[str] = self._options[name]
        return found

    def root_options(self) -> str:
        """Write the `--root` options again, for a command that a person is to type next."""
        roots = self.many("root")
        if not roots:
            return ""
        from shlex import quote

        return "".join([f" --root {quote(root)}" for root in roots])

    def number(self, name: str, most: int) -> int | None:
        """Give the whole number from 1 on of an option; nothing when it was not given."""
        text = self.optional(name)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit()) or len(text) > 9 or not 0 < int(text) <= most:
            raise UsageError(
                f"--{name} cannot be '{text[:40]}'", hint=f"give a whole number from 1 to {most:,}"
            )
        return int(text)


def contradiction(one: str, other: str, how: str = "contradict") -> UsageError:
    """Give the error of two options that contradict or exclude each other."""
    return UsageError(f"{one} and {other} {how} each other", hint="leave one of them out")


def cannot(command: str, said: str, *verbs: str, hint: str = "") -> UsageError:
    """Give the error of a command that has no such verb."""
    near = closest(said, verbs)
    meant = f"did you mean 'metier {command} {near}'?" if near else ""
    return UsageError(
        f"unknown command 'metier {command} {said}'",
        hint=hint or meant or f"choose one of: {', '.join(verbs)}",
    )


def for_user(values: Values) -> bool | None:
    """Tell whose skills are meant: the user's, the project's, or whichever has them."""
    user = values.flag("user")
    project = values.flag("project")
    if user and project:
        raise contradiction("--project", "--user")
    return user if user or project else None


def refuse_misplaced(
    values: Values, said: str, verb: str, takes: Mapping[str, Sequence[str]]
) -> None:
    """Refuse an option that a command has for other verbs than this."""
    for key, verbs in takes.items():
        if values.flag(key) and verb not in verbs:
            option = f"--{key.replace('_', '-')}"
            raise UsageError(
                f"metier {said} takes no {option}", hint=f"{option} is for: {', '.join(verbs)}"
            )


def parse(command: CommandRow, arguments: list[str], common: tuple[Option, ...]) -> Values:
    """Give the value of every option and operand; raise `UsageError` on anything unknown or
    missing.
    """
    options = (*command.options, *common)
    by_name = {name: option for option in options for name in (option.name, option.short) if name}
    values: JsonObject = {
        option.key: [] if option.repeat else None if option.metavar else False for option in options
    }
    operands: list[str] = []
    rest: list[str] = []
    waiting = list(reversed(arguments))
    while waiting:
        word = waiting.pop()
        if word == "--":
            rest = waiting[::-1]
            operands += rest
            break
        if word == "-" or not word.startswith("-"):
            operands.append(word)
            continue
        name, equals, attached = word.partition("=")
        option = by_name.get(name)
        if option is None:
            raise _unknown(command, name, list(by_name))
        _take(values, option, attached if equals else None, waiting, private=command.private)
    _check_operands(command, operands)
    return Values(values, operands, rest)


def _take(
    values: JsonObject,
    option: Option,
    attached: str | None,
    waiting: list[str],
    *,
    private: bool,
) -> None:
    if not option.metavar:
        if attached is not None:
            raise UsageError(
                f"option {option.name} takes no value", hint=f"write {option.name} alone"
            )
        values[option.key] = True
        return
    if attached is None:
        if not waiting:
            raise UsageError(
                f"option {option.name} needs a value", hint=f"write {option.name} {option.metavar}"
            )
        attached = waiting.pop()
    if option.choices and attached not in option.choices:
        what = "that" if private else f"'{attached}'"
        near = closest(attached, option.choices)
        meant = f"did you mean {near}? " if near else ""
        raise UsageError(
            f"{option.name} cannot be {what}",
            hint=f"{meant}choose one of: {', '.join(option.choices)}",
        )
    if option.repeat:
        values[option.key].append(attached)
    else:
        values[option.key] = attached


def _check_operands(command: CommandRow, operands: list[str]) -> None:
    wanted = command.operands.split()
    least = sum(not word.startswith("[") for word in wanted)
    most = None if any(word.rstrip("]").endswith("...") for word in wanted) else len(wanted)
    if len(operands) < least:
        # a list of verbs is parted by spaces, so that it can be folded
        verbs = wanted[len(operands)].split("|")
        needs = verbs[0] if len(verbs) == 1 else f"one of: {', '.join(verbs)}"
        raise UsageError(
            f"metier {command.name} needs {needs}",
            hint=_example_hint(command),
        )
    if most is not None and len(operands) > most:
        what = "word: a value is never an argument" if command.private else f"'{operands[most]}'"
        see = f"see: metier {command.name} --help"
        if any(option.name == "--file" for option in command.options) and not command.private:
            see = f"a file of it is named with --file. {see}"
        raise UsageError(f"unexpected {what}", hint=see)


def _example_hint(command: CommandRow) -> str:
    """Show how a command is written, by its first example."""
    example = next((f"for example: {one}. " for one in command.examples or ()), "")
    return f"{example}see: metier {command.name} --help"


def _unknown(command: CommandRow, name: str, known: list[str]) -> UsageError:
    near = closest(name, [option for option in known if option.startswith("--")])
    hint = f"did you mean {near}? " if near else ""
    what = "such option" if command.private else f"option {name}"
    return UsageError(
        f"metier {command.name} has no {what}", hint=f"{hint}see: metier {command.name} --help"
    )

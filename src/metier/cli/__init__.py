"""The command line: parse, call the library, print. It decides nothing itself."""

from __future__ import annotations

import sys

from metier.cli.argv import parse
from metier.cli.table import COMMANDS, COMMON, command_named
from metier.errors import MetierError, UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values

INTERRUPTED = 130
BROKEN_PIPE = 141


def main(arguments: list[str] | None = None) -> int:
    """Run one command; give its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _survive_odd_names()
    try:
        return _run(words)
    except MetierError as error:
        return _report(error, as_json="--json" in words)
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return BROKEN_PIPE


def _run(words: list[str]) -> int:
    name = words[0] if words else "--help"
    if name in {"--help", "-h", "help"}:
        from metier.cli.help import overview

        topic = command_named(words[1]) if len(words) > 1 and name == "help" else None
        if topic is not None:
            return _run([topic.name, "--help"])
        sys.stdout.write(overview())
        return 0
    if name == "--version":
        from metier import __version__

        sys.stdout.write(f"metier {__version__}\n")
        return 0
    command = command_named(name)
    if command is None:
        raise _unknown(name)
    if "--help" in words or "-h" in words:
        from metier.cli.help import of_command

        sys.stdout.write(of_command(command))
        return 0
    values = parse(command, words[1:], COMMON)
    from importlib import import_module

    code = import_module(f"metier.cli.{command.name}_").run(values)
    sys.stdout.flush()
    return int(code)


def library(values: Values) -> Library:
    """Open the library that the common options ask for."""
    from metier.app import open_library

    roots = values["root"]
    assert isinstance(roots, list)
    found = open_library(roots=roots or None, agent=text_of(values["agent"]), cwd=text_of(values["C"]))
    if sys.stderr.isatty():
        from metier.cli.meter import Meter

        found.progress = Meter()
    return found


def text_of(value: object) -> str | None:
    """Give the value of an option that takes a text."""
    return value if isinstance(value, str) else None


def _unknown(name: str) -> UsageError:
    from metier.standard.names import nearest

    near = nearest(name, [command.name for command in COMMANDS], 1)
    hint = f"did you mean 'metier {near[0]}'? " if near and not name.startswith("-") else ""
    return UsageError(f"there is no command '{name}'", hint=f"{hint}see: metier --help")


def _report(error: MetierError, *, as_json: bool) -> int:
    from metier.cli.output import clean, json_text

    sys.stdout.flush()
    if as_json:
        sys.stdout.write(json_text(error.as_dict()) + "\n")
    else:
        hint = f"\nhint: {clean(error.hint)}\n" if error.hint else ""
        sys.stderr.write(f"error: {clean(error.message, lines=True)}\n{hint}")
    return error.exit_code


def _survive_odd_names() -> None:
    """Print a file name that is not UTF-8 escaped: it must never end a listing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    """Keep Python from complaining while it ends: the reader is gone, as with `| head`."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

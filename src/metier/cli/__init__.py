"""The command line: parse, call the library, print. It decides nothing itself."""

from __future__ import annotations

import os
import sys

from metier.cli import output
from metier.cli.argv import parse
from metier.cli.table import COMMANDS, COMMON, command_named
from metier.closest import closest
from metier.errors import MetierError, StoreError, UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values

INTERRUPTED = 130
BROKEN_PIPE = 141


def main(arguments: list[str] | None = None) -> int:
    """Run one command; give its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    output.stand_in()
    _survive_odd_names()
    as_json = "--json" in _own(words)
    try:
        code = _answer(words, as_json=as_json)
        output.flush()
    except BrokenPipeError:  # the reader is gone, as with `| head`
        output.forget(sys.stdout)
        return BROKEN_PIPE
    except output.UnwrittenError as error:
        output.forget(sys.stdout)
        return _report(StoreError(f"cannot write the output: {error}", hint="make room, or write elsewhere"), as_json=False)
    return code


def _answer(words: list[str], *, as_json: bool) -> int:
    """Run a command and say what went wrong with it, if anything."""
    try:
        return _run(words)
    except MetierError as error:
        return _report(error, as_json=as_json)
    except KeyboardInterrupt:
        output.remark("\ninterrupted\n")
        return INTERRUPTED
    except (BrokenPipeError, output.UnwrittenError):
        raise
    except Exception as error:
        if os.environ.get("METIER_DEBUG"):
            raise
        hint = "this is a fault in metier; METIER_DEBUG=1 shows where"
        return _report(MetierError(f"unexpected: {type(error).__name__}: {error}", hint=hint, code="unexpected"), as_json=as_json)


def _run(words: list[str]) -> int:
    name = words[0] if words else "--help"
    if name in {"--help", "-h", "help"}:
        from metier.cli.help import overview

        if len(words) > 1 and name == "help":
            return _run([words[1], "--help"])
        output.write(overview())
        return 0
    if name == "--version":
        from metier import __version__

        output.write(f"metier {__version__}\n")
        return 0
    words = _command_first(words)
    command = command_named(words[0])
    if command is None:
        raise _unknown(words[0])
    if "--help" in _own(words) or "-h" in _own(words):
        from metier.cli.help import of_command

        output.write(of_command(command))
        return 0
    values = parse(command, words[1:], COMMON)
    from importlib import import_module

    code = import_module(f"metier.cli.{command.name}_").run(values)
    output.flush()  # while an interrupt is still an answer
    return int(code)


def _own(words: list[str]) -> list[str]:
    """Give the words that are metier's: what follows `--` is somebody else's."""
    return words[: words.index("--")] if "--" in words else words


def _command_first(words: list[str]) -> list[str]:
    """Let the options that every command takes stand before the command too."""
    takes_value = {name: bool(option.metavar) for option in COMMON for name in (option.name, option.short) if name}
    at = 0
    while at < len(words) and words[at].partition("=")[0] in takes_value:
        at += 2 if takes_value[words[at].partition("=")[0]] and "=" not in words[at] else 1
    return [words[at], *words[:at], *words[at + 1 :]] if 0 < at < len(words) else words


def library(values: Values) -> Library:
    """Open the library that the common options ask for."""
    from metier.app import open_library

    roots = values["root"]
    assert isinstance(roots, list)
    found = open_library(roots=roots or None, agent=text_of(values["agent"]), cwd=text_of(values["C"]))
    if sys.stderr.isatty():
        from metier.cli.meter import Meter

        output.METERS[:] = [Meter()]
        found.progress = output.METERS[0]
    return found


def text_of(value: object) -> str | None:
    """Give the value of an option that takes a text."""
    return value if isinstance(value, str) else None


def number_of(values: Values, option: str, most: int) -> int | None:
    """Give the value of an option that takes a whole number from 1 on; nothing when it was not given."""
    text = text_of(values[option])
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or not 0 < int(text) <= most:
        raise UsageError(f"--{option} cannot be '{text[:40]}'", hint=f"give a whole number from 1 to {most:,}")
    return int(text)


def _unknown(name: str) -> UsageError:
    near = closest(name, [command.name for command in COMMANDS])
    hint = f"did you mean 'metier {near}'? " if near and not name.startswith("-") else ""
    return UsageError(f"there is no command '{name}'", hint=f"{hint}see: metier --help")


def _report(error: MetierError, *, as_json: bool) -> int:
    output.clear_meter()
    output.flush()
    if as_json:
        output.write(output.json_text(error.as_dict()) + "\n")
    else:
        hint = f"\nhint: {output.clean(error.hint)}\n" if error.hint else ""
        output.remark(f"error: {output.clean(error.message, lines=True)}\n{hint}")
    return error.exit_code


def _survive_odd_names() -> None:
    """Print a file name that is not UTF-8 escaped: it must never end a listing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")

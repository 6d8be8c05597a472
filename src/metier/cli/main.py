"""The command line: parse, call the library, print. It decides nothing itself."""

from __future__ import annotations

import os
import sys

from metier.cli import output
from metier.cli.argv import parse
from metier.cli.table import ALIASES, COMMON, SUMMARIES, command_named
from metier.cli.terminal import choose_colour
from metier.errors import MetierError, NotFoundError, StoreError, UsageError, closest
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values
    from metier.library import Library

INTERRUPTED_EXIT = 130
BROKEN_PIPE_EXIT = 141
REPEAT_SECONDS = 2.0
"""A terminal that closes may ask a program to end twice at once, which is one request; who asks
again after so many seconds is waiting."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; give its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    output.replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):  # a name that is not UTF-8 must never end a listing
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    ours = _before_dashes(words)
    as_json = "--json" in ours
    choose_colour(ours)
    try:
        code = _answer(words, as_json=as_json)
        output.flush()
    except BrokenPipeError:  # the reader is gone, as with `| head`
        output.silence(sys.stdout)
        return BROKEN_PIPE_EXIT
    except output.UnwrittenError as error:
        output.silence(sys.stdout)
        return _report(
            StoreError(f"cannot write the output: {error}", hint="make room, or write elsewhere"),
            as_json=False,
        )
    return code


def _answer(words: list[str], *, as_json: bool) -> int:
    """Run a command and say what went wrong with it, if anything."""
    try:
        return _run(words)
    except MetierError as error:
        return _report(error, as_json=as_json)
    except KeyboardInterrupt:
        output.remark("\ninterrupted\n")
        return INTERRUPTED_EXIT
    except (BrokenPipeError, output.UnwrittenError):
        raise
    except Exception as error:
        if os.environ.get("METIER_DEBUG"):
            raise
        if isinstance(error, ModuleNotFoundError):
            from metier.cli.extras import missing_extra

            if missing := missing_extra(error.name or ""):
                return _report(missing, as_json=as_json)
        hint = "this is a fault in metier; METIER_DEBUG=1 shows where"
        return _report(
            MetierError(
                f"unexpected: {type(error).__name__}: {error}", hint=hint, code="unexpected"
            ),
            as_json=as_json,
        )


def _run(words: list[str]) -> int:
    name = words[0] if words else "--help"
    if name in {"--help", "-h", "help"}:
        from metier.cli.help import overview

        if len(words) > 1 and name == "help":
            return _run([words[1], "--help"])
        output.write(overview())
        return 0
    if name in {"--version", "-V"}:
        from metier import __version__

        output.write(f"metier {__version__}\n")
        return 0
    if name == "__complete":  # what a completion script asks, on every Tab
        from metier.cli.commands.completion import complete

        output.write("".join(f"{output.clean(word)}\n" for word in complete(words[1:])))
        return 0
    if name == "__index":  # what `find` leaves to a process in the background
        from metier.cli.commands.find import fill_index

        return fill_index(words[1:])
    words = _command_first(words)
    command = command_named(words[0])
    if command is None:
        raise _unknown_command(words[0])
    if "--help" in _before_dashes(words) or "-h" in _before_dashes(words):
        from metier.cli.help import command_help

        output.write(command_help(command))
        return 0
    values = parse(command, words[1:], COMMON)
    if command.paged and not values.json and not values.flag("no_pager"):
        output.hold_for_pager()
    code = command.run(values) or 0
    output.flush()  # while an interrupt is still an answer
    return code


def _before_dashes(words: list[str]) -> list[str]:
    """Give the words that are metier's: what follows `--` is somebody else's."""
    return words[: words.index("--")] if "--" in words else words


def _command_first(words: list[str]) -> list[str]:
    """Let the options that every command takes stand before the command too."""
    takes_value = {
        name: bool(option.metavar)
        for option in COMMON
        for name in (option.name, option.short)
        if name
    }
    at = 0
    while at < len(words) and words[at].partition("=")[0] in takes_value:
        at += 2 if takes_value[words[at].partition("=")[0]] and "=" not in words[at] else 1
    return [words[at], *words[:at], *words[at + 1 :]] if 0 < at < len(words) else words


def library(values: Values, agent: str | None = "") -> Library:
    """Open the library that the common options ask for; as another `agent` sees it where one is
    given.
    """
    from metier.library import open_library

    found = open_library(
        roots=values.many("root") or None,
        agent=values.optional("agent") if agent == "" else agent,
        cwd=values.optional("C"),
    )
    show_progress(found)
    return found


def paths_or_all(values: Values, library: Library) -> list[str]:
    """Give the paths that a command was given; without any, the folders that all skills lie in."""
    if values.words:
        return values.words
    folders = list(dict.fromkeys(card.root for card in library.skills(all=True)))
    if not folders:
        raise NotFoundError(
            "there are no skills here", hint="name a skill's folder, or see: metier tour"
        )
    return [one for one in folders if not any(one.startswith(f"{other}/") for other in folders)]


def show_progress(library: Library) -> None:
    """Show on a terminal how far long work has come."""
    if sys.stderr.isatty():
        from metier.cli.output import Meter

        output.METERS[:] = [Meter()]
        library.context.progress = output.METERS[0]


class opened:  # noqa: N801 - used as a function is, in a `with`
    """Opens the library, and tells its warnings when all is done, however it ends."""

    def __init__(self, values: Values) -> None:
        """Open it."""
        self.library = library(values)

    def __enter__(self) -> Library:
        """Use it."""
        return self.library

    def __exit__(self, *error: object) -> None:
        """Close it, and tell its warnings."""
        self.library.close()
        output.warn(self.library.context.warnings)


class exit_on_signal:  # noqa: N801 - the same
    """Ends the program with 128 and the signal's number when SIGTERM or SIGHUP asks for it, so that
    whoever has something to tidy up gets to do it. What is ignored, or a host's own, stays as it is.
    """

    def __init__(self) -> None:
        """Change nothing yet."""
        self.last = 0.0
        self.code = 0
        self.taken: list[int] = []

    def __enter__(self) -> None:
        """Listen."""
        import signal

        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is None or signal.getsignal(number) is not signal.SIG_DFL:
                continue
            try:
                signal.signal(number, self._leave)
            except ValueError:  # not the main thread: signals are somebody else's business
                return
            self.taken.append(number)

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        """Put back what was there: nothing of anybody's. A request that came while Python was
        letting go of a value was lost there, for nothing raised then is heard: it ends the program
        here.
        """
        import signal

        for number in self.taken:
            signal.signal(number, signal.SIG_DFL)
        if self.code and kind is None:
            raise SystemExit(self.code)

    def _leave(self, number: int, _frame: object) -> None:
        import time

        before = self.last
        self.last = time.monotonic()
        if not before or self.last - before >= REPEAT_SECONDS:
            self.code = 128 + number
            raise SystemExit(self.code)


def _unknown_command(name: str) -> UsageError:
    if name.startswith("-"):
        known = ["--help", "--version", *(option.name for option in COMMON)]
        near = closest(name, known) if name.startswith("--") else ""
        hint = f"did you mean {near}? " if near else ""
        return UsageError(f"metier has no option {name}", hint=f"{hint}see: metier --help")
    near = closest(name, [*SUMMARIES, *ALIASES, "help"])
    hint = f"did you mean 'metier {near}'? " if near else ""
    return UsageError(f"unknown command 'metier {name}'", hint=f"{hint}see: metier --help")


def _report(error: MetierError, *, as_json: bool) -> int:
    output.clear_meter()
    output.flush()
    if as_json:
        output.write_json(error.as_dict())
    elif error.code == "declined":
        output.note(error.message)
    else:
        output.report_error(error.message, error.hint)
    return error.exit_code

"""`metier setup`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from metier.cli import consent
from metier.cli.argv import CommandRow, Option, Values, contradiction
from metier.cli.main import opened
from metier.cli.output import answer, clean, clear_meter, lines, note, remark, style
from metier.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.library import Library
    from metier.run.needs import Ask, NeededServer, Prepared

DEFAULT_STORE = "file"
"""A command has no session that would outlive it (MT-16)."""
NEVER_AN_ARGUMENT = "a value is never an argument: it is asked for, or read from standard input"
CLOSED_STATES = frozenset({"quarantined", "blocked"})


def run(values: Values) -> int:
    """Say what a skill needs, and ask for the secrets it lacks."""
    if values.flag("stdin") and values.flag("skip"):
        raise contradiction("--stdin", "--skip", "exclude")
    with opened(values) as m:
        found = _prepare(m, _skill_path(m, values.word), values)
    answer(values, found, "".join(_lines(found)), _document(found))
    return 0 if found.readiness == "available" else 1


def _skill_path(m: Library, name: str) -> str:
    """Give the skill that was named; what is no name at all may be a secret, and is not
    repeated.
    """
    try:
        return m.resolve(name).path
    except NotFoundError:
        if "=" in name or not name.isprintable() or len(name.split()) > 1:
            raise UsageError("that is not the name of a skill", hint=NEVER_AN_ARGUMENT) from None
        raise


def _prepare(m: Library, name: str, values: Values) -> Prepared:
    from metier.run import needs

    from_lines = values.flag("stdin")
    if from_lines and sys.stdin is None:
        raise UsageError(
            "there is no standard input to read from",
            hint="leave --stdin out, or give the values there",
        )
    if values.flag("skip") or not (from_lines or consent.has_person()):
        found = m.prepare(name)
        return found._replace(
            skipped=[ask.name for ask in found.asks if ask.name in found.missing["env"]]
        )
    store = values.text("store") or m.context.settings.secret_store or DEFAULT_STORE
    if store == "session":
        note("note: what is kept for the session ends with this command")
    ask = _from_lines() if from_lines else _from_person
    return needs.setup(m.context, name, ask, store=store, consent=True)  # asked for by a person


def _from_lines() -> Callable[[Ask], str | None]:
    """Take one line of standard input for each question; what is wrong with a line is not asked for
    again.
    """
    from metier.secrets.names import MAX_VALUE_BYTES

    accept_any_bytes()
    ended = False

    def ask(one: Ask) -> str | None:
        nonlocal ended
        if one.problem or ended:
            return None
        line = sys.stdin.readline(2 * MAX_VALUE_BYTES)
        # what comes after half a line would answer the wrong question
        ended = not line.endswith("\n")
        return line.rstrip("\r\n")

    return ask


def accept_any_bytes() -> None:
    """Take a secret as the bytes it is: not every one is text."""
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="surrogateescape")


def _from_person(one: Ask) -> str | None:
    clear_meter()
    if one.problem:
        lines = [f"that will not do: {one.problem}"]
    else:
        name = f"{one.name} (optional)" if one.optional else one.name
        purpose = f"for: {one.required_for}" if one.required_for else ""
        about = (f"{name}: {one.prompt}" if one.prompt else name, purpose, one.help, one.url)
        lines = [clean(line) for line in about if line]
    remark("\n".join(lines) + "\n")
    return ask_hidden(f"{one.name} (Enter skips): ")


def ask_hidden(question: str) -> str:
    """Ask on the terminal without showing what is typed; where that cannot be hidden, refuse."""
    import warnings
    from getpass import GetPassWarning, getpass

    clear_meter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", GetPassWarning)
            said = getpass(question, stream=sys.stderr)
        clear_meter()
        return said  # noqa: TRY300 - what a person typed
    except EOFError:
        sys.stderr.write("\n")
        return ""
    except GetPassWarning:
        raise UsageError(
            "this terminal would show what you type", hint="give it on standard input instead"
        ) from None


DOCUMENT_FIELDS = (
    "name",
    "readiness",
    "missing",
    "asks",
    "stored",
    "skipped",
    "refused",
    "setup_help",
    "servers",
    "files",
    "problems",
    "path",
    "digest",
    "state",
    "reason",
    "interface",
    "dependencies",
    "commands",
)


READINESS_WORDS = {
    "available": "is ready",
    "setup_needed": "needs setup",
    "unsupported": "can't be used here",
}


def _document(found: Prepared) -> dict[str, object]:
    document = {field: getattr(found, field) for field in DOCUMENT_FIELDS}
    asks = [ask._asdict() for ask in found.asks]
    for ask in asks:
        del ask["problem"]
    refused = [{"name": name, "reason": reason} for name, reason in found.refused]
    return {**document, "asks": asks, "refused": refused}


def _lines(found: Prepared) -> Iterator[str]:
    colour = "green" if found.readiness == "available" else "yellow"
    yield f"{clean(found.name)} {style(READINESS_WORDS[found.readiness], colour)}\n"
    unsupported = found.readiness == "unsupported"
    if unsupported:
        yield f"  {clean(found.reason)}\n"
    yield lines(
        f"missing {kind}: {', '.join(names)}" for kind, names in found.missing.items() if names
    )
    yield lines(f"never given: {name}; {reason}" for name, reason in found.refused)
    unusable = (file for file in found.files if file.reason and not file.there)
    yield lines(f"{file.path}: {file.reason}" for file in unusable)
    yield lines(_server(server) for server in found.servers if server.missing)
    if found.stored:
        yield f"  kept: {', '.join(found.stored)}\n"
    yield lines((*found.problems, *found.setup_help.splitlines()))
    yield lines(f"to get what is missing: {clean(one)}" for one in found.commands)
    # where it is closed, asking would be refused
    closed = found.state in CLOSED_STATES or (unsupported and found.state == "hidden")
    waiting = [name for name in found.skipped if name in found.missing["env"]]
    if waiting and not closed:
        yield (
            f"\nnext: metier setup {clean(found.name)} on a terminal, or metier secrets set "
            f"{waiting[0]}\n"
        )


def _server(server: NeededServer) -> str:
    """Say what to do about a server that is missing (CX-50)."""
    identity = f" ({server.identity})" if server.identity else ""
    about = f", {server.description}," if server.description else ""
    return (
        f"MCP server {server.name}{identity}{about} is missing: add it to the agent's MCP configuration, "
        f"or go on without it"
    )


ROWS = (
    CommandRow(
        "setup",
        operands="NAME",
        options=(
            Option(
                "--store",
                "where to keep what you give (default: file)",
                "STORE",
                choices=("session", "file", "keyring"),
            ),
            Option(
                "--stdin",
                "take the secrets from standard input, one a line, in the order they are asked for",
            ),
            Option("--skip", "ask for nothing, only say what is missing"),
            Option("--yes", "accepted for scripts; nothing is asked that it could answer"),
        ),
        examples={
            "metier setup weather": "asks without echo; Enter skips",
            "metier setup weather --stdin < keys.txt": "for a script",
        },
        detail="What a skill can do without is asked for last. Values are never arguments and "
        "never printed. Exit code 1 while something is missing.",
        private=True,
        run=run,
    ),
)

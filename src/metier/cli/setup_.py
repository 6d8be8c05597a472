"""`metier setup`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from metier import cli, preparing
from metier.cli import output
from metier.errors import NotFoundError, UsageError
from metier.secrets.names import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.app import Library
    from metier.cli.argv import Values
    from metier.preparing import Ask, Prepared, Server

DEFAULT_STORE = "file"
"""A command has no session that would outlive it (decision 16)."""
NEVER_AN_ARGUMENT = "a value is never an argument: it is asked for, or read from standard input"


def run(values: Values) -> int:
    """Say what a skill needs, and ask for the secrets it lacks."""
    operands = values["operands"]
    assert isinstance(operands, list)
    if values["stdin"] and values["skip"]:
        raise UsageError("--stdin and --skip exclude each other", hint="leave one of them out")
    library = cli.library(values)
    try:
        with library as m:
            found = _answered(m, _meant(m, operands[0]), values)
    finally:
        for warning in library.warnings:
            output.note(f"warning: {warning}")
    output.write(output.json_text(_json(found)) + "\n" if values["json"] else _text(found))
    return 0 if found.readiness == "available" else 1


def _meant(m: Library, name: str) -> str:
    """Give the skill that was named; what is no name at all may be a secret, and is not repeated."""
    try:
        return m.resolve(name).path
    except NotFoundError:
        if "=" in name or not name.isprintable() or len(name.split()) > 1:
            raise UsageError("that is not the name of a skill", hint=NEVER_AN_ARGUMENT) from None
        raise


def _answered(m: Library, name: str, values: Values) -> Prepared:
    terminal = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    if values["stdin"] and sys.stdin is None:
        raise UsageError("there is no standard input to read from", hint="leave --stdin out, or give the values there")
    if values["skip"] or not (values["stdin"] or terminal):
        found = preparing.prepare(m, name)
        return found._replace(skipped=[ask.name for ask in found.asks if ask.name in found.missing["env"]])
    store = cli.text_of(values["store"]) or m.settings.secret_store or DEFAULT_STORE
    if store == "session":
        output.note("note: what is kept for the session ends with this command")
    # A person asked for this very skill.
    return preparing.setup(m, name, _from_lines() if values["stdin"] else _from_person, store=store, consent=True)


def _from_lines() -> Callable[[Ask], str | None]:
    """Take one line of standard input for each question; what is wrong with a line is not asked for again."""
    any_bytes()
    ended = False

    def ask(one: Ask) -> str | None:
        nonlocal ended
        if one.problem or ended:
            return None
        line = sys.stdin.readline(2 * MOST_BYTES)
        ended = not line.endswith("\n")  # what comes after half a line would answer the wrong question
        return line.rstrip("\r\n")

    return ask


def any_bytes() -> None:
    """Take a secret as the bytes it is: not every one is text."""
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="surrogateescape")


def _from_person(one: Ask) -> str | None:
    output.clear_meter()
    clean = output.clean
    purpose = f"for: {one.required_for}" if one.required_for else ""
    wish = f"{one.name} (optional)" if one.optional else one.name
    about = [f"{wish}: {one.prompt}" if one.prompt else wish, purpose, one.help, one.url]
    lines = [f"that will not do: {one.problem}"] if one.problem else [clean(line) for line in about if line]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
    return hidden(f"{one.name} (Enter skips): ")


def hidden(question: str) -> str:
    """Ask on the terminal without showing what is typed; where that cannot be hidden, refuse."""
    import warnings
    from getpass import GetPassWarning, getpass

    output.clear_meter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", GetPassWarning)
            return getpass(question, stream=sys.stderr)
    except EOFError:
        sys.stderr.write("\n")
        return ""
    except GetPassWarning:
        raise UsageError("this terminal would show what you type", hint="give it on standard input instead") from None


def _json(found: Prepared) -> dict[str, object]:
    return {
        "name": found.name, "readiness": found.readiness, "missing": found.missing,
        "asks": [{key: value for key, value in ask._asdict().items() if key != "problem"} for ask in found.asks],
        "stored": found.stored, "skipped": found.skipped,
        "refused": [{"name": name, "reason": reason} for name, reason in found.refused], "setup_help": found.setup_help,
        "servers": found.servers, "files": found.files, "problems": found.problems, "path": found.path, "digest": found.digest,
        "state": found.state, "reason": found.reason,
    }  # fmt: skip


def _text(found: Prepared) -> str:
    clean = output.clean
    colour = "green" if found.readiness == "available" else "yellow"
    out = [f"{clean(found.name)} is {output.style(found.readiness, colour)}\n"]
    unsupported = found.readiness == "unsupported"
    out += [f"  {clean(found.reason)}\n"] if unsupported else []
    out += [f"  missing {kind}: {clean(', '.join(names))}\n" for kind, names in found.missing.items() if names]
    out += [f"  never given: {clean(name)}; {reason}\n" for name, reason in found.refused]
    out += [f"  {clean(file.path)}: {file.reason}\n" for file in found.files if file.reason and not file.there]
    out += [_server(server) for server in found.servers if server.missing]
    out += [f"  kept: {', '.join(found.stored)}\n"] if found.stored else []
    out += [f"  {clean(problem)}\n" for problem in found.problems]
    out += [f"  {clean(line)}\n" for line in found.setup_help.splitlines()]
    closed = found.state in _CLOSED or (unsupported and found.state == "hidden")  # asking would be refused
    waiting = [] if closed else [name for name in found.skipped if name in found.missing["env"]]
    out += [f"\nnext: metier setup {clean(found.name)} on a terminal, or metier secrets set {waiting[0]}\n"] if waiting else []
    return "".join(out)


_CLOSED = frozenset({"quarantined", "blocked"})


def _server(server: Server) -> str:
    """Say what to do about a server that is missing (CX-50)."""
    named = output.clean(f"{server.name} ({server.identity})" if server.identity else server.name)
    return f"  MCP server {named} is missing: add it to the agent's MCP configuration, or go on without it\n"

"""`metier setup`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from metier import cli, preparing
from metier.cli import output
from metier.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.app import Library
    from metier.cli.argv import Values
    from metier.preparing import Ask, Prepared

DEFAULT_STORE = "file"
"""A command has no session that would outlive it (decision 16)."""


def run(values: Values) -> int:
    """Say what a skill needs, and ask for the secrets it lacks."""
    operands = values["operands"]
    assert isinstance(operands, list)
    if values["stdin"] and values["skip"]:
        raise UsageError("--stdin and --skip exclude each other", hint="leave one of them out")
    library = cli.library(values)
    try:
        with library as m:
            found = _answered(m, operands[0], values)
    finally:
        for warning in library.warnings:
            output.note(f"warning: {warning}")
    output.write(output.json_text(_json(found)) + "\n" if values["json"] else _text(found))
    return 0 if found.readiness == "available" else 1


def _answered(m: Library, name: str, values: Values) -> Prepared:
    terminal = sys.stdin.isatty() and sys.stderr.isatty()
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

    def ask(one: Ask) -> str | None:
        return None if one.problem else sys.stdin.readline().rstrip("\r\n")

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
    about = [f"{one.name}: {one.prompt}" if one.prompt else one.name, purpose, one.help, one.url]
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
        "state": found.state,
    }  # fmt: skip


def _text(found: Prepared) -> str:
    clean = output.clean
    colour = "green" if found.readiness == "available" else "yellow"
    out = [f"{clean(found.name)} is {output.style(found.readiness, colour)}\n"]
    out += [f"  missing {kind}: {clean(', '.join(names))}\n" for kind, names in found.missing.items() if names]
    out += [f"  never given: {clean(name)}; {reason}\n" for name, reason in found.refused]
    out += [f"  {clean(file.path)}: {file.reason}\n" for file in found.files if file.reason and not file.there]
    out += [f"  kept: {', '.join(found.stored)}\n"] if found.stored else []
    out += [f"  {clean(problem)}\n" for problem in found.problems]
    out += [f"  {clean(line)}\n" for line in found.setup_help.splitlines()]
    waiting = [name for name in found.skipped if name in found.missing["env"]]
    out += [f"\nnext: metier setup {clean(found.name)} on a terminal, or metier secrets set {waiting[0]}\n"] if waiting else []
    return "".join(out)

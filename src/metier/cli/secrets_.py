"""`metier secrets`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from metier import cli, preparing
from metier.cli import output
from metier.cli.setup_ import DEFAULT_STORE, NEVER_AN_ARGUMENT, any_bytes, hidden
from metier.errors import NotFoundError, RefusedError, UsageError
from metier.secrets.names import MOST_BYTES, is_name, own_name

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values

EMPTY = "No secrets are kept.\n\nnext: metier setup NAME, metier secrets set NAME\n"


def run(values: Values) -> int:
    """List names, keep a value, or forget one."""
    operands = values["operands"]
    assert isinstance(operands, list)
    verb, *rest = operands or ["list"]
    verbs = {"list": _list, "set": _set, "unset": _unset}
    if verb not in verbs:  # and it may be a secret, so it is not repeated
        raise UsageError("metier secrets cannot do that", hint=f"it can: {', '.join(verbs)}")
    if len(rest) != (verb != "list"):
        raise UsageError(f"metier secrets {verb} takes {'no' if verb == 'list' else 'one'} NAME", hint=NEVER_AN_ARGUMENT)
    if rest and not is_name(rest[0]):
        raise UsageError("that is not the name of a variable", hint=NEVER_AN_ARGUMENT)
    library = cli.library(values)
    try:
        with library as m:
            verbs[verb](m, values, rest[0] if rest else "")
    finally:
        for warning in library.warnings:
            output.note(f"warning: {warning}")
    return 0


def _list(m: Library, values: Values, _name: str) -> None:
    vault = preparing.vault(m)
    kept = vault.names()
    declared = preparing.declared_by(m, kept)
    rows = [(name, vault.kind_of(name), declared[name]) for name in kept]
    if values["json"]:
        found = [{"name": name, "store": store, "skills": skills} for name, store, skills in rows]
        output.write(output.json_text({"secrets": found}) + "\n")
        return
    lines = [(output.clean(name), store, output.clean(", ".join(skills)) or "(no skill)") for name, store, skills in rows]
    output.write(output.table(lines, ("NAME", "STORE", "DECLARED BY")) or EMPTY)


def _set(m: Library, values: Values, name: str) -> None:
    name = own_name(name)
    why = preparing.vault(m).refusal(name)
    if why:
        raise RefusedError(f"'{name}' is not kept: {why}", hint="a skill needs a name of its own for a key of its own")
    store = cli.text_of(values["store"]) or m.settings.secret_store or DEFAULT_STORE
    if store == "session":
        raise RefusedError("the configuration keeps secrets in the session alone, and this command has none that would outlive it",
                           code="session-store", hint="name a place: --store file or --store keyring")  # fmt: skip
    preparing.vault(m).ready(store)
    preparing.keep(m, name, _value(name), store)
    _done(values, name, store, "kept")


def _value(name: str) -> str:
    """Ask without echo on a terminal; otherwise take the one line of standard input."""
    if sys.stdin is None:
        raise UsageError("there is no terminal to ask on, and no standard input", hint="give the value on standard input")
    if not sys.stdin.isatty():
        any_bytes()
        line = sys.stdin.readline(2 * MOST_BYTES)
        if sys.stdin.read(1):
            raise UsageError("standard input has more than one line", hint="give the value alone, on one line")
        return line.rstrip("\r\n")
    return hidden(f"{name}: ")


def _unset(m: Library, values: Values, name: str) -> None:
    if not preparing.drop(m, name):
        raise NotFoundError(f"no secret '{name}' is kept", hint="'metier secrets list' shows those there are")
    _done(values, own_name(name), "", "forgotten")


def _done(values: Values, name: str, store: str, what: str) -> None:
    if values["json"]:
        output.write(output.json_text({"name": name, "store": store, "done": what}) + "\n")
    else:
        output.write(f"{output.clean(name)} is {what}{' in the ' + store if store else ''}\n")

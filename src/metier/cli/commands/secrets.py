"""`metier secrets`."""

from __future__ import annotations

import sys

from metier.cli.argv import CommandRow, Option, Values, cannot
from metier.cli.commands.setup import DEFAULT_STORE, NEVER_AN_ARGUMENT, accept_any_bytes, ask_hidden
from metier.cli.main import opened
from metier.cli.output import answer, clean, table
from metier.errors import NotFoundError, RefusedError, UsageError, closest
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.library import Library

NO_SECRETS = "No secrets are kept.\n\nnext: metier setup NAME, metier secrets set NAME\n"


def run(values: Values) -> None:
    """List names, keep a value, or forget one."""
    from metier.secrets.names import is_name

    verb, *rest = values.words or ["list"]
    verbs = {"list": _list, "set": _set, "unset": _unset}
    if verb not in verbs:  # what is near none may be a secret, so it is not repeated
        if closest(verb, verbs):
            raise cannot("secrets", verb, *verbs)
        raise UsageError(
            "unknown command of metier secrets", hint=f"choose one of: {', '.join(verbs)}"
        )
    if len(rest) != (verb != "list"):
        raise UsageError(
            f"metier secrets {verb} takes {'no' if verb == 'list' else 'one'} NAME",
            hint=NEVER_AN_ARGUMENT,
        )
    if rest and not is_name(rest[0]):
        raise UsageError("that is not the name of a variable", hint=NEVER_AN_ARGUMENT)
    with opened(values) as m:
        verbs[verb](m, values, "".join(rest))


def _list(m: Library, values: Values, _name: str) -> None:
    from metier.run import needs

    vault = m.vault()
    kept = vault.names()
    m.context.warnings += vault.faults()
    declared = needs.declared_by(m.context, kept)
    rows = [(name, vault.kind_of(name), declared[name]) for name in kept]
    found = [{"name": name, "store": store, "skills": skills} for name, store, skills in rows]
    answer(values, rows, _text, {"secrets": found})


def _text(rows: Sequence[tuple[str, str, Sequence[str]]]) -> str:
    lines = [(name, store, ", ".join(skills) or "(no skill)") for name, store, skills in rows]
    return table(lines, ("NAME", "STORE", "DECLARED BY")) or NO_SECRETS


def _set(m: Library, values: Values, name: str) -> None:
    from metier.run import needs
    from metier.secrets.names import own_name

    name = own_name(name)
    vault = m.vault()
    why = vault.refusal(name)
    if why:
        raise RefusedError(
            f"'{name}' is not kept: {why}",
            hint="a skill needs a name of its own for a key of its own",
        )
    store = values.text("store") or m.context.settings.secret_store or DEFAULT_STORE
    if store == "session":
        raise RefusedError(
            "the configuration keeps secrets in the session alone, and this command has none that "
            "would outlive it",
            code="session-store",
            hint="name a place: --store file or --store keyring",
        )
    vault.ready(store)
    needs.keep(m.context, name, _value(name), store)
    _report(values, name, store, "kept")


def _value(name: str) -> str:
    """Ask without echo on a terminal; otherwise take the one line of standard input."""
    from metier.secrets.names import MAX_VALUE_BYTES

    if sys.stdin is None:
        raise UsageError(
            "there is no terminal to ask on, and no standard input",
            hint="give the value on standard input",
        )
    if sys.stdin.isatty():
        return ask_hidden(f"{name}: ")
    accept_any_bytes()
    line = sys.stdin.readline(2 * MAX_VALUE_BYTES)
    if sys.stdin.read(1):
        raise UsageError(
            "standard input has more than one line", hint="give the value alone, on one line"
        )
    return line.rstrip("\r\n")


def _unset(m: Library, values: Values, name: str) -> None:
    from metier.run import needs
    from metier.secrets.names import own_name

    if not needs.drop(m.context, name):
        from metier.standard.names import did_you_mean

        meant = did_you_mean(name, m.vault().names())
        raise NotFoundError(
            f"no secret '{name}' is kept", hint=f"{meant}see their names: metier secrets list"
        )
    _report(values, own_name(name), "", "forgotten")


def _report(values: Values, name: str, store: str, what: str) -> None:
    said = f"{clean(name)} is {what}{f' in the {store}' if store else ''}\n"
    answer(values, {"name": name, "store": store, "done": what}, said)


ROWS = (
    CommandRow(
        "secrets",
        operands="[list|set|unset] [NAME...]",
        options=(
            Option(
                "--store",
                "where: in a file that only you can read, or the system's keyring",
                "STORE",
                choices=("file", "keyring"),
            ),
            Option("--yes", "accepted for scripts; nothing is asked that it could answer"),
        ),
        examples={
            "metier secrets list": "names, where each is kept and which skills declare it; never values",
            "metier secrets set OPENWEATHER_API_KEY": "asks without echo, or takes one line of standard input",
            "metier secrets unset OPENWEATHER_API_KEY": "forgets it",
        },
        private=True,
        run=run,
    ),
)

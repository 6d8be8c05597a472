"""Runs `metier login` and `metier logout`: which hubs you are known to."""

from __future__ import annotations

import sys

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.main import opened
from metier.cli.output import answer, clean
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.supply.hubs import HubLogin

MAX_TOKEN_CHARS = 4096


def run(values: Values) -> None:
    """Log in to a hub."""
    with opened(values) as m:
        token = values.text("token") or _asked_for(values.word)
        done = m.login(values.word, token.strip(), accept_key=values.flag("accept_key"))
    answer(values, done, _text, {**done._asdict(), "roles": _roles(done)})


def _asked_for(url: str) -> str:
    """Ask for a token on the terminal; in a script it may come on standard input."""
    if sys.stdin is None or sys.stdin.closed:
        return ""
    if sys.stdin.isatty():
        from metier.cli.commands.setup import ask_hidden

        return ask_hidden(f"Token for {clean(url)} (Enter for none): ")
    return sys.stdin.readline(MAX_TOKEN_CHARS)


def _roles(done: HubLogin) -> list[dict[str, str]]:
    return [{"role": role, "namespace": space} for role, space in done.roles]


def _text(done: HubLogin) -> str:
    roles = ", ".join(
        f"{clean(role)} in {clean(space)}" if space else clean(role) for role, space in done.roles
    )
    who = f"You are {clean(done.name)} ({roles})." if done.name else "You can read what is public."
    return f"logged in to {clean(done.url)} ({clean(done.hub)})\n{who}\nkey {clean(done.key)}\n"


def run_logout(values: Values) -> None:
    """Log out of a hub."""
    with opened(values) as m:
        base = m.logout(values.word)
    answer(values, {"url": base}, lambda _doc: f"logged out of {clean(base)}\n")


ROWS = (
    CommandRow(
        "login",
        operands="URL",
        options=(
            Option(
                "--token",
                "the token; without it you are asked, or it is read from standard input",
                "TOKEN",
            ),
            Option("--accept-key", "the hub's key changed, and you asked why"),
        ),
        examples={
            "metier login https://hub.example.org": "asks for your token without showing it",
            "metier login https://hub.example.org < token.txt": "in a script",
        },
        detail="The token is kept below METIER_HOME, where only you can read it, and sent to this hub "
        "alone. In CI set METIER_HUB_TOKEN instead. The hub's public key is kept the first time, and "
        "everything you install from there has to be signed with it.",
        private=True,
        run=run,
    ),
    CommandRow(
        "logout",
        operands="URL",
        examples={"metier logout https://hub.example.org": "forget the token"},
        private=True,
        run=run_logout,
    ),
)

"""Runs `metier login` and `metier logout`: which hubs you are known to."""

from __future__ import annotations

import sys
from functools import partial

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.main import opened
from metier.cli.output import answer, clean, note
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.supply.hub_login import LoginStep
    from metier.supply.hubs import HubLogin

MAX_TOKEN_CHARS = 4096


def run(values: Values) -> None:
    """Log in to a hub."""
    ask = partial(_asked_for, values.word) if _is_terminal() else None
    with opened(values) as m:
        done = m.login(
            values.word,
            (values.text("token") or _piped()).strip(),
            accept_key=values.flag("accept_key"),
            accept_log=values.flag("accept_log"),
            show=_show,
            ask=ask,
        )
    answer(values, done, _text, {**done._asdict(), "roles": _roles(done)})


def _is_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def _piped() -> str:
    """Give the token that comes on standard input in a script."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    return sys.stdin.readline(MAX_TOKEN_CHARS)


def _asked_for(url: str) -> str:
    """Ask for a token on the terminal."""
    from metier.cli.commands.setup import ask_hidden

    return ask_hidden(f"Token for {clean(url)} (Enter for none): ").strip()


def _show(step: LoginStep) -> None:
    """Say where to log in, and with which code."""
    note(f"open this page to log in: {step.url}")
    if step.code:
        note(f"and check that it shows this code, or type it there: {step.code}")


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
                "the token; without it you log in with your browser, are asked, or it is read from "
                "standard input",
                "TOKEN",
            ),
            Option("--accept-key", "the hub's key changed, and you asked why"),
            Option("--accept-log", "the past of its log of approvals changed, and you asked why"),
        ),
        examples={
            "metier login https://hub.example.org": "in your browser, where the hub has single sign-on",
            "metier login https://hub.example.org < token.txt": "in a script",
        },
        detail="Where the hub has a login provider, you are sent to its page, and get a token that "
        "ends after some hours. Else you are asked for one. The token is kept below METIER_HOME, "
        "where only you can read it, and sent to this hub alone. In CI set METIER_HUB_TOKEN instead. "
        "The hub's public key is kept the first time, and everything you install from there has to be "
        "signed with it.",
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

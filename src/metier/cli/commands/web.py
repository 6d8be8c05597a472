"""`metier web`."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.util import find_spec

from metier.cli import output
from metier.cli.argv import CommandRow, Option, Values
from metier.cli.main import opened
from metier.cli.output import note, write
from metier.errors import UsageError

NEEDED = ("starlette", "uvicorn", "jinja2", "markdown_it", "pygments")
MAX_PORT = 65_535


def run(values: Values) -> None:
    """Serve the page until Ctrl-C."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"{missing[0]} is not installed", code="web-missing", hint="pip install 'metier[web]'"
        )
    from metier.mcp.http_access import is_loopback, parse_address
    from metier.web import serve

    listen = values.optional("listen")
    if listen is not None and values.given("port"):
        raise UsageError("--listen has a port already", hint="leave --port away")
    host, port = (
        parse_address(listen, "--listen")
        if listen is not None
        else (serve.LOOPBACK, _port(values.text("port") or "0"))
    )
    beyond = not is_loopback(host)
    if beyond:
        note(
            f"warning: anybody who reaches {host} and learns the address can change your skills, and "
            "nothing on the way is encrypted"
        )

    def ready(url: str, browser: serve.BrowserDoor) -> None:
        write(f"metier web: {url}\n")
        sys.stdout.flush()  # whoever started this waits for the line
        if not values.flag("no_open") and not beyond:
            browser.open()

    with opened(values) as m:
        output.METERS.clear()  # nobody waits before a server
        m.context.progress = lambda _what, _count, _total: None
        with suppress(KeyboardInterrupt):  # Ctrl-C is how one ends it
            names = tuple(values.many("allow_host"))
            serve.serve(m, host, port, names=names, alone=True, ready=ready)


def _port(text: str) -> int:
    """Read a port; 0 means any that is free."""
    if not text.isascii() or not text.isdigit() or int(text[:9]) > MAX_PORT:
        raise UsageError(
            f"invalid port '{text[:20]}'",
            hint=f"--port takes a whole number from 0 to {MAX_PORT:,}",
        )
    return int(text)


ROWS = (
    CommandRow(
        "web",
        options=(
            Option("--port", "listen on this port (default: any that is free)", "N"),
            Option("--no-open", "print the address and open no browser"),
            Option(
                "--listen", "listen beyond this machine; read what that means first", "HOST:PORT"
            ),
            Option(
                "--allow-host",
                "with --listen: a name that the page is called by (may be repeated)",
                "NAME",
                repeat=True,
            ),
        ),
        examples={
            "metier web": "open the page in your browser",
            "metier web --port 8600 --no-open": "only print the address",
        },
        detail="The page is served on this machine alone, and only to a browser that has the "
        "token in the address. Stop it with Ctrl-C.",
        private=True,
        run=run,
    ),
)

"""`metier mcp`."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

from metier import cli
from metier.cli import output, supplied
from metier.cli.consent import agreed
from metier.errors import RefusedError, UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values
    from metier.mcp.clients import Client, Started
    from metier.mcp.configuring import Configured, Place

FOR_CONFIG = ("for", "write", "project", "dry_run")
"""Options that mean nothing to a server."""
APART = ("METIER_HOME", "METIER_CONFIG")
"""Variables that a client which is not started from this shell does not have."""


def run(values: Values) -> int:
    """Serve, or tell a client how to find the server."""
    words = supplied.words(values)
    if words and words[0] != "config":  # and it may be a token, so it is not repeated
        raise UsageError("metier mcp cannot do that", hint="it can: config; without a word it serves")
    return _config(values) if words else _serve(values)


# --- serving


def _serve(values: Values) -> int:
    for key in FOR_CONFIG:
        if values[key]:
            raise UsageError(f"--{key.replace('_', '-')} is for metier mcp config", hint="see: metier mcp --help")
    place = cli.text_of(values["http"])
    if place is None and (values["token_file"] or values["allow_host"]):
        raise UsageError("--token-file and --allow-host are for --http", hint="add --http HOST:PORT")
    missing = [name for name in ("mcp", "mcp_types", *(("uvicorn",) if place is not None else ())) if find_spec(name) is None]
    if missing == ["mcp_types"]:
        raise UsageError("the mcp that is installed is too old", code="mcp-missing", hint="pip install --upgrade 'metier[mcp]'")
    if missing:
        raise UsageError(f"{missing[0]} is not installed", code="mcp-missing", hint="pip install 'metier[mcp]'")
    with supplied.opened(values) as m:
        output.METERS.clear()  # nobody waits before a server
        m.progress = lambda _what, _count: None
        if place is None:
            _serve_stdio(m, scripts=not values["no_scripts"])
        else:
            _serve_http(m, values, place)
    return 0


def _serve_stdio(m: Library, *, scripts: bool) -> None:
    """Speak over the standard streams; a client that is gone is the usual end."""
    from metier.mcp import serving

    if sys.stdin is None:
        raise UsageError("there is no standard input to speak over", hint="a client starts metier mcp; see: metier mcp config")
    lost: list[BaseException] = []
    try:
        serving.stdio(m, scripts=scripts)
    except* OSError as group:
        lost += _leaves(group)
    if lost and not isinstance(lost[0], BrokenPipeError):
        raise output.UnwrittenError(getattr(lost[0], "strerror", "") or str(lost[0]))


def _leaves(group: BaseExceptionGroup[OSError]) -> list[BaseException]:
    """Give the errors that tasks ended with, out of the groups that they come in."""
    found: list[BaseException] = []
    for error in group.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found


def _serve_http(m: Library, values: Values, text: str) -> None:
    from metier.mcp import gatekeeping, http, tokens

    host, port = gatekeeping.place_of(text)
    file = cli.text_of(values["token_file"])
    if file is None and not gatekeeping.is_loopback(host):
        raise RefusedError("nothing beyond this machine is served without a token of your own", code="no-token",
                           hint="give --token-file FILE, or listen on 127.0.0.1")  # fmt: skip
    names = values["allow_host"]
    assert isinstance(names, list)
    token = tokens.given(_path(m, file)) if file is not None else tokens.own(m.data, m.home)

    def ready(url: str) -> None:
        output.note(f"metier serves MCP at {url} (the token is in {file if file is not None else tokens.file_of(m.data)})")
        if not gatekeeping.is_loopback(host):
            output.note("warning: this is not encrypted; put it behind a proxy with TLS where others share the network")

    http.serve(m, host, port, token, names=names, scripts=not values["no_scripts"], ready=ready)


def _path(m: Library, file: str) -> str:
    return os.path.join(m.cwd, os.path.expanduser(file))


# --- telling a client


def _config(values: Values) -> int:
    from metier.mcp import clients, configuring

    name = cli.text_of(values["for"])
    if not name:
        raise UsageError("say which client", hint=f"add --for and one of: {', '.join(one.id for one in clients.CLIENTS)}")
    if values["dry_run"] and not values["write"]:
        raise UsageError("--dry-run is for --write", hint="without --write nothing is done anyway")
    if values["allow_host"]:
        raise UsageError("--allow-host is for a server", hint="see: metier mcp --help")
    client = clients.client_named(name)
    with supplied.opened(values) as m:
        place = configuring.place_of(client, env=m.env, home=m.home, project=m.project if values["project"] else "")
        started = _started(m, values, client)
        found = _written(values, client, place, started) if values["write"] else configuring.shown(client, place, started)
        kept = _token_file(m, values) if started.token else ""
        apart = [name for name in APART if m.env.get(name)] if started.command else []
    if values["json"]:
        output.write(output.json_text(found) + "\n")
    else:
        _tell(found, values, kept)
        if apart:
            output.note(f"note: {' and '.join(apart)} must be set for the client too, as here")
    return 0


def _started(m: Library, values: Values, client: Client) -> Started:
    """Give how the client reaches the server: started as this metier was, with the same roots, or by its address."""
    from metier.mcp import configuring, gatekeeping, tokens
    from metier.mcp.clients import Started

    text = cli.text_of(values["http"])
    if text is None:
        agent = cli.text_of(values["agent"]) or client.agent
        roots = [word for root in m.given or () for word in ("--root", root.location)]
        without = values["no_scripts"] or not (client.runs or m.settings.mcp.run)
        words = (*(("--agent", agent) if agent else ()), *(("--no-scripts",) if without else ()), *roots)
        return Started((*configuring.command_here(), "mcp", *words))
    host, port = gatekeeping.place_of(text)
    if not port:
        raise UsageError("a client has to know the port", hint="write --http 127.0.0.1:7331, here and for the server")
    url, file = gatekeeping.url_of(host, port), cli.text_of(values["token_file"])
    made = file is not None or os.path.lexists(tokens.file_of(m.data))
    if not values["write"] or values["project"] or (values["dry_run"] and not made):  # a mere look makes none
        return Started(url=url, token=configuring.PLACEHOLDER)
    return Started(url=url, token=tokens.given(_path(m, file)) if file is not None else tokens.own(m.data, m.home))


def _token_file(m: Library, values: Values) -> str:
    from metier.mcp import tokens

    return cli.text_of(values["token_file"]) or tokens.file_of(m.data)


def _written(values: Values, client: Client, place: Place, started: Started) -> Configured:
    from metier.mcp import configuring

    first = configuring.configure(client, place, started, dry_run=True)
    if values["dry_run"] or not first.changed:
        return first
    if values["json"] and not values["yes"]:
        raise UsageError("a document cannot ask, so nothing was changed", hint="look first, then say it again with --yes")
    agreed(values, f"{output.clean(first.snippet, lines=True)}\nPut this into {output.clean(place.file)}?")
    return configuring.configure(client, place, started)


def _tell(found: Configured, values: Values, kept: str) -> None:
    file = output.clean(found.file)
    if not values["write"]:
        output.write(output.clean(found.snippet, lines=True).rstrip("\n") + "\n")
        output.note(f"this belongs in {found.file}; --write puts it there")
        if kept:
            output.note(f"the token in the place of TOKEN is in {kept}; --write puts it there too")
    elif not found.changed:
        output.write(f"{file} has it already\n")
    elif not found.written:
        output.write(f"{output.clean(found.snippet, lines=True)}\nthis would be put into {file}\n")
    else:
        output.write(f"{output.style('wrote', 'green')} {file}\n")
        if found.backup:
            output.write(f"what it was is in {output.clean(found.backup)}\n")
        output.write("\nnext: start the client anew\n")
    for note in found.notes:
        output.note(f"note: {note}")

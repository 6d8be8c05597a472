"""`metier mcp`."""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib.util import find_spec

from metier.cli import output
from metier.cli.argv import YES, CommandRow, Option, Values, cannot
from metier.cli.consent import refuse_to_ask, require_yes
from metier.cli.main import opened
from metier.cli.output import answer, clean, note, notes, style
from metier.errors import RefusedError, UsageError, closest
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from metier.library import Library
    from metier.mcp.client_config import ClientFile, Configured
    from metier.mcp.clients import McpClient, ServerEndpoint
    from metier.model import Texts

CONFIG_OPTIONS = ("for", "write", "project", "dry_run")
"""Options that mean nothing to a server."""
OWN_HOME_VARIABLES = ("METIER_HOME", "METIER_CONFIG")
"""Variables that a client which is not started from this shell does not have."""
MAX_NAMED = 8
"""How many skills a line names."""


def run(values: Values) -> None:
    """Serve, or tell a client how to find the server."""
    if values.words not in ([], ["config"]):
        if closest(values.word, ["config"]):
            raise cannot("mcp", values.word, "config")
        # what is near nothing may be a token, so it is not repeated
        raise UsageError(
            "unknown command of metier mcp",
            hint="metier mcp starts the server; metier mcp config sets up a client for it",
        )
    (_config if values.words else _serve)(values)


# --- serving


def _serve(values: Values) -> None:
    for key in CONFIG_OPTIONS:
        if values.flag(key):
            raise UsageError(
                f"--{key.replace('_', '-')} is for metier mcp config", hint="see: metier mcp --help"
            )
    place = values.optional("http")
    if place is None and (values.flag("token_file") or values.flag("allow_host")):
        raise UsageError(
            "--token-file and --allow-host are for --http", hint="add --http HOST:PORT"
        )
    wanted = ["mcp", "mcp_types"] if place is None else ["mcp", "mcp_types", "uvicorn"]
    missing = [name for name in wanted if find_spec(name) is None]
    if missing == ["mcp_types"]:
        raise UsageError(
            "the mcp that is installed is too old",
            code="mcp-missing",
            hint="pip install --upgrade 'metier[mcp]'",
        )
    if missing:
        raise UsageError(
            f"{missing[0]} is not installed", code="mcp-missing", hint="pip install 'metier[mcp]'"
        )
    with opened(values) as m:
        output.METERS.clear()  # nobody waits before a server
        m.context.progress = lambda _what, _count, _total: None
        for server in m.join_upstreams(values.many("upstream")):
            if server.place.startswith("stdio:"):
                command = clean(server.place.removeprefix("stdio:"))
                note(f"upstream {server.name}: started outside the sandbox: {command}")
        if place is None:
            _serve_stdio(m, values)
        else:
            _serve_http(m, values, place)


def _serve_stdio(m: Library, values: Values) -> None:
    """Speak over the standard streams; a client that is gone is the usual end."""
    from metier.mcp import server

    if sys.stdin is None:
        raise UsageError(
            "there is no standard input to speak over",
            hint="a client starts metier mcp; see: metier mcp config",
        )
    lost: BaseException | None = None
    try:
        server.serve_stdio(m, scripts=not values.flag("no_scripts"), beside=values.text("beside"))
    except* OSError as group:
        lost = group
    while isinstance(lost, BaseExceptionGroup):  # tasks end with errors in groups
        lost = lost.exceptions[0]
    if lost and not isinstance(lost, BrokenPipeError):
        raise output.UnwrittenError(getattr(lost, "strerror", "") or str(lost))


def _serve_http(m: Library, values: Values, text: str) -> None:
    from metier.mcp import http, http_access, server

    host, port = http_access.parse_address(text)
    file = values.optional("token_file")
    if file is None and not http_access.is_loopback(host):
        raise RefusedError(
            "nothing beyond this machine is served without a token of your own",
            code="no-token",
            hint="give --token-file FILE, or listen on 127.0.0.1",
        )
    token = _token(m, file)

    def ready(url: str) -> None:
        note(
            f"metier serves MCP at {url} (the token is in "
            f"{file if file is not None else http_access.token_file(m.context.data)})"
        )
        if not http_access.is_loopback(host):
            note(
                "warning: this is not encrypted; put it behind a proxy with TLS where others "
                "share the network"
            )

    names = values.many("allow_host")
    scripts = not values.flag("no_scripts")
    make = partial(server.make_server, m, "http", scripts=scripts, beside=values.text("beside"))
    http.serve(make, host, port, token, names=names, ready=ready)


def _token(m: Library, file: str | None) -> str:
    """Read the token from the file that was named, or take metier's own."""
    from metier.mcp import http_access

    if file is None:
        return http_access.own_token(m.context.data, m.context.home)
    return http_access.read_token(os.path.join(m.context.cwd, os.path.expanduser(file)))


# --- telling a client


def _config(values: Values) -> None:
    from metier.mcp import client_config, clients, http_access

    name = values.text("for")
    write = values.flag("write")
    if not name:
        raise UsageError(
            "say which client",
            hint=f"add --for and one of: {', '.join(one.id for one in clients.CLIENTS)}",
        )
    if values.flag("dry_run") and not write:
        raise UsageError("--dry-run is for --write", hint="without --write nothing is done anyway")
    if values.flag("allow_host"):
        raise UsageError("--allow-host is for a server", hint="see: metier mcp --help")
    client = clients.client_named(name)
    with opened(values) as m:
        place = client_config.client_file(
            client,
            env=m.context.env,
            home=m.context.home,
            project=m.context.project if values.flag("project") else "",
        )
        skills = _divided_skills(m, _beside(values, client))
        started = _endpoint(m, values, client)
        found = (
            _write_config(values, client, place, started)
            if write
            else client_config.preview(client, place, started)
        )
        found = found._replace(**skills)
        kept = values.text("token_file") or http_access.token_file(m.context.data)
        apart = [name for name in OWN_HOME_VARIABLES if m.context.env.get(name)]
    snippet = clean(found.snippet, lines=True).rstrip("\n") + "\n"
    answer(values, found, _written_text(found) if write else snippet, raw=not write)
    if values.json:
        return
    if not write:
        note(f"this belongs in {found.file}; --write puts it there")
        if started.token:
            note(f"the token in the place of TOKEN is in {kept}; --write puts it there too")
    notes((*found.notes, *_division(found, values.text("http"))))
    if apart and started.command:
        note(f"note: {' and '.join(apart)} must be set for the client too, as here")


def _endpoint(m: Library, values: Values, client: McpClient) -> ServerEndpoint:
    """Give how the client reaches the server: started as this metier was, with the same roots, or
    by its address.
    """
    from metier.mcp import client_config, http_access
    from metier.mcp.clients import ServerEndpoint

    text = values.optional("http")
    if text is None:
        beside = _beside(values, client)
        agent = values.text("agent")
        roots = [word for root in m.context.given or () for word in ("--root", root.location)]
        without = values.flag("no_scripts") or not (client.runs or m.context.settings.mcp.run)
        words = ["--agent", agent] if agent else []
        words += ["--beside", beside] if beside else []
        words += ["--no-scripts"] if without else []
        words += [word for one in values.many("upstream") for word in ("--upstream", one)]
        return ServerEndpoint((*client_config.command_here(), "mcp", *words, *roots))
    host, port = http_access.parse_address(text)
    if not port:
        raise UsageError(
            "a client has to know the port",
            hint="write --http 127.0.0.1:7331, here and for the server",
        )
    url = http_access.url_of(host, port)
    file = values.optional("token_file")
    made = file is not None or os.path.lexists(http_access.token_file(m.context.data))
    unmade = values.flag("dry_run") and not made  # a mere look makes none
    if not values.flag("write") or values.flag("project") or unmade:
        return ServerEndpoint(url=url, token=client_config.TOKEN_PLACEHOLDER)
    return ServerEndpoint(url=url, token=_token(m, file))


def _beside(values: Values, client: McpClient) -> str:
    """Give the agent whose own skills the server leaves out: the client's, unless another is
    named.
    """
    return values.text("beside") or client.agent


def _divided_skills(m: Library, beside: str) -> dict[str, Any]:
    """Give which skills the client's agent reads by itself, and which the server adds."""
    from metier.disclose.offer import agent_beside, audience_of, had_paths, is_reserved

    agent = agent_beside(m.context, beside)
    if agent is None:
        return {}
    had = had_paths(m.context, agent)
    reserved = audience_of(m.context, "stdio").reserved
    shown = [card for card in m.skills() if not is_reserved(card, reserved)]
    return {
        "agent": agent.id,
        "has": tuple(sorted({card.name for card in shown if card.path in had})),
        "serves": tuple(sorted({card.name for card in shown if card.path not in had})),
    }


def _division(found: Configured, place: str) -> list[str]:
    """Say in lines which skills the client has by itself, and which come from the server."""
    from metier.discover.agents import agent_asked

    agent = agent_asked(found.agent)
    if agent is None:
        return []
    lines = [
        f"here {agent.title} reads {_counted(found.has, ' by itself')}",
        f"the server leaves those out, and adds {_counted(found.serves)}",
    ]
    if place:
        lines.append(f"start the server with: metier mcp --http {place} --beside {agent.id}")
    return lines


def _counted(names: Texts, how: str = "") -> str:
    """Give how many there are, and the first by name."""
    if not names:
        return f"no skills{how}"
    more = len(names) - MAX_NAMED
    listed = ", ".join(clean(name) for name in names[:MAX_NAMED])
    rest = f" and {more} more" if more > 0 else ""
    return f"{len(names)} skill{'s' if len(names) > 1 else ''}{how}: {listed}{rest}"


def _write_config(
    values: Values, client: McpClient, place: ClientFile, started: ServerEndpoint
) -> Configured:
    from metier.mcp import client_config

    first = client_config.configure(client, place, started, dry_run=True)
    if values.flag("dry_run") or not first.changed:
        return first
    if not values.flag("yes"):
        refuse_to_ask(values)
    snippet = f"{clean(first.snippet, lines=True)}\n"  # as it will be written, long paths and all
    require_yes(values, f"Put this into {clean(place.file)}?", above=snippet)
    return client_config.configure(client, place, started)


def _written_text(found: Configured) -> str:
    file = clean(found.file)
    if not found.changed:
        return f"{file} has it already\n"
    if not found.written:
        return f"{clean(found.snippet, lines=True)}\nthis would be put into {file}\n"
    backup = f"what it was is in {clean(found.backup)}\n" if found.backup else ""
    return f"{style('wrote', 'green')} {file}\n{backup}\nnext: start the client anew\n"


ROWS = (
    CommandRow(
        "mcp",
        operands="[config]",
        options=(
            Option(
                "--http",
                "over HTTP instead of standard input and output; with config: where the client "
                "finds it",
                "HOST:PORT",
            ),
            Option(
                "--token-file",
                "take the token from this file; needed to listen beyond this machine",
                "FILE",
            ),
            Option(
                "--allow-host",
                "with --http: a further name that it is called by (may be repeated)",
                "NAME",
                repeat=True,
            ),
            Option(
                "--no-scripts",
                "leave out skills that bring scripts: for a client that cannot run them",
            ),
            Option(
                "--upstream",
                "join the skills of another MCP server, as NAME:SKILL (may be repeated); the address "
                "may be stdio:COMMAND",
                "NAME=URL",
                repeat=True,
            ),
            Option(
                "--beside",
                "leave out the skills that this agent reads by itself, so that it has none twice "
                "(config: the client's own)",
                "AGENT",
            ),
            Option(
                "--for",
                "with config: the client (claude-code, codex, cursor, vscode, ...)",
                "CLIENT",
            ),
            Option("--write", "with config: put it into the client's own file, with a backup"),
            Option("--project", "with config: the file of this project instead of yours"),
            Option("--dry-run", "with --write: say what would be done, and do nothing"),
            YES,
        ),
        examples={
            "metier mcp": "over standard input and output, as clients start it",
            "metier mcp config --for claude-code": "what to put into that client's file",
            "metier mcp config --for codex --write": "put it there; what was there is kept beside it",
            "metier mcp --beside codex": "only what Codex does not read by itself",
            "metier mcp --http 127.0.0.1:7331": "for all clients of this machine, with a token",
            "metier mcp --upstream docs=https://docs.example.com/mcp": "serve another server's skills too, scanned and pinned",
            "metier mcp config --for cursor --http 127.0.0.1:7331 --write": "the address and the token of that server",
        },
        detail="Agents get what may be used, and nothing else; see the settings of 'mcp'. "
        "Over HTTP each request needs the token,\n"
        "which is made once and kept in mcp/token below METIER_HOME; it is never "
        "printed.",
        private=True,
        run=run,
    ),
)

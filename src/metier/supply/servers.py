"""Knows the MCP servers that skills come from, and how each of them is reached.

A server of the user's own configuration may be in a private network, may have a token, and may be a
command. Of any other the rules for all sources hold: a command that only a lock names is never
started, and no token goes anywhere but to the server that it was named for.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from metier.errors import ConfigError, MetierError, RefusedError
from metier.supply.safe_names import printable
from metier.supply.sources.addresses import parse_url
from metier.supply.sources.proxies import safe_proxies
from metier.supply.sources.source_name import COMMAND, MCP, command_words, server_place

if TYPE_CHECKING:
    from metier.context import Context
    from metier.settings.model import UpstreamServer
    from metier.supply.io.mcp_client import McpLine
    from metier.supply.io.mcp_source import OpenLine
    from metier.supply.model import Request

PASSED_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "TZ", "TERM")
"""What a command gets of the environment, beside its own token: never another's."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_VISIBLE = range(0x21, 0x7F)


def known_servers(context: Context) -> dict[str, UpstreamServer]:
    """Give the servers that the user named, by name; what was named for this process comes first."""
    found = {}
    for one in (*context.settings.mcp.upstreams, *context.upstreams):
        try:
            found[one.name] = one._replace(place=server_place(one.place))
        except MetierError as error:
            raise ConfigError(
                f"the upstream '{one.name}' can't be reached: {error.message}", hint=error.hint
            ) from error
    return found


def source_of(server: UpstreamServer) -> str:
    """Give a server as the lock and the trust policy name it."""
    return MCP + server.place


def opener_for(context: Context, request: Request) -> OpenLine:
    """Give what connects to the server that a request names."""
    known = (one for one in known_servers(context).values() if one.place == request.location)
    return partial(open_line, context, request.location, next(known, None))


def open_line(
    context: Context, place: str, known: UpstreamServer | None, seconds: float | None = None
) -> McpLine:
    """Connect to a server. One that the user's configuration names is `known`."""
    limits = context.settings.supply
    seconds = limits.seconds if seconds is None else seconds
    secret = _secret(context, known) if known is not None else ""
    if place.startswith(COMMAND):
        return _command(context, place, known, secret, seconds)
    from metier.supply.io.http import HttpClient
    from metier.supply.io.mcp_client import HttpLine

    at = parse_url(place)
    if known is not None:
        if (
            at.scheme != "https"
            and at.host not in _LOOPBACK
            and at.place not in limits.private_hosts
        ):
            raise ConfigError(
                f"the upstream '{known.name}' would be asked without encryption",
                hint="write https://, or name the host in supply.private_hosts",
            )
        limits = limits._replace(private_hosts=(*limits.private_hosts, at.place))
    headers = {}
    if known is not None and secret:
        headers = {known.header: secret} if known.header else {"Authorization": f"Bearer {secret}"}
    env = safe_proxies(at.scheme, context.env)
    return HttpLine(HttpClient(limits, named=(at.place,), seconds=seconds, env=env), place, headers)


def _secret(context: Context, known: UpstreamServer) -> str:
    if not known.token:
        return ""
    secret = context.secret_named(known.token).strip()
    if not secret:
        raise ConfigError(
            f"the token of the upstream '{known.name}' is missing: {known.token} has no value",
            hint=f"set the variable, or run: metier secrets set {known.token}",
        )
    header = known.header.replace("-", "a")
    odd = header and not (header.isascii() and header.isalnum())
    if odd or any(ord(letter) not in _VISIBLE for letter in secret):
        raise ConfigError(
            f"the token of the upstream '{known.name}' can't be sent in a header",
            hint="a token has neither blanks nor lines, and a header is letters and dashes",
        )
    return secret


def _command(
    context: Context, place: str, known: UpstreamServer | None, secret: str, seconds: float
) -> McpLine:
    from metier.supply.io.mcp_client import CommandLine

    if known is None and not context.may_start(place.removeprefix(COMMAND)):
        raise RefusedError(
            f"the command '{printable(place.removeprefix(COMMAND))}' was not started: it would run "
            "outside the sandbox, and nobody said yes to it",
            hint="name it under [mcp.upstreams] in your configuration if you trust it",
            code="command",
        )
    env = {name: context.env[name] for name in PASSED_VARIABLES if name in context.env}
    if known is not None and secret:
        env[known.token] = secret
    return CommandLine(command_words(place), env, context.home or "/", seconds)

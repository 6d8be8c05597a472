"""Running the hub from a browser: a namespace's settings, policy, tokens, roles, the audit log and
how often skills are installed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from metier.errors import UsageError
from metier.hub import accounts, audit_log, authorize, namespaces
from metier.hub.model import ROLES
from metier.hub.namespaces import ANSWERS, DAYS, LEVELS, MAX_DAYS
from metier.hub.pages.browse import number_in
from metier.hub.pages.page import (
    ask,
    check_seen,
    field,
    hub_of,
    mark_of,
    page_route,
    see_other,
    show_page,
    visitor_of,
)
from metier.hub.pages.skill_page import bars_of
from metier.hub.usage import installs_by_day, installs_by_skill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from metier.hub.hub import Hub
    from metier.hub.model import Caller, Namespace

MAX_EVENTS = 100
MAX_QUOTA_MB = 10**9
BYTES_OF_MB = 1_000_000
DIGEST_CHARS = 19
"""Of a digest, as much as tells it from others: sha256: and twelve more."""
MAX_DETAIL_CHARS = 300


# --- a namespace


def look_at_settings(
    hub: Hub, caller: Caller, name: str
) -> tuple[Namespace, dict[str, Any], dict[str, Any]]:
    """Give a namespace to whoever may change it, with the hub's policy and the one that holds there."""
    with hub.database.read() as connection:
        space = namespaces.need_namespace(connection, caller, name, "manage")
        return space, namespaces.hub_policy(connection), namespaces.policy_of(connection, space)


def _settings_of(space: Namespace) -> list[Any]:
    return [space.visibility, space.state, dict(space.policy), space.quota_bytes]


async def show_settings(request: Request) -> Response:
    """Show what of a namespace can be changed."""
    space, whole, holds = await ask(request, look_at_settings, request.path_params["ns"])
    caller = visitor_of(request).caller
    stricter = {
        level: [one for one in ANSWERS if ANSWERS.index(one) > ANSWERS.index(whole[level])]
        for level in LEVELS
    }
    return show_page(
        request,
        "settings.html",
        title=f"Settings of {space.name}",
        space=space,
        whole=whole,
        holds=holds,
        stricter=stricter,
        levels=LEVELS,
        seen=mark_of(_settings_of(space)),
        may_set_quota=authorize.may(caller, "administer", None),
    )


async def change_settings(request: Request) -> Response:
    """Change a namespace, unless somebody else did in the meantime."""
    name = request.path_params["ns"]
    space, _whole, _holds = await ask(request, look_at_settings, name)
    check_seen(request, _settings_of(space))
    if field(request, "part") == "policy":
        policy = {part: told for part, told in _read_policy(request).items() if told}
        kept = {name: space.policy[name] for name in DAYS if name in space.policy}
        wish: dict[str, Any] = {"policy": {**kept, **policy}}
    else:
        wish = {
            part: field(request, part) for part in ("visibility", "state") if field(request, part)
        }
        quota = field(request, "quota").strip()
        if quota:
            wish["quota_bytes"] = _number(quota, MAX_QUOTA_MB) * BYTES_OF_MB
    await ask(request, namespaces.change_namespace, name, wish)
    return see_other(f"/ns/{name}/settings?done=saved")


def _number(text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):
        raise UsageError(f"'{text[:40]}' is no number from 0 to {most:,}", hint="use digits")
    return int(text)


def _read_policy(request: Request) -> dict[str, Any]:
    """Read a policy from a form; what is left as it is does not appear in it."""
    form: Mapping[str, list[str]] = request.scope["form"]
    found: dict[str, Any] = {
        name: field(request, name) for name in (*LEVELS, "signature") if field(request, name)
    }
    if "two_person_told" in form:
        found["two_person"] = [one for one in LEVELS if one in form.get("two_person", [])]
    return found


async def _settings(request: Request) -> Response:
    return await (change_settings(request) if request.method == "POST" else show_settings(request))


# --- policy


def look_at_policy(hub: Hub, caller: Caller) -> dict[str, Any]:
    """Give the hub's policy to its members."""
    if caller.kind == "nobody":
        raise authorize.forbidden("only members of the hub see its policy")
    with hub.database.read() as connection:
        return namespaces.hub_policy(connection)


async def show_policy(request: Request) -> Response:
    """Show the policy of the hub, and which namespaces are stricter."""
    found = await ask(request, look_at_policy)
    spaces = await ask(request, namespaces.list_namespaces)
    return show_page(
        request,
        "policy.html",
        title="Policy",
        policy=found,
        seen=mark_of(found),
        levels=LEVELS,
        answers=ANSWERS,
        stricter=[one for one in spaces if one.policy],
        may_change=authorize.may(visitor_of(request).caller, "administer", None),
    )


async def change_policy(request: Request) -> Response:
    """Change the policy of the hub, unless somebody else did in the meantime."""
    check_seen(request, await ask(request, look_at_policy))
    await ask(request, namespaces.adjust_policy, _read_policy(request))
    return see_other("/policy?done=saved")


async def _policy(request: Request) -> Response:
    return await (change_policy(request) if request.method == "POST" else show_policy(request))


# --- tokens


async def show_tokens(request: Request) -> Response:
    """List the tokens that somebody may manage, with a form for another one."""
    found = await ask(request, accounts.list_tokens)
    spaces = await ask(request, namespaces.list_namespaces)
    caller = visitor_of(request).caller
    return show_page(
        request,
        "tokens.html",
        title="Tokens",
        tokens=found,
        roles=ROLES,
        spaces=[one.name for one in spaces if authorize.may(caller, "manage", one)],
        everywhere=authorize.may(caller, "administer", None),
    )


async def add_token(request: Request) -> Response:
    """Make a token, and show it: this once."""
    days = _number(field(request, "days").strip() or "0", MAX_DAYS)
    made = await ask(
        request,
        accounts.add_token,
        name=field(request, "name").strip(),
        role=field(request, "role"),
        namespace=field(request, "namespace"),
        expires_at=hub_of(request).now() + days * 86_400 if days else 0,
    )
    local = visitor_of(request).caller.kind == "local"
    return show_page(request, "token_made.html", title="A new token", made=made, local=local)


async def revoke_token(request: Request) -> Response:
    """Let a token open nothing any more."""
    await ask(request, accounts.revoke_token, request.path_params["ident"])
    return see_other("/tokens?done=revoked")


async def _tokens(request: Request) -> Response:
    return await (add_token(request) if request.method == "POST" else show_tokens(request))


# --- roles


async def show_grants(request: Request) -> Response:
    """Show who has which role, and who has logged in."""
    return show_page(
        request,
        "grants.html",
        title="Roles",
        grants=await ask(request, accounts.list_grants),
        people=await ask(request, accounts.list_people),
        roles=ROLES,
        spaces=[one.name for one in await ask(request, namespaces.list_namespaces)],
        groups=list((await ask(request, namespaces.list_organisations)).values()),
        has_provider=bool(hub_of(request).options.issuer),
    )


async def change_grant(request: Request) -> Response:
    """Give a role, or take it away."""
    listed = field(request, "act") != "remove"
    where = field(request, "where")
    kind, _colon, name = where.partition(":")
    await ask(
        request,
        accounts.set_grant,
        kind=field(request, "kind"),
        who=field(request, "who").strip(),
        role=field(request, "role"),
        namespace=name if kind == "namespace" else "",
        organisation=name if kind == "organisation" else "",
        listed=listed,
    )
    return see_other(f"/grants?done={'granted' if listed else 'taken'}")


async def _grants(request: Request) -> Response:
    return await (change_grant(request) if request.method == "POST" else show_grants(request))


# --- what happened


def details_of(detail: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Give what an event says beside who did what, in a few words."""
    told = []
    for name, value in detail.items():
        text = value if isinstance(value, str) else json.dumps(value)
        if name == "digest":
            text = text[:DIGEST_CHARS]
        if text not in {"", "0", "false"}:
            told.append(
                (name, text if len(text) <= MAX_DETAIL_CHARS else text[:MAX_DETAIL_CHARS] + "…")
            )
    return told


async def show_audit(request: Request) -> Response:
    """Show the audit log, narrowed by who, what and about what."""
    told = request.query_params
    query = audit_log.AuditQuery(
        who=told.get("who", "")[:200],
        what=told.get("what", "")[:100],
        about=told.get("about", "")[:200],
        before=number_in(request, "at", 10**9),
        limit=MAX_EVENTS + 1,
    )
    found = await ask(request, audit_log.list_events, query)
    events = found[:MAX_EVENTS]
    return show_page(
        request,
        "audit.html",
        title="Audit",
        events=events,
        details=details_of,
        query=query,
        kinds=await ask(request, audit_log.event_kinds),
        kept={"who": query.who, "what": query.what, "about": query.about},
        after=events[-1]["id"] if len(found) > MAX_EVENTS else 0,
    )


async def show_usage(request: Request) -> Response:
    """Show how often skills were installed, by day and by skill."""
    name = request.query_params.get("namespace", "")[:100]
    days = await ask(request, installs_by_day, name)
    spaces = await ask(request, namespaces.list_namespaces)
    return show_page(
        request,
        "usage.html",
        title="Usage",
        days=days,
        bars=bars_of(days),
        rows=await ask(request, installs_by_skill, name),
        spaces=[one.name for one in spaces],
        chosen=name,
    )


ROUTES = [
    page_route("/ns/{ns}/settings", _settings, ("GET", "POST")),
    page_route("/policy", _policy, ("GET", "POST")),
    page_route("/tokens", _tokens, ("GET", "POST")),
    page_route("/tokens/{ident:int}/revoke", revoke_token, ("POST",)),
    page_route("/grants", _grants, ("GET", "POST")),
    page_route("/audit", show_audit),
    page_route("/usage", show_usage),
]

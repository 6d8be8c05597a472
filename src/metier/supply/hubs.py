"""Hubs that you use: logging in and out, which hub a name means, and searching them.

The first time you meet a hub its public key is kept. From then on everything that the hub approved has
to be signed with that key.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import (
    AmbiguousError,
    MetierError,
    NotFoundError,
    RefusedError,
    StoreError,
    UsageError,
)
from metier.supply.io.hub_client import HubClient
from metier.supply.io.hubs_file import KnownHub, change_hubs, read_hubs
from metier.supply.model import SearchResult
from metier.supply.sources.hub_names import HUB, HUB_AT, HubPlace, hub_base, hubs_among, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from metier.context import Context
    from metier.model import Trust
    from metier.supply.approvals import SeenHead
    from metier.supply.hub_login import ShowLogin
    from metier.supply.model import Request

TOKEN_VARIABLE = "METIER_HUB_TOKEN"  # noqa: S105 - the name of a variable
MAX_TEXT_CHARS = 1024


class HubLogin(NamedTuple):
    """A hub that you are known to."""

    url: str
    hub: str
    """What it calls itself."""
    name: str
    """What it calls you; nothing where it has no accounts, or you gave no token."""
    roles: tuple[tuple[str, str], ...]
    """Each role with its namespace or organisation, which is empty for all of them."""
    key: str
    """The id of its key."""


def client_for(context: Context, base: str, token: str | None = None) -> HubClient:
    """Give who asks a hub, with your token where you have one."""
    if token is None:
        known = read_hubs(context).get(base)
        token = context.env.get(TOKEN_VARIABLE, "").strip() or (known.token if known else "")
    return HubClient(base, token, context.settings.supply, context.env, context.progress)


def login(
    context: Context,
    url: str,
    token: str = "",
    *,
    accept_key: bool = False,
    accept_log: bool = False,
    show: ShowLogin | None = None,
    ask: Callable[[], str] | None = None,
) -> HubLogin:
    """Get to know a hub, and keep the token where one is given. Where none is, the user logs in
    through the hub's provider if it has one, and `show` tells them what to do; else `ask` asks them.
    Another key and logs with another past are accepted each by itself: who takes over a hub's place
    has neither.
    """
    base = hub_base(url)
    client = client_for(context, base, token)
    about = client.about()
    _check_key(context, base, str(about["key"]), accept_key=accept_key)
    if not token and show is not None and about.get("oidc"):
        from metier.supply.hub_login import token_from_provider

        token = token_from_provider(client, show)
    elif not token and ask is not None and about.get("accounts"):
        token = ask()
    client = client_for(context, base, token)
    who = client.get("/whoami") if token or not about.get("accounts") else {}
    change_hubs(
        context,
        lambda hubs: {
            **hubs,
            base: KnownHub(str(about["key"]), token, {} if accept_log else _logs_in(hubs, base)),
        },
    )
    log.record(context, "login", "done", path=base, key=str(about["key_id"]))
    roles = who.get("roles")
    return HubLogin(
        url=base,
        hub=_text(about, "name"),
        name=_text(who, "name"),
        roles=tuple(
            (_text(one, "role"), _text(one, "namespace") or _text(one, "organisation"))
            for one in (roles if isinstance(roles, list) else [])
            if isinstance(one, dict)
        ),
        key=_text(about, "key_id"),
    )


def logout(context: Context, url: str) -> str:
    """Forget the token of a hub, and have the hub forget a login; its key stays known."""
    base = hub_base(url)
    token = read_hubs(context).get(base, KnownHub("")).token
    if not token:
        raise NotFoundError(
            f"you are not logged in to {base}", hint=f"to log in: metier login {base}"
        )
    with suppress(MetierError):  # a hub that is away forgets it when it ends
        client_for(context, base, token).send_json("POST", "/logout", {})
    change_hubs(context, lambda hubs: {**hubs, base: hubs[base]._replace(token="")})
    log.record(context, "logout", "done", path=base)
    return base


def meet(context: Context, base: str) -> str:
    """Give the key that a hub is known by; the first time it is asked for it."""
    known = read_hubs(context).get(base)
    if known is not None and known.key:
        return known.key
    key = str(client_for(context, base).about()["key"])
    change_hubs(
        context,
        lambda hubs: {**hubs, base: hubs.get(base, KnownHub(""))._replace(key=key)},
    )
    return key


def known_head(context: Context, base: str, namespace: str) -> SeenHead | None:
    """Give where a namespace's log of approvals ended when it was last seen."""
    return _logs_in(read_hubs(context), base).get(namespace)


def keep_head(context: Context, base: str, namespace: str, head: SeenHead) -> None:
    """Remember where a log ended, so that nobody changes its past unseen. Where nothing can be written,
    as in some CI, nothing is remembered.
    """
    if known_head(context, base, namespace) == head:
        return

    def change(hubs: dict[str, KnownHub]) -> dict[str, KnownHub]:
        known = hubs.get(base, KnownHub(""))
        before = known.logs.get(namespace)
        if before is not None and before.size > head.size:  # another process saw more of it
            return hubs
        return {**hubs, base: known._replace(logs={**known.logs, namespace: head})}

    with suppress(StoreError):
        change_hubs(context, change)


def _logs_in(hubs: Mapping[str, KnownHub], base: str) -> Mapping[str, SeenHead]:
    return hubs.get(base, KnownHub("")).logs


def _check_key(context: Context, base: str, key: str, *, accept_key: bool) -> None:
    known = read_hubs(context).get(base)
    if known is None or not known.key or known.key == key or accept_key:
        return
    raise RefusedError(
        f"{base} has another key than the one you know it by",
        code="hub-key-changed",
        hint="ask its admins whether they changed it. Then: metier login URL --accept-key",
    )


# --- which hub


def known_bases(context: Context) -> list[str]:
    """Give the hubs that you know: those among your taps first, then those you logged in to."""
    tapped = hubs_among(context.settings.supply.taps)
    return list(dict.fromkeys([*tapped, *read_hubs(context)]))


def settle_place(context: Context, request: Request) -> Request:
    """Give a request that names its hub: `hub:NAMESPACE/NAME` is looked for in those you know."""
    place = place_of(request.location)
    if place.base:
        return request
    bases = known_bases(context)
    if not bases:
        raise UsageError(
            "you know no hub yet",
            code="no-hub",
            hint="log in to one: metier login URL, or metier tap add URL",
        )
    if len(bases) > 1:
        bases = _having(context, bases, place)
    found = place._replace(base=bases[0])
    return request._replace(location=found.location)


def _having(context: Context, bases: Sequence[str], place: HubPlace) -> list[str]:
    """Give the one hub that has a skill; several are for the user to choose from. Where one does not
    answer, none is taken: it may be the one that is meant, and anybody could have the name elsewhere.
    """
    found = []
    failed: MetierError | None = None
    for base in bases:
        try:
            client_for(context, base).get(f"/skills/{place.namespace}/{place.name}")
            found.append(base)
        except NotFoundError:
            continue
        except MetierError as error:
            failed = error
    if failed is not None and found:
        other = f"{HUB_AT}{found[0]}/{place.namespace}/{place.name}"
        raise RefusedError(
            f"one of your hubs could not say whether it has {place.namespace}/{place.name}: "
            f"{failed.message}",
            code=failed.code,
            hint=f"try again later, or name the hub that you mean: {other}",
        )
    if failed is not None:
        raise failed
    if len(found) == 1:
        return found
    if found:
        named = [f"{HUB_AT}{base}/{place.namespace}/{place.name}" for base in found]
        raise AmbiguousError(
            f"{len(found)} hubs have {place.namespace}/{place.name}",
            hint=f"choose one: {', '.join(named)}",
        ).with_details(hubs=named)
    raise NotFoundError(
        f"none of your {len(bases)} hubs has {place.namespace}/{place.name}",
        hint="check the name, and whether you are logged in: metier login URL",
    )


def only_base(context: Context) -> str:
    """Give the only hub that you know."""
    bases = known_bases(context)
    if len(bases) == 1:
        return bases[0]
    raise UsageError(
        "say which hub you mean" if bases else "you know no hub yet",
        code="no-hub",
        hint="write --to URL/NAMESPACE" if bases else "log in to one: metier login URL",
    )


def as_hub_tap(context: Context, url: str) -> str:
    """Give the address of a hub as a tap, once it has answered as one."""
    base = hub_base(url)
    meet(context, base)
    return f"{HUB_AT}{base}"


class HubSeeker(NamedTuple):
    """Searches one hub."""

    context: Context
    source: str
    """The tap as the configuration has it."""
    level: Callable[[str], Trust]

    def search(self, words: str, limit: int) -> Sequence[SearchResult]:
        """Give the skills that the hub finds."""
        base = hubs_among([self.source])[0]
        told = client_for(self.context, base).get("/search", q=words, limit=min(limit, 100))
        rows = told.get("results")
        several = len(known_bases(self.context)) > 1
        found = []
        for row in rows if isinstance(rows, list) else []:
            if not isinstance(row, dict):
                continue
            place = HubPlace(base, _text(row, "namespace"), _text(row, "name"))
            source = (
                f"{HUB_AT}{place.location}" if several else f"{HUB}{place.namespace}/{place.name}"
            )
            level = self.level(f"{HUB_AT}{place.location}")
            found.append(SearchResult(place.name, _text(row, "description"), source, level))
        return found


def _text(told: dict[str, object], name: str) -> str:
    found = told.get(name)
    return " ".join(found.split())[:MAX_TEXT_CHARS] if isinstance(found, str) else ""

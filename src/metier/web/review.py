"""What waits for a person: the queue, and one candidate of it in all its versions, with accept,
reject and edit.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from starlette.routing import Route

from metier.errors import MetierError, RefusedError, UsageError
from metier.standard.characters import escape_for_terminal
from metier.web.file_view import diff_lines
from metier.web.project import note_project
from metier.web.render import page, see_other, site_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from metier.library import Library
    from metier.model import Card, Finding
    from metier.plugins.model import ReviewCandidate, Reviewed
    from metier.review.sides import ReviewSides
    from metier.supply.merge.marked import RegionChoice
    from metier.web.site import Site

MAX_ASKING_SHOWN = 100
MAX_WAITING_SHOWN = 500
MAX_REGIONS = 10_000
OPEN = ("open", "accepted")
KINDS = {
    "plugin_skill_update": "plugin update",
    "plugin_skill_added": "new in a plugin",
    "plugin_skill_removed": "gone from its plugin",
    "skill_draft": "agent's draft",
    "skill_update": "held update",
}
"""The kinds of candidates, as people call them."""
WHYS = {
    "plugin_skill_update": "Its plugin has a new version",
    "plugin_skill_added": "Its plugin has added it",
    "plugin_skill_removed": "Its plugin no longer includes it",
    "skill_draft": "An agent wrote it",
    "skill_update": "Its source has a new version",
}
"""What happened that a person should look at, by kind."""
SETTLED = ("ours", "theirs", "both", "text")


class ReviewQueue(NamedTuple):
    """All that waits, and what was decided where that was asked for."""

    waiting: list[ReviewCandidate]
    decided: list[ReviewCandidate]
    asking: list[Card]
    """Skills that wait for a yes before an agent is told of them."""
    asking_total: int
    waiting_total: int


class ReviewPage(NamedTuple):
    """One candidate, with all that speaks for and against it."""

    found: Reviewed
    seen: str
    """What tells whether it is still what was shown."""
    sides: ReviewSides | None
    trouble: str
    """Why its versions cannot be shown."""
    gone: tuple[Finding, ...]
    new: tuple[Finding, ...]
    card: Card | None
    """The skill that it is about, where there is one."""


# --- the queue


def look(site: Site, *, everything: bool) -> ReviewQueue:
    """Gather what waits."""
    found = site.library.candidates(all=everything)
    waiting = [one for one in found if one.status in OPEN]
    decided = [one for one in found if one.status not in OPEN]
    decided.sort(key=lambda one: one.decided_at, reverse=True)
    asking = [card for card in site.rows().cards if card.state == "ask"]
    return ReviewQueue(
        waiting[:MAX_WAITING_SHOWN],
        decided[:MAX_WAITING_SHOWN],
        asking[:MAX_ASKING_SHOWN],
        len(asking),
        len(waiting),
    )


async def show_queue(request: Request) -> Response:
    """Show the queue."""
    site = site_of(request)
    everything = request.query_params.get("all") == "1"
    queue = await site.read(look, site, everything=everything)
    return page(
        request,
        "review.html",
        title="Review",
        queue=queue,
        everything=everything,
        kinds=KINDS,
        whys=WHYS,
        project=await site.read(note_project, site),
    )


# --- one candidate


def look_at(site: Site, ident: str, scope: str) -> ReviewPage:
    """Look at one candidate, in a library that sees the disk as it is now."""
    with site.library.open_again() as m:
        found = m.candidate(ident, user=whose(scope))
        sides, trouble = None, ""
        if found.candidate.status in OPEN:
            try:
                sides = m.sides(ident, user=whose(scope))
            except MetierError as error:
                trouble = error.message
    before = {one.fingerprint or str(one): one for one in (sides.findings if sides else ())}
    after = {one.fingerprint or str(one): one for one in found.findings}
    return ReviewPage(
        found=found,
        seen=mark_of(found),
        sides=sides,
        trouble=trouble,
        gone=tuple(one for key, one in before.items() if key not in after),
        new=tuple(one for key, one in after.items() if key not in before),
        card=_card_of(site, found.candidate),
    )


def whose(scope: str) -> bool | None:
    """Say whose candidates are meant: the user's, the project's, or whichever has it."""
    return {"user": True, "project": False}.get(scope)


def mark_of(found: Reviewed) -> str:
    """Condense what a person was shown: a decision counts for that and for nothing that came
    later.
    """
    about = found._replace(desk="")
    return blake2b(repr(about).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def _card_of(site: Site, candidate: ReviewCandidate) -> Card | None:
    named = [card for card in site.rows().cards if card.name == candidate.skill]
    own = [card for card in named if card.scope == candidate.scope]
    return next(iter(own or named), None)


def plain(text: str) -> str:
    """Show a stranger's text with everything that no reader sees, or that turns it around, as
    escapes.
    """
    return "\n".join(escape_for_terminal(line.rstrip("\r")) for line in text.split("\n"))


def reasons_of(text: str) -> list[str]:
    """Take apart why something waits; what stands in brackets stays together."""
    return re.split(r"; (?![^()]*\))", text)


async def show_one(request: Request) -> Response:
    """Show one candidate."""
    site = site_of(request)
    ident = request.path_params["ident"]
    scope = request.query_params.get("scope", "")
    one = await site.read(look_at, site, ident, scope)
    return page(
        request,
        "candidate.html",
        title=f"Review {one.found.candidate.skill or ident}",
        one=one,
        candidate=one.found.candidate,
        scope=scope,
        kinds=KINDS,
        is_open=one.found.candidate.status in OPEN,
        diff_lines=diff_lines,
        plain=plain,
        reasons_of=reasons_of,
    )


# --- deciding


def first(form: Mapping[str, list[str]], name: str) -> str:
    """Give a field of a form; nothing where it is not there."""
    return form.get(name, [""])[0]


def conflict(what: str) -> RefusedError:
    """Say that a form is about something that is not so any more."""
    return RefusedError(
        f"{what}; nothing was done", code="web-conflict", hint="load the page again"
    )


def _check_seen(m: Library, ident: str, scope: str, seen: str) -> None:
    """Refuse a decision about anything but what was shown."""
    found = m.candidate(ident, user=whose(scope))
    if found.candidate.status not in OPEN:
        raise conflict(f"this was {found.candidate.status} already")
    if mark_of(found) != seen:
        raise conflict("this is not what you were shown any more")


async def decide(request: Request) -> Response:
    """Accept, reject or lay out a candidate."""
    site = site_of(request)
    form = request.scope["form"]
    ident, verb = request.path_params["ident"], request.path_params["verb"]
    scope, reason = first(form, "scope"), first(form, "reason").strip()[:2_000]
    how = first(form, "how")

    def act(m: Library) -> str:
        _check_seen(m, ident, scope, first(form, "seen"))
        user = whose(scope)
        if verb == "edit":
            return m.edit(ident, user=user).candidate.id
        if verb == "reject":
            return m.reject(ident, reason=reason, user=user).candidate.id
        done = m.accept(ident, how, reason=reason, user=user)
        if not done.done:
            raise conflict(done.message)
        return done.candidate.id

    if verb not in {"accept", "reject", "edit"}:
        raise UsageError("there is no such decision", hint="accept, reject or edit")
    await site.read(site.change, act)
    return see_other(_address(ident, scope))


async def settle(request: Request) -> Response:
    """Save what somebody made of one file of a candidate."""
    site = site_of(request)
    form = request.scope["form"]
    ident, scope, path = request.path_params["ident"], first(form, "scope"), first(form, "path")
    side = first(form, "side")
    text = form["text"][0] if "text" in form else None
    regions = _chosen(form) if "regions" in form else None

    def act(m: Library) -> None:
        m.settle_file(
            ident,
            path,
            seen=first(form, "seen"),
            side=side,
            text=text,
            regions=regions,
            user=whose(scope),
        )

    await site.read(site.change, act)
    return see_other(_address(ident, scope) + "#files")


def _chosen(form: Mapping[str, list[str]]) -> dict[int, RegionChoice]:
    """Read what was chosen for each region; those left for later are not in it."""
    from metier.supply.merge.marked import RegionChoice

    count = first(form, "regions")
    if not count.isdecimal() or int(count) > MAX_REGIONS:
        raise UsageError("this form cannot be read", hint="load the page again")
    found = {}
    for number in range(int(count)):
        how = first(form, f"how-{number}")
        if how in SETTLED:
            found[number] = RegionChoice(how, first(form, f"region-{number}"))  # type: ignore[arg-type]
    return found


def _address(ident: str, scope: str) -> str:
    where = f"/review/{quote(ident, safe=':@')}"
    return f"{where}?scope={scope}" if scope in {"user", "project"} else where


ROUTES = [
    Route("/review", show_queue),
    Route("/review/{ident:path}/settle", settle, methods=["POST"]),
    Route("/review/{ident:path}/{verb}", decide, methods=["POST"]),
    Route("/review/{ident:path}", show_one),
]

"""What waits for a decision, one release of it with all that speaks for and against it, and every
decision about releases that a page can make.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import UsageError
from metier.hub import decide, releases
from metier.hub.compare import changes_before
from metier.hub.pages.page import (
    ask,
    check_seen,
    field,
    page_route,
    see_other,
    show_page,
    skill_url,
)
from metier.hub.pages.skill_page import address_of, findings_of
from metier.web.file_view import diff_lines
from metier.web.markdown import quote_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from metier.hub.hub import Hub
    from metier.hub.model import Caller, HubSkill, Namespace, Release
    from metier.web.markdown import SkillFindings

MAX_QUEUE = 200
DECIDED = {"approve": "approved", "reject": "rejected"}


class QueueRow(NamedTuple):
    """One release that waits, and how far its decision is."""

    release: Release
    standing: decide.Standing


class DecisionView(NamedTuple):
    """One release, with all that a reviewer looks at."""

    space: Namespace
    release: Release
    standing: decide.Standing
    findings: SkillFindings
    changes: Mapping[str, Any]


def look_at_queue(hub: Hub, caller: Caller) -> list[QueueRow]:
    """Gather what waits, as far as somebody may see it."""
    waiting = releases.pending_releases(hub, caller, MAX_QUEUE)
    found = []
    with hub.database.read() as connection:
        for one in waiting:
            space, release = releases.need_release(
                connection, caller, one.namespace, one.name, one.version
            )
            found.append(QueueRow(one, decide.standing_of(connection, caller, space, release)))
    return found


async def show_queue(request: Request) -> Response:
    """Show what waits."""
    return show_page(
        request,
        "queue.html",
        title="Queue",
        rows=await ask(request, look_at_queue),
        review_url=review_url,
    )


def review_url(release: Release) -> str:
    """Give the address where a release is decided about."""
    return f"{address_of(release)}/review"


def look(hub: Hub, caller: Caller, namespace: str, name: str, version: str) -> DecisionView:
    """Gather what a reviewer looks at."""
    with hub.database.read() as connection:
        space, release = releases.need_release(connection, caller, namespace, name, version)
        standing = decide.standing_of(connection, caller, space, release)
    return DecisionView(
        space=space,
        release=release,
        standing=standing,
        findings=findings_of(release),
        changes=changes_before(hub, caller, release),
    )


async def show_review(request: Request) -> Response:
    """Show one release to whoever may decide about it."""
    found = await ask(request, look, *_place(request))
    one = found.release
    lines, more = diff_lines(found.changes["diff"])
    base = address_of(one)
    return show_page(
        request,
        "release_review.html",
        title=f"Review {one.namespace}/{one.name} {one.version}",
        found=found,
        one=one,
        base=base,
        lines=lines,
        more=more,
        place_of=lambda marked: (
            f"{base}/files/{quote_path(marked.finding.path)}#note-{marked.number}"
        ),
    )


def _place(request: Request) -> tuple[str, str, str]:
    given = request.path_params
    return given["ns"], given["name"], given["version"]


async def decide_about(request: Request) -> Response:
    """Approve or reject one release, if it still is as it was shown."""
    what, seen = field(request, "what"), _seen(request)
    if what not in {"approve", "reject"}:
        raise UsageError("there is no such decision", hint="approve or reject")
    act = decide.approve if what == "approve" else decide.reject
    one = await ask(request, act, *_place(request), field(request, "reason").strip(), seen)
    return see_other(f"{review_url(one)}?done={DECIDED[what]}")


async def withdraw(request: Request) -> Response:
    """Yank one release, or bring it back, if it still is as it was shown."""
    back = request.url.path.endswith("/unyank")
    reason, seen = field(request, "reason").strip(), _seen(request)
    one = await ask(request, decide.yank, *_place(request), reason=reason, back=back, seen=seen)
    return see_other(f"{address_of(one)}?done={'unyanked' if back else 'yanked'}")


def _seen(request: Request) -> str:
    """Give the state that a form's page showed."""
    found = field(request, "seen")
    if not found:
        raise UsageError("the form does not say what was shown", hint="load the page again")
    return found


async def _review(request: Request) -> Response:
    return await (decide_about(request) if request.method == "POST" else show_review(request))


def read_skill(hub: Hub, caller: Caller, namespace: str, name: str) -> HubSkill:
    """Give a skill that somebody may see."""
    with hub.database.read() as connection:
        return releases.need_skill(connection, caller, namespace, name)[0]


async def deprecate(request: Request) -> Response:
    """Mark a skill as deprecated, or take that back."""
    given = request.path_params
    back = field(request, "back") == "yes"
    reason = field(request, "reason").strip()
    if not back and not reason:
        raise UsageError("say why it is deprecated", hint="and what to use instead")
    skill = await ask(request, read_skill, given["ns"], given["name"])
    check_seen(request, skill.deprecated)
    await ask(
        request,
        decide.deprecate,
        given["ns"],
        given["name"],
        "" if back else reason,
        skill.deprecated,
    )
    done = "undeprecated" if back else "deprecated"
    return see_other(f"{skill_url(given['ns'], given['name'])}?done={done}")


_RELEASE = "/skills/{ns}/{name}/{version}"
ROUTES = [
    page_route("/queue", show_queue),
    page_route("/skills/{ns}/{name}/deprecate", deprecate, ("POST",)),
    page_route(f"{_RELEASE}/review", _review, ("GET", "POST")),
    page_route(f"{_RELEASE}/yank", withdraw, ("POST",)),
    page_route(f"{_RELEASE}/unyank", withdraw, ("POST",)),
]

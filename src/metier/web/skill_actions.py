"""What can be done about one skill from its page: decide, waive, show or hide, go back, compare and
run. Each form says what its reader saw; where that is no longer so, nothing is done.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.routing import Route

from metier.errors import IntegrityError, MetierError, NotFoundError, RefusedError, UsageError
from metier.web.render import page, see_other, site_of
from metier.web.visible import plain, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from markupsafe import Markup
    from starlette.requests import Request
    from starlette.responses import Response

    from metier.library import Library
    from metier.model import Card
    from metier.run.model import Ran
    from metier.run.preview import RunPreview
    from metier.trust.approve import Verb
    from metier.trust.assess import Trusted
    from metier.web.jobs import Job

VERBS: dict[str, Verb] = {
    "approve": "approve",
    "quarantine": "quarantine",
    "block": "block",
    "unblock": "unblock",
}
MAX_REASON_CHARS = 500
ACCEPT_HINT = "to approve it nevertheless, tick that you accept it, and give a reason"
MAX_DIFF_LINES = 4_000
MAX_DIFF_LINE = 2_000
WORKING_COPY = "now"
DIFF_CLASSES = (
    ("+++", "file"),
    ("---", "file"),
    ("@@", "place"),
    ("+", "added"),
    ("-", "removed"),
)


def seen_of(trusted: Trusted, card: Card) -> str:
    """Put what a person decides about into one word: the bytes, and how things stand with them."""
    shown = "hidden" if card.held == "disabled" else "shown"
    return f"{trusted.digest or 'unread'} {trusted.state} {trusted.level} {shown}"


def field(request: Request, name: str) -> str:
    """Give one field of the form that was sent."""
    form: dict[str, list[str]] = request.scope["form"]
    return form.get(name, [""])[0]


def conflict() -> RefusedError:
    """Say that something else was there when the form was made."""
    return RefusedError(
        "this skill is not as your page showed it any more, so nothing was done",
        code="web-conflict",
        hint="load the page again",
    )


async def _change(request: Request, act: Callable[[Library, Card], Any], place: str) -> Response:
    """Make a change if all is still as it was seen, and go back to the page."""
    site = site_of(request)
    ident = request.path_params["ident"]
    card = await site.read(site.card_of, ident)
    seen = field(request, "seen")

    def change(m: Library) -> None:
        now = m.resolve(card.path)
        if seen != seen_of(m.trust(card.path), now):
            raise conflict()
        act(m, now)

    await site.read(site.change, change)
    return see_other(f"/skills/{ident}#{place}")


async def decide(request: Request) -> Response:
    """Approve, quarantine, block or unblock a skill."""
    verb = VERBS.get(field(request, "action"))
    if verb is None:
        raise UsageError("this is no decision", hint="use one of the buttons")
    reason = field(request, "reason")[:MAX_REASON_CHARS]
    accepts = field(request, "accept_dangerous") == "yes"
    digest = field(request, "seen").partition(" ")[0]

    def act(m: Library, card: Card) -> None:
        try:
            m.trust(card.path, verb, reason=reason, accept_dangerous=accepts, expected=digest)
        except RefusedError as error:
            what, line, _findings = error.message.partition("\n")
            if accepts or not line:
                raise
            # It lists findings, as the page does, and names options of the command line.
            raise RefusedError(what, code=error.code, hint=ACCEPT_HINT) from None

    return await _change(request, act, "trust")


async def waive(request: Request) -> Response:
    """Accept a rule's findings in a skill for a while, or take that back."""
    rule = field(request, "rule")
    reason = field(request, "reason")[:MAX_REASON_CHARS]
    until = field(request, "until")

    def act(m: Library, card: Card) -> None:
        if field(request, "action") == "count":
            m.take_back_waiver(rule, card.name)
        elif not reason.strip():
            raise UsageError("a waiver needs a reason", hint="say why the findings do not count")
        else:
            m.waive(rule, card.path, reason=reason, until=until)

    return await _change(request, act, "findings")


async def switch(request: Request) -> Response:
    """Show a skill, or hide it."""
    enables = field(request, "action") == "enable"

    def act(m: Library, card: Card) -> None:
        if enables:
            m.enable(card.path)
        else:
            m.disable(card.path)

    return await _change(request, act, "trust")


# --- history


class HistoryRow(NamedTuple):
    """One state that a skill was in."""

    key: str
    at: str
    what: str
    told: str
    digest: str
    current: bool = False


class SkillHistory(NamedTuple):
    """The states that a skill was in, the newest first."""

    name: str
    """What the lock, or the mirror, calls it."""
    user: bool | None
    mirrored: bool
    rows: list[HistoryRow]
    source: str = ""
    """Where it came from, and which state of that."""


def history_of(m: Library, card: Card) -> SkillHistory | None:
    """Give the states of the very copy that a card means; nothing where none are kept."""
    locked = m.locked_at(card.path)
    if locked is not None:
        pin = locked.pin
        revisions = m.history(pin.name, user=locked.user)
        now = m.digest(card)
        rows = [
            HistoryRow(str(one.number), one.at, one.what, one.commit[:12], one.digest)
            for one in revisions
        ]
        latest = next((at for at, one in enumerate(rows) if one.digest == now), -1)
        rows = [one._replace(current=at == latest) for at, one in enumerate(rows)]
        source = " ".join(filter(None, (pin.source, pin.path, pin.ref, pin.commit[:12])))
        return SkillHistory(pin.name, locked.user, mirrored=False, rows=rows, source=source)
    return _versions_of(m, card)


def _versions_of(m: Library, card: Card) -> SkillHistory | None:
    name = card.path.rpartition("/")[2]
    try:
        found = m.versions(name)
    except NotFoundError:
        return None
    if not any(card.path.endswith(f"/{target.path}") for target in found.targets):
        return None
    rows = [
        HistoryRow(
            one.version,
            one.at,
            one.change_reason,
            one.created_by,
            one.digest,
            one.version == found.current,
        )
        for one in reversed(found.versions)
    ]
    return SkillHistory(found.name, None, mirrored=True, rows=rows, source=found.lineage)


async def roll_back(request: Request) -> Response:
    """Put a skill back as it was."""
    wanted = field(request, "revision")

    def act(m: Library, card: Card) -> None:
        kept = history_of(m, card)
        if kept is None or all(one.key != wanted for one in kept.rows):
            raise NotFoundError("this revision is not kept here", hint="load the page again")
        if kept.mirrored:
            m.make_current(kept.name, wanted, user=kept.user)
            return
        outcome = m.rollback(kept.name, int(wanted), user=kept.user)
        if outcome.refused:
            why = "; ".join(reason for one in outcome.refused for reason in one.reasons)
            raise RefusedError(
                f"'{card.name}' was not put back: {why}", hint="look at that revision first"
            )

    return await _change(request, act, "history")


class DiffLine(NamedTuple):
    """A line of a comparison, and what became of it."""

    kind: str
    text: Markup


def diff_lines(text: str) -> list[DiffLine]:
    """Take a comparison apart, for its colours."""
    return [
        DiffLine(
            next((kind for start, kind in DIFF_CLASSES if line.startswith(start)), "same"),
            visible(line[:MAX_DIFF_LINE]),
        )
        for line in text.split("\n")[:MAX_DIFF_LINES]
    ]


def look_at_diff(m: Library, card: Card, old: str, new: str) -> str:
    """Compare two states of a skill, or one with what lies there now."""
    kept = history_of(m, card)
    if kept is None:
        raise NotFoundError(
            f"no earlier states of '{card.name}' are kept", hint="they are for installed skills"
        )
    other = "" if new == WORKING_COPY else new
    if kept.mirrored:
        return m.compare(kept.name, old, other, user=kept.user)
    if old == WORKING_COPY:
        raise UsageError("the current files are the newer side", hint="choose them on the right")
    return m.diff(kept.name, against=old, to=other, user=kept.user)


async def show_diff(request: Request) -> Response:
    """Show what differs between two states of a skill."""
    site = site_of(request)
    card = await site.read(site.card_of, request.path_params["ident"])
    old = request.query_params.get("from", "base")[:40]
    new = request.query_params.get("to", WORKING_COPY)[:40]
    text = await site.read(look_at_diff, site.library, card, old, new)
    lines = diff_lines(text)
    return page(
        request,
        "skill_diff.html",
        title=plain(f"Changes in {card.name}"),
        card=card,
        old=old,
        new="the current files" if new == WORKING_COPY else new,
        lines=lines,
        left_out=max(0, text.count("\n") + 1 - len(lines)),
        is_same=not text.strip(),
    )


# --- running


class RunWish(NamedTuple):
    """What a person wants run."""

    script: str
    """Of a code skill, the task."""
    words: str = ""
    network: bool = False

    @property
    def arguments(self) -> list[str]:
        """Take the words apart as a shell would."""
        try:
            return shlex.split(self.words)
        except ValueError as error:
            raise UsageError(
                f"these arguments cannot be read: {error}", hint="close what was quoted"
            ) from error


class ShownRun(NamedTuple):
    """The plan of a run, as a person reads it before they say yes."""

    wish: RunWish
    found: RunPreview
    lines: list[Markup]
    installs: bool
    """Whether it declares packages that somebody has to agree to."""


def look_at_run(m: Library, card: Card, wish: RunWish) -> RunPreview:
    """Plan a run; nothing is run."""
    return m.preview_run(card.path, wish.script, wish.arguments, network=wish.network)


def plan_run(m: Library, card: Card, wish: RunWish) -> ShownRun:
    """Plan a run, and write the plan for a page."""
    from metier.run.preview import describe

    found = look_at_run(m, card, wish)
    installs = found.packages is not None and found.packages.state == "ask"
    return ShownRun(wish, found, [visible(line) for line in describe(found)], installs)


async def show_run(request: Request) -> Response:
    """Show what a run would have, and what stands against it."""
    site = site_of(request)
    card = await site.read(site.card_of, request.path_params["ident"])
    given = request.query_params
    wish = RunWish(
        given.get("script", "")[:1_000], given.get("args", "")[:4_000], bool(given.get("network"))
    )
    scripts = await site.read(site.library.scripts, card.path)
    if card.kind == "skill-md" and not wish.script and scripts:
        wish = wish._replace(script=scripts[0])
    run = await site.read(plan_run, site.library, card, wish)
    title = plain(f"Run {card.name}")
    return page(request, "skill_run.html", title=title, card=card, scripts=scripts, run=run)


async def start_run(request: Request) -> Response:
    """Run what was shown, in its sandbox; what it prints is shown as it comes."""
    site = site_of(request)
    ident = request.path_params["ident"]
    card = await site.read(site.card_of, ident)
    wish = RunWish(
        field(request, "script"), field(request, "args"), field(request, "network") == "yes"
    )
    shown = field(request, "seen")
    found = await site.read(look_at_run, site.library, card, wish)
    if not shown or shown != found.plan.digest:
        raise conflict()
    installs, act = field(request, "install") == "yes", field(request, "act")

    def work(m: Library, job: Job) -> Ran:
        if m.digest(m.resolve(card.path)) != shown:
            raise IntegrityError(
                f"'{card.name}' is not what was shown any more, so it was not run",
                hint="look at it again",
            )
        return m.run(
            card.path,
            wish.script,
            wish.arguments,
            consent=True,
            install=installs,
            network=wish.network,
            act=act if card.kind == "code" else "",
            shown=shown,
            hear=lambda _stream, text: job.say(text),
            stopped=job.stopping.is_set,
            door="web",
        )

    what = wish.script if card.kind == "skill-md" else card.name
    title = plain(f"Run {what}")[:120]
    job = site.jobs.start(title, f"/skills/{ident}", "run", work)
    return see_other(f"/jobs/{job.ident}")


def or_fault(look: Callable[..., Any], *args: Any) -> Any:
    """Give what is asked for, or the error that says why it cannot be had."""
    try:
        return look(*args)
    except MetierError as error:
        return error


ROUTES = [
    Route("/skills/{ident}/trust", decide, methods=["POST"]),
    Route("/skills/{ident}/waive", waive, methods=["POST"]),
    Route("/skills/{ident}/switch", switch, methods=["POST"]),
    Route("/skills/{ident}/rollback", roll_back, methods=["POST"]),
    Route("/skills/{ident}/diff", show_diff),
    Route("/skills/{ident}/run", show_run, methods=["GET"]),
    Route("/skills/{ident}/run", start_run, methods=["POST"]),
]

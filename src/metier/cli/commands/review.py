"""`metier review`."""

from __future__ import annotations

from metier.cli import changes
from metier.cli.argv import (
    PROJECT_OR_USER,
    YES,
    CommandRow,
    Option,
    Values,
    cannot,
    contradiction,
    for_user,
    refuse_misplaced,
)
from metier.cli.changes import (
    NOTHING_WAITS,
    OPEN_STATUSES,
    candidate_brief,
    candidate_document,
    candidate_table,
    candidate_text,
    changed_files,
    describe_candidate,
    diff_text,
    find_candidate,
    review_document,
    ways_to_decide,
)
from metier.cli.consent import DeclinedError, may_ask, require_yes
from metier.cli.main import opened
from metier.cli.output import answer, clean, coloured, counts_text, report_error, say, style
from metier.cli.plans import conflict_lines, finding_lines, shell_name
from metier.cli.terminal import page
from metier.errors import MetierError, NotFoundError, RefusedError, StoreError, UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.library import Library
    from metier.model import Finding
    from metier.plugins.model import Decided, ReviewCandidate, Reviewed

TAKES = {
    "all": ("list",),
    "ours": ("accept",),
    "theirs": ("accept",),
    "reason": ("accept", "reject"),
}
"""Which verbs an option is for; --yes is taken by all, as scripts give it."""
SEE_HELP = "see: metier review --help"
DONE_WAYS = {"accept": "accepted", "ours": "accepted", "theirs": "accepted", "reject": "rejected"}
DECIDED = ("accepted", "rejected")
LEAVING = ("quit", "")


def run(values: Values) -> int | None:
    """List what waits for a person, show one of it, or decide about it; exit 1 when it has to be
    looked at once more.
    """
    if not values.words and may_ask(values, yes=values.flag("yes")):
        return _run_walk(values)
    verb, *rest = values.words or ["list"]
    verbs = {"show": _show, "accept": _accept, "reject": _reject, "edit": _edit}
    if verb != "list" and verb not in verbs:
        raise cannot("review", verb[:40], "list", *verbs)
    if len(rest) != (verb != "list"):
        wrong = "takes no ID" if verb == "list" else "needs one ID"
        raise UsageError(f"metier review {verb} {wrong}", hint=SEE_HELP)
    refuse_misplaced(values, f"review {verb}", verb, TAKES)
    user = for_user(values)
    if values.flag("ours") and values.flag("theirs"):
        raise contradiction("--ours", "--theirs")
    with opened(values) as m:
        if rest:
            return verbs[verb](m, values, *find_candidate(m, rest[0], user))
        _list(m, values, user)
    return None


# --- one after the other


def _run_walk(values: Values) -> int:
    """Go through everything that waits, and ask about each; exit 1 when any has to be looked at
    once more, or when somebody leaves before deciding anything.
    """
    refuse_misplaced(values, "review", "", TAKES)
    user = for_user(values)
    with opened(values) as m:
        waiting = [one for one in m.candidates(user=user) if one.status in OPEN_STATUSES]
        if not waiting:
            say(NOTHING_WAITS)
            return 0
        became: list[str] = []
        for at, one in enumerate(waiting, 1):
            say(style(f"{at:,} of {len(waiting):,}", "cyan") + "\n")
            whose = one.scope == "user" if one.scope else user
            try:
                became.append(_decide(m, values, one.id, whose))
            except MetierError as error:  # the others can be looked at all the same
                report_error(error.message, error.hint)
                became.append("not yet")
            if became[-1] in LEAVING:
                break
    decided = [word for word in became if word in DECIDED]
    if became[-1] == "" and not decided:
        raise DeclinedError
    waits = len(waiting) - len(decided)
    counts = {word: decided.count(word) for word in DECIDED if word in decided}
    say(f"{counts_text({**counts, 'still waiting': waits})}\n")
    return 1 if "not yet" in became else 0


def _decide(m: Library, values: Values, ident: str, user: bool | None) -> str:  # noqa: FBT001 - whose
    """Ask about one candidate until that is answered; give what became of it: `accepted`,
    `rejected`, `not yet`, `skip`, `quit`, or nothing where somebody left.
    """
    from metier.cli.pick import PickRow, press

    before, found = _look(m, ident, user)
    while True:
        ways = ways_to_decide(found)
        ways |= {"diff": "see what changes"} if found.diff else {}
        ways |= {"skip": "leave it waiting, go to the next", "quit": "leave the rest waiting"}
        rows = [PickRow(way, what, way[0]) for way, what in ways.items()]
        letter = press("What now?", rows, list(ways).index("skip"))
        way = next((one for one in ways if one[0] == letter), "")
        if way in LEAVING or way == "skip":
            return way
        if way == "diff":
            text = diff_text(found.diff)
            if values.flag("no_pager") or not page(text):
                say(text)
            continue
        try:
            if way != "edit":
                _check_unmoved(m, ident, before, user)
                decided = _settle(m, ident, way, user)
                say(_text(decided))
                return DONE_WAYS[way] if decided.done else "not yet"
            _edit_here(m.edit(ident, user=user))
        except MetierError as error:
            say(finding_lines(_findings(error), changes.MAX_FINDINGS_SHOWN))
            report_error(error.message, error.hint)
        before, found = _look(m, ident, user)


def _look(m: Library, ident: str, user: bool | None) -> tuple[list[ReviewCandidate], Reviewed]:  # noqa: FBT001 - whose
    """Show a candidate; give it, and how it stood just before."""
    before = _waiting(m, ident, user)
    found = m.candidate(ident, user=user)
    say(candidate_brief(found))
    return before, found


def _settle(m: Library, ident: str, way: str, user: bool | None) -> Decided:  # noqa: FBT001 - whose
    if way == "reject":
        return m.reject(ident, user=user)
    return m.accept(ident, "" if way == "accept" else way, user=user)


def _edit_here(found: Reviewed) -> None:
    """Open what conflicts, else what would change, in the user's editor."""
    from metier.cli.commands.open import editable, open_in_editor

    names = [one.path for one in found.conflicts] or changed_files(found.diff)
    files = editable(found.desk, names) or editable(found.desk, ["SKILL.md"])
    if not files:
        raise NotFoundError("there is no text to edit here", hint=f"the files are in {found.desk}")
    open_in_editor(*files)


# --- by a command for each


def _list(m: Library, values: Values, user: bool | None) -> None:  # noqa: FBT001 - whose
    everything = values.flag("all")
    found = m.candidates(all=everything, user=user)
    waits = any(one.status in OPEN_STATUSES for one in found)
    following = "\nnext: metier review show ID (or the name of the skill)\n" if waits else ""
    text = candidate_table(found, everything=everything) + following
    answer(values, found, text, {"candidates": [candidate_document(one) for one in found]})


def _show(m: Library, values: Values, ident: str, user: bool | None) -> None:  # noqa: FBT001 - the same
    found = m.candidate(ident, user=user)
    answer(values, found, candidate_text, review_document(found))


def _edit(m: Library, values: Values, ident: str, user: bool | None) -> None:  # noqa: FBT001 - the same
    """Lay a candidate out, and say where. No editor is started: what is on the desk is for the
    person's own tools.
    """
    found = m.edit(ident, user=user)
    answer(values, found, _edit_text, review_document(found))


def _edit_text(found: Reviewed) -> str:
    name = shell_name(found.candidate.id)
    return (
        f"{describe_candidate(found.candidate)} is laid out in\n  "
        f"{clean(found.desk)}\n{conflict_lines(found.conflicts)}\nnext: edit the files "
        f"there, then metier review show {name}, and metier review accept {name}\n"
    )


def _accept(m: Library, values: Values, ident: str, user: bool | None) -> int:  # noqa: FBT001 - the same
    how = "ours" if values.flag("ours") else "theirs" if values.flag("theirs") else ""
    if not values.flag("yes"):
        before = _waiting(m, ident, user)
        require_yes(values, f"{candidate_brief(m.candidate(ident, user=user))}\nAccept it?")
        _check_unmoved(m, ident, before, user)
    try:
        found = m.accept(ident, how, reason=values.text("reason"), user=user)
    except RefusedError as error:
        if not values.json:
            say(finding_lines(_findings(error), changes.MAX_FINDINGS_SHOWN))
        raise
    return _report(found, values)


def _waiting(m: Library, ident: str, user: bool | None) -> list[ReviewCandidate]:  # noqa: FBT001 - the same
    return [one for one in m.candidates(all=True, user=user) if one.id == ident]


def _check_unmoved(
    m: Library,
    ident: str,
    before: list[ReviewCandidate],
    user: bool | None,  # noqa: FBT001 - whose
) -> None:
    """Refuse to decide about what changed since: people take their time, and others go on
    meanwhile.
    """
    if _waiting(m, ident, user) != before:
        raise StoreError(
            f"{ident} changed while you looked at it",
            code="changed",
            hint=f"metier review show {ident}",
        )


def _findings(error: MetierError) -> list[Finding]:
    """Give what a scan holds against something that was refused."""
    from metier.model import Finding

    found = error.details.get("findings")
    return [Finding(**one) for one in found] if isinstance(found, list) else []


def _reject(m: Library, values: Values, ident: str, user: bool | None) -> int:  # noqa: FBT001 - the same
    if not values.flag("yes"):
        require_yes(values, f"{candidate_brief(m.candidate(ident, user=user))}\nReject it?")
    return _report(m.reject(ident, reason=values.text("reason"), user=user), values)


def _report(found: Decided, values: Values) -> int:
    answer(values, found, _text, review_document(found))
    return 0 if found.done else 1


def _text(found: Decided) -> str:
    one = found.candidate
    state = style("not yet", "yellow")
    following = ""
    if found.done:
        state = coloured(one.status)
    else:
        following = f"\nnext: metier review show {shell_name(one.replaced_by or one.id)}\n"
    where = f"  {clean(found.path)}\n" if found.path else ""
    return f"{state}: {describe_candidate(one)}\n  {clean(found.message)}\n{where}{following}"


ROWS = (
    CommandRow(
        "review",
        operands="[list|show|accept|reject|edit] [ID]",
        options=(
            Option("--all", "with list: also what was decided already"),
            Option("--ours", "with accept: keep my side of each conflict"),
            Option("--theirs", "with accept: take the new side of each conflict"),
            Option("--reason", "why, for whoever asks later", "TEXT"),
            *PROJECT_OR_USER,
            YES,
        ),
        examples={
            "metier review": "go through all that waits, one by one; in a pipe, list it",
            "metier review list": "what waits, and for what",
            "metier review show pdf": "the verdict, what it gains, and the diff",
            "metier review accept pdf": "publish it at once",
            "metier review reject pdf --reason 'too much'": "the skill stays as it is",
            "metier review edit pdf": "lay it out in a folder, to be changed before it is accepted",
        },
        detail="ID is what the list shows, the beginning of it, or the skill's name, where "
        "only one open change fits.\n"
        "Accepting is for what was shown: where anything moved since, it is made anew "
        "and asked about again, and the exit\n"
        "code is 1.",
        run=run,
    ),
)

"""`metier review`."""

from __future__ import annotations

from metier import cli
from metier.cli import candidates, output, plans, supplied
from metier.cli.consent import agreed
from metier.errors import RefusedError, StoreError, UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values
    from metier.mirrors import Candidate, Decided, Reviewed
    from metier.model import Finding

TAKES = {"all": ("list",), "ours": ("accept",), "theirs": ("accept",), "reason": ("accept", "reject")}
"""Which verbs an option is for; --yes is taken by all, as scripts give it."""


def run(values: Values) -> int:
    """List what waits for a person, show one of it, or decide about it; exit 1 when it has to be looked at once more."""
    verb, *rest = supplied.words(values)
    verbs = {"show": _show, "accept": _accept, "reject": _reject, "edit": _edit}
    if verb != "list" and verb not in verbs:
        raise UsageError(f"metier review cannot '{verb[:40]}'", hint=f"it can: {', '.join(('list', *verbs))}")
    if len(rest) != (verb != "list"):
        wrong = "takes no ID" if verb == "list" else "needs one ID"
        raise UsageError(f"metier review {verb} {wrong}", hint="see: metier review --help")
    supplied.fits(values, f"review {verb}", verb, TAKES)
    user = supplied.users(values)
    if values["ours"] and values["theirs"]:
        raise UsageError("--ours and --theirs contradict each other", hint="leave one of them out")
    with supplied.opened(values) as m:
        if not rest:
            return _list(m, values, user)
        return verbs[verb](m, values, *candidates.meant(m, rest[0], user))


def _list(m: Library, values: Values, user: bool | None) -> int:  # noqa: FBT001 - whose
    everything = bool(values["all"])
    found = m.candidates(all=everything, user=user)
    if values["json"]:
        output.write(output.json_text({"candidates": [candidates.document(one) for one in found]}) + "\n")
        return 0
    output.write(candidates.table(found, everything=everything))
    if any(one.status in candidates.OPEN for one in found):
        output.write("\nnext: metier review show ID\n")
    return 0


def _show(m: Library, values: Values, ident: str, user: bool | None) -> int:  # noqa: FBT001 - the same
    _print(m.candidate(ident, user=user), values)
    return 0


def _edit(m: Library, values: Values, ident: str, user: bool | None) -> int:  # noqa: FBT001 - the same
    """Lay a candidate out, and say where. No editor is started: what is on the desk is for the person's own tools."""
    found = m.edit(ident, user=user)
    if values["json"]:
        _print(found, values)
        return 0
    name = plans.named(found.candidate.id)
    output.write(f"{candidates.said(found.candidate)} is laid out in\n  {output.clean(found.desk)}\n")
    output.write(plans.conflict_lines(found.conflicts))
    output.write(f"\nnext: edit the files there, then metier review show {name}, and metier review accept {name}\n")
    return 0


def _accept(m: Library, values: Values, ident: str, user: bool | None) -> int:  # noqa: FBT001 - the same
    how = "ours" if values["ours"] else "theirs" if values["theirs"] else ""
    if not values["yes"]:
        before = _waiting(m, ident, user)
        agreed(values, f"{candidates.brief(m.candidate(ident, user=user))}\nAccept it?")
        if _waiting(m, ident, user) != before:  # people take their time, and others go on meanwhile
            raise StoreError(f"{ident} changed while you looked at it", code="changed", hint=f"metier review show {ident}")
    try:
        found = m.accept(ident, how, reason=cli.text_of(values["reason"]) or "", user=user)
    except RefusedError as error:
        if not values["json"]:
            output.write("".join(plans.finding_lines(_findings(error), candidates.FINDINGS)))
        raise
    return _decided(found, values)


def _waiting(m: Library, ident: str, user: bool | None) -> list[Candidate]:  # noqa: FBT001 - the same
    return [one for one in m.candidates(all=True, user=user) if one.id == ident]


def _findings(error: RefusedError) -> list[Finding]:
    """Give what a scan holds against something that was refused."""
    from metier.model import Finding

    found = error.details.get("findings")
    return [Finding(**one) for one in found] if isinstance(found, list) else []


def _reject(m: Library, values: Values, ident: str, user: bool | None) -> int:  # noqa: FBT001 - the same
    if not values["yes"]:
        agreed(values, f"{candidates.brief(m.candidate(ident, user=user))}\nReject it?")
    return _decided(m.reject(ident, reason=cli.text_of(values["reason"]) or "", user=user), values)


def _decided(found: Decided, values: Values) -> int:
    if values["json"]:
        output.write(output.json_text(candidates.with_one(found)) + "\n")
    else:
        output.write(_text(found))
    return 0 if found.done else 1


def _text(found: Decided) -> str:
    one = found.candidate
    style = candidates.STYLES.get(one.status, "bold") if found.done else "yellow"
    state = output.style(output.clean(one.status) if found.done else "not yet", style)
    where = f"  {output.clean(found.path)}\n" if found.path else ""
    again = "" if found.done else f"\nnext: metier review show {plans.named(one.replaced_by or one.id)}\n"
    return f"{state}: {candidates.said(one)}\n  {output.clean(found.message)}\n{where}{again}"


def _print(found: Reviewed, values: Values) -> None:
    output.write(output.json_text(candidates.with_one(found)) + "\n" if values["json"] else candidates.shown(found))

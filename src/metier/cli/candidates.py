"""How changes that wait for a person look as text, and which of them somebody means."""

from __future__ import annotations

from metier.cli import diffs, output, plans
from metier.errors import AmbiguousError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from metier.app import Library
    from metier.mirrors import Candidate, Decided, Evidence, Reviewed

KINDS = {"plugin_skill_update": "update", "plugin_skill_added": "new skill", "plugin_skill_removed": "removal",
         "skill_draft": "draft", "skill_update": "held update"}  # fmt: skip
MODES = {"fast_forward": "fast-forward", "three_way": "three-way"}
SAYS = {"plugin_skill_update": "an update of", "plugin_skill_added": "a new skill,", "plugin_skill_removed": "the removal of",
        "skill_draft": "an agent's draft of", "skill_update": "a held update of"}  # fmt: skip
STYLES = {"open": "yellow", "published": "green", "accepted": "green", "rejected": "red", "superseded": "dim"}
HEADS = ("ID", "KIND", "SKILL", "MODE", "VERDICT", "WAITS FOR")
NONE = "Nothing waits for you.\n\nnext: metier plugin sync, metier update\n"
NEVER = "Nothing waits for you, and nothing ever did.\n"
OPEN = frozenset({"open", "accepted"})
"""What still waits: nobody has decided, or a yes has not had its effect yet."""
FINDINGS = 20
"""How many findings are shown of what is looked at by itself."""
WIDEST = 120
"""An id has the names of a marketplace, a plugin and a skill in it."""
LISTED = 10
"""How many ids are named where several fit."""


# --- which one


def meant(m: Library, said: str, user: bool | None = None) -> tuple[str, bool | None]:  # noqa: FBT001 - whose
    """Give the id that somebody means, and whose: a whole one, else the beginning of one or a skill's name, where one fits."""
    known = m.candidates(all=True, user=user)
    whole = [one for one in known if one.id == said]
    waiting = [one for one in whole or known if one.status in OPEN]
    fitting = [one for one in waiting if one.id.startswith(said) or one.skill == said] if said else []
    if len(fitting) > 1:
        ids = list(dict.fromkeys(one.id for one in fitting))
        which = "give the whole id of one" if len(ids) > 1 else "--project or --user says which of the two"
        error = AmbiguousError(f"'{said}' may be any of {len(fitting):,}: {', '.join(ids[:LISTED])}", hint=which)
        error.details["candidates"] = [document(one) for one in fitting]
        raise error
    for one in (*fitting, *whole[:1]):
        return one.id, one.scope == "user" if one.scope else user
    return said, user  # which nobody knows, and the library says so


# --- JSON


def document(one: Candidate) -> dict[str, Any]:
    """Give the JSON of a candidate."""
    return {**one._asdict(), "merge_mode": one.merge_mode or None}


def with_one(found: Reviewed | Decided) -> dict[str, Any]:
    """Give the JSON of what is said about one candidate: the same list as that of all, beside everything else."""
    row = document(found.candidate)
    return {**found._asdict(), "candidate": row, "candidates": [row]}


# --- text


def table(found: Sequence[Candidate], *, everything: bool) -> str:
    """List candidates."""
    heads, first = (*HEADS[:-1], "STATE") if everything else HEADS, len({one.scope for one in found}) < 2
    rows = [(one.scope or "-", *_row(one, everything=everything))[first:] for one in found]  # the same may wait in two places
    return output.table(rows, ("SCOPE", *heads)[first:], widest=WIDEST) or (NEVER if everything else NONE)


def _row(one: Candidate, *, everything: bool) -> tuple[str, ...]:
    clean, seen = output.clean, one.evidence
    verdict = f"{clean(seen.verdict)} {seen.score}/100" if seen.verdict else "-"
    waits = clean(one.reason) if one.status == "open" and not everything else _became(one)
    return clean(one.id), KINDS.get(one.kind, clean(one.kind)), clean(one.skill), MODES.get(one.merge_mode, "-"), verdict, waits


def _became(one: Candidate) -> str:
    """Say what became of a candidate that waits no longer."""
    version = f" as {output.clean(one.version)}" if one.version else ""
    after = f" by {output.clean(one.replaced_by)}" if one.replaced_by else ""
    why = f": {output.clean(one.reason)}" if one.reason else ""
    return f"{output.clean(one.status)}{version}{after}{why}"


def said(one: Candidate) -> str:
    """Say in a few words what a candidate is."""
    clean = output.clean
    plugin, version = clean(one.evidence.plugin_id), clean(one.evidence.plugin_version)
    whose = f" of {plugin} {version}".rstrip() if plugin else ""
    return f"{SAYS.get(one.kind, clean(one.kind))} {clean(one.skill)}{whose}"


def shown(found: Reviewed) -> str:
    """Give everything that a person needs for a decision, and the commands that make it."""
    none = "its folder goes, its versions are kept" if found.candidate.kind == "plugin_skill_removed" else "no file of it changes"
    diff = f"\n{diffs.text(found.diff)}" if found.diff else f"\n{none}\n"
    return "".join([*_head(found.candidate), *_judged(found), diff, *_next(found)])


def brief(found: Reviewed) -> str:
    """Give what is asked about: everything but the diff, which is summed up."""
    changes = f"  {diffs.summary(found.diff)}\n" if found.diff else ""
    return "".join([*_head(found.candidate), *_judged(found), changes])


def _head(one: Candidate) -> Iterator[str]:
    clean = output.clean
    mode = f", {MODES[one.merge_mode]}" if one.merge_mode in MODES else ""
    state = output.style(clean(one.status), STYLES.get(one.status, "bold"))
    since = f" since {clean(one.at[:19].replace('T', ' '))}" if one.at and one.status == "open" else ""
    yield f"{output.style(clean(one.id), 'bold')}\n  {said(one)}{mode}: {state}{since}\n"
    if one.status != "open":
        yield f"  {_became(one)}\n"
    elif one.reason:
        yield f"  it waits for you: {clean(one.reason)}\n"


def _judged(found: Reviewed) -> Iterator[str]:
    yield from _weighed(found.candidate.evidence)
    yield from plans.finding_lines(found.findings, FINDINGS)
    yield plans.conflict_lines(found.conflicts)


def _weighed(seen: Evidence) -> Iterator[str]:
    clean = output.clean
    if seen.verdict:
        yield f"  {output.style(f'{clean(seen.verdict)} {seen.score}/100', output.LEVEL_STYLES.get(seen.verdict, 'bold'))}\n"
    if seen.gained:
        yield f"    {output.style('new', 'yellow')}: {clean(', '.join(seen.gained))}\n"
    if seen.lost:
        yield f"    no longer: {clean(', '.join(seen.lost))}\n"


def _next(found: Reviewed) -> Iterator[str]:
    """Name each way to decide about an open candidate."""
    one = found.candidate
    if one.status not in OPEN:
        return
    ways = [("accept", "publish it"), ("reject", "the skill stays as it is"), ("edit", "change it before you accept it")]
    if one.kind == "plugin_skill_removed":
        ways = [("accept", "take it away here too"), ("reject", "keep it")]
    elif found.conflicts or one.evidence.conflicts:
        ways[:1] = [("accept --ours", "keep your side of each conflict"), ("accept --theirs", "take the new side of each conflict")]
    elif one.evidence.verdict == "dangerous":  # which nobody gets in by a yes alone
        del ways[0]
    wide = max(len(way) for way, _what in ways)
    name = plans.named(one.id)
    yield "\nnext:\n"
    for way, what in ways:
        verb, _gap, option = way.partition(" ")
        yield f"  metier review {verb} {name} {option}".rstrip().ljust(len(f"  metier review  {name}") + wide) + f"  {what}\n"
    if found.desk:
        yield f"\nit is laid out in {output.clean(found.desk)}\n"

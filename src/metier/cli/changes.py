"""Renders changes for a person as text and JSON: review candidates, unified diffs, and the versions
of a plugin's skills.

It also finds which candidate somebody means by an id, the beginning of one, or a name. Strangers'
text is made safe for a terminal first.
"""

from __future__ import annotations

import re

from metier.cli import plans
from metier.cli.output import bold, clean, coloured, columns, counted, lines, moment, style, table
from metier.cli.plans import conflict_lines, finding_lines, shell_name, short_id
from metier.errors import AmbiguousError, NotFoundError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.library import Library
    from metier.model import JsonObject, Texts
    from metier.plugins.model import (
        Decided,
        ReviewCandidate,
        Reviewed,
        VersionedSkill,
    )
    from metier.plugins.versions import ViewedVersion


DIFF_STYLES = {"old": "bold", "new": "bold", "hunk": "cyan", "+": "green", "-": "red"}
DIFF_HEADS = {"--- ": "old", "+++ ": "new", "mode of ": "file", "binary files ": "file"}
HUNK = re.compile(r"@@ -[^ ,]*(?:,([0-9]{1,9}))? [-+][^ ,]*(?:,([0-9]{1,9}))?(?: |\Z)")
"""The number of lines has at most nine digits: whatever claims more is no diff."""


def diff_text(diff: str) -> str:
    """Give a diff harmless, and coloured on a terminal. Only line feeds part lines: a carriage
    return is shown.
    """
    return "".join(
        f"{style(line, DIFF_STYLES[kind]) if kind in DIFF_STYLES else line}\n"
        for kind, line in _diff_lines(diff)
    )


def diff_summary(diff: str) -> str:
    """Say how much a diff changes."""
    kinds = [kind for kind, _line in _diff_lines(diff)]
    files = counted(kinds.count("new") + kinds.count("file"), "file")
    return (
        f"{files}, {counted(kinds.count('+'), 'line')} added, "
        f"{counted(kinds.count('-'), 'line')} removed"
    )


def changed_files(diff: str) -> list[str]:
    """Name the files that are there after a diff was applied, and were changed by it."""
    heads = (line for kind, line in _diff_lines(diff) if kind == "new")
    return [line.partition("/")[2] for line in heads if line != "+++ /dev/null"]


def _diff_lines(diff: str) -> Iterator[tuple[str, str]]:
    """Tell what each line is. Inside a hunk its first character decides, for a line of a skill may
    begin like a head.
    """
    old = new = 0
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        kind = line[:1]
        if (old or new) and kind in {"+", "-", " "}:
            old = old - (kind != "+")
            new = new - (kind != "-")
        elif line.startswith("@@ -"):
            kind, (old, new) = "hunk", _hunk_spans(line)
        else:
            kind = _diff_head(line)
        yield kind, clean(line)


def _diff_head(line: str) -> str:
    return next((kind for start, kind in DIFF_HEADS.items() if line.startswith(start)), "")


def _hunk_spans(line: str) -> tuple[int, int]:
    """Read how many lines of each side a hunk has: `@@ -1,4 +1,6 @@`."""
    found = HUNK.match(line)
    old, new = found.groups("1") if found else ("0", "0")
    return int(old), int(new)


KIND_WORDS = {
    "plugin_skill_update": "update",
    "plugin_skill_added": "new skill",
    "plugin_skill_removed": "removal",
    "skill_draft": "draft",
    "skill_update": "held update",
}
MODE_WORDS = {"fast_forward": "fast-forward", "three_way": "three-way"}
KIND_PHRASES = {
    "plugin_skill_update": "an update of",
    "plugin_skill_added": "a new skill,",
    "plugin_skill_removed": "the removal of",
    "skill_draft": "an agent's draft of",
    "skill_update": "a held update of",
}
NOTHING_WAITS = "Nothing waits for you.\n\nnext: metier plugin sync, metier update\n"
NOTHING_EVER_WAITED = "Nothing waits for you, and nothing ever did.\n"
OPEN_STATUSES = frozenset({"open", "accepted"})
"""What still waits: nobody has decided, or a yes has not had its effect yet."""
MAX_FINDINGS_SHOWN = 20
"""How many findings are shown of what is looked at by itself."""
MAX_IDS_NAMED = 10
"""How many ids are named where several fit."""


# --- which one


def find_candidate(m: Library, said: str, user: bool | None = None) -> tuple[str, bool | None]:  # noqa: FBT001 - whose
    """Give the id that somebody means, and whose: a whole one, else the beginning of one or a
    skill's name, where one fits.
    """
    known = m.candidates(all=True, user=user)
    whole = [one for one in known if one.id == said]
    waiting = [one for one in whole or known if one.status in OPEN_STATUSES]
    fitting = [one for one in waiting if said and (one.id.startswith(said) or one.skill == said)]
    if len(fitting) > 1:
        ids = list(dict.fromkeys(one.id for one in fitting))
        which = (
            "give the whole id of one"
            if len(ids) > 1
            else "--project or --user says which of the two"
        )
        error = AmbiguousError(
            f"'{said}' may be any of {len(fitting):,}: {', '.join(ids[:MAX_IDS_NAMED])}", hint=which
        )
        error.details["candidates"] = [candidate_document(one) for one in fitting]
        raise error
    for one in (*fitting, *whole[:1]):
        return one.id, one.scope == "user" if one.scope else user
    return said, user  # which nobody knows, and the library says so


# --- JSON


def candidate_document(one: ReviewCandidate) -> JsonObject:
    """Give the JSON of a candidate."""
    return {**one._asdict(), "merge_mode": one.merge_mode or None}


def review_document(found: Reviewed | Decided) -> JsonObject:
    """Give the JSON of what is said about one candidate: the same list as that of all, beside
    everything else.
    """
    row = candidate_document(found.candidate)
    return {**found._asdict(), "candidate": row, "candidates": [row]}


# --- text


def candidate_table(found: Sequence[ReviewCandidate], *, everything: bool) -> str:
    """List candidates."""
    heads = (
        "SCOPE",
        "ID",
        "KIND",
        "SKILL",
        "MODE",
        "VERDICT",
        "STATE" if everything else "WAITS FOR",
    )
    rows = [_candidate_row(one, everything=everything) for one in found]
    first = len({one.scope for one in found}) < 2  # the same may wait in two places
    return table([row[first:] for row in rows], heads[first:], whole=("SKILL",), below="ID") or (
        NOTHING_EVER_WAITED if everything else NOTHING_WAITS
    )


def _candidate_row(one: ReviewCandidate, *, everything: bool) -> Texts:
    seen = one.evidence
    return (
        one.scope or "-",
        one.id,
        KIND_WORDS.get(one.kind, one.kind),
        one.skill,
        MODE_WORDS.get(one.merge_mode, "-"),
        f"{seen.verdict} {seen.score}/100" if seen.verdict else "-",
        one.reason if one.status == "open" and not everything else _what_became(one),
    )


def _what_became(one: ReviewCandidate) -> str:
    """Say what became of a candidate that waits no longer."""
    version = f" as {one.version}" if one.version else ""
    after = f" by {one.replaced_by}" if one.replaced_by else ""
    why = f": {one.reason}" if one.reason else ""
    return clean(f"{one.status}{version}{after}{why}")


def describe_candidate(one: ReviewCandidate) -> str:
    """Say in a few words what a candidate is."""
    plugin = one.evidence.plugin_id
    version = one.evidence.plugin_version
    whose = f" of {plugin} {version}".rstrip() if plugin else ""
    return clean(f"{KIND_PHRASES.get(one.kind, one.kind)} {one.skill}{whose}")


def candidate_text(found: Reviewed) -> str:
    """Give everything that a person needs for a decision, and the commands that make it."""
    none = (
        "its folder goes, its versions are kept"
        if found.candidate.kind == "plugin_skill_removed"
        else "no file of it changes"
    )
    diff = diff_text(found.diff) if found.diff else f"{none}\n"
    return f"{_summary(found)}\n{diff}{_next_commands(found)}"


def candidate_brief(found: Reviewed) -> str:
    """Give what is asked about: everything but the diff, which is summed up."""
    return _summary(found) + (f"  {diff_summary(found.diff)}\n" if found.diff else "")


def _summary(found: Reviewed) -> str:
    one = found.candidate
    seen = found.candidate.evidence
    mode = f", {MODE_WORDS[one.merge_mode]}" if one.merge_mode in MODE_WORDS else ""
    state = coloured(one.status)
    since = f" since {moment(one.at)}" if one.at and one.status == "open" else ""
    stands = f"it waits for you: {clean(one.reason)}" if one.reason else ""
    if one.status != "open":
        stands = _what_became(one)
    verdict = f"  {plans.verdict_text(seen.verdict, seen.score)}\n" if seen.verdict else ""
    lost = f"    no longer: {clean(', '.join(seen.lost))}\n" if seen.lost else ""
    return (
        f"{bold(one.id)}\n  {describe_candidate(one)}{mode}: {state}{since}\n"
        f"{lines([stands] if stands else ())}{verdict}"
        f"{plans.gained_line(seen.gained)}{lost}"
        f"{finding_lines(found.findings, MAX_FINDINGS_SHOWN)}"
        f"{conflict_lines(found.conflicts)}"
    )


def ways_to_decide(found: Reviewed) -> dict[str, str]:
    """Give each way to decide about an open candidate that leads somewhere, with what it does:
    `accept`, `ours`, `theirs`, `reject` and `edit`.
    """
    one = found.candidate
    if one.status not in OPEN_STATUSES:
        return {}
    if one.kind == "plugin_skill_removed":
        return {"accept": "take it away here too", "reject": "keep it"}
    ways = {"reject": "the skill stays as it is", "edit": "change it before you accept it"}
    if found.conflicts or one.evidence.conflicts:
        sides = {
            "ours": "keep your side of each conflict",
            "theirs": "take the new side of each conflict",
        }
        return {**sides, **ways}
    if one.evidence.verdict == "dangerous":  # which nobody gets in by a yes alone
        return ways
    return {"accept": "publish it", **ways}


def _next_commands(found: Reviewed) -> str:
    """Name the command of each way to decide about an open candidate."""
    name = shell_name(found.candidate.id)
    ways = ways_to_decide(found)
    if not ways:
        return ""
    words = {"ours": f"accept {name} --ours", "theirs": f"accept {name} --theirs"}
    commands = columns(
        [(f"metier review {words.get(way, f'{way} {name}')}", what) for way, what in ways.items()]
    )
    desk = f"\nit is laid out in {clean(found.desk)}\n" if found.desk else ""
    return f"\nnext:\n{commands}{desk}"


VERSION_HEADS = ("", "VERSION", "WHEN", "BY", "STATE", "DIGEST", "REASON")


def mirrored_skill(m: Library, name: str, user: bool | None) -> VersionedSkill | None:  # noqa: FBT001 - whose
    """Give a skill with versions; nothing for one that the lock has, or that nobody has."""
    try:
        m.history(name, user=user)
    except NotFoundError:
        try:
            return m.versions(name, user=user)
        except NotFoundError:
            return None
    return None


def versions_document(skill: VersionedSkill) -> JsonObject:
    """Give the JSON of a skill with its versions, the newest first, as a history is."""
    return {**skill._asdict(), "versions": skill.versions[::-1]}


def versions_text(skill: VersionedSkill) -> str:
    """Give the versions of a skill, the newest first, with the one in place marked."""
    name = shell_name(skill.name)
    rows = [
        (
            "*" if one.version == skill.current else "",
            one.version,
            moment(one.at),
            one.created_by,
            one.review_state,
            short_id(one.digest),
            one.change_reason or "-",
        )
        for one in reversed(skill.versions)
    ]
    gone = (
        f"\nagents do not see it: {clean(skill.why_text or skill.status)}\n"
        if skill.status == "disabled"
        else ""
    )
    return (
        f"{clean(f'{skill.name}  {skill.lineage}')}\n\n{_versions_table(rows)}{gone}\nnext: "
        f"metier history {name} VERSION, metier diff {name} --against VERSION, metier rollback "
        f"{name} VERSION\n"
    )


def _versions_table(rows: Sequence[Texts]) -> str:
    return table(rows, VERSION_HEADS, whole=("VERSION", "WHEN"), below=VERSION_HEADS[-1])


def version_text(found: ViewedVersion, *, bare: bool) -> str:
    """Give one version: its instructions and the names of its files, or one file alone."""
    one = found.version
    content = (
        clean(found.content, lines=True)
        if found.content
        else f"[{clean(found.file)} is empty, or no text]\n"
    )
    if bare:
        return content
    current = ", in place" if found.current else ""
    files = lines(path for path in found.files if path != found.file)
    more = f"\n{style('files', 'bold')} (--file PATH)\n{files}" if files else ""
    return (
        f"{bold(found.name)} {clean(one.version)}{current}  {moment(one.at)} by "
        f"{clean(one.created_by)}\n{clean(one.change_reason)}\n\n{content.rstrip()}\n{more}"
    )

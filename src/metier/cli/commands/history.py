"""Runs `metier history`, `metier diff` and `metier rollback`: they list the earlier versions of a
skill, compare them, and restore one.
"""

from __future__ import annotations

from metier.cli.argv import PROJECT_OR_USER, YES_UNASKED, CommandRow, Option, Values, for_user
from metier.cli.changes import (
    diff_text,
    find_candidate,
    mirrored_skill,
    version_text,
    versions_document,
    versions_text,
)
from metier.cli.consent import report
from metier.cli.main import opened
from metier.cli.output import answer, bold, clean, moment, say, table
from metier.cli.plans import shell_name, short_id
from metier.errors import NotFoundError, UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.library import Library
    from metier.plugins.model import VersionedSkill
    from metier.supply.model import Revision

MAX_REVISION_DIGITS = 9
"""Digits of a revision's number."""


def run(values: Values) -> None:
    """List the revisions or versions of a skill, the newest first, or show one version."""
    user, (name, *rest), file = for_user(values), values.words, values.text("file")
    with opened(values) as m:
        skill = mirrored_skill(m, name, user)
        if skill is None:
            found = m.history(name, user=user)
            if rest or file:
                raise UsageError(
                    f"'{name}' has revisions, and no versions to show",
                    hint=f"metier diff {name} --against REV shows one",
                )
            document = {"name": name, "revisions": found}
            answer(values, found, _history_text(name, found), document)
        elif rest or file:
            version = m.version(name, *rest, file=file, user=user)
            answer(values, version, version_text(version, bare=bool(file)), raw=True)
        else:
            document = versions_document(skill)
            answer(values, skill, versions_text, document)


def _history_text(name: str, found: list[Revision]) -> str:
    if not found:
        return f"No revisions of {clean(name)} are kept on this machine.\n"
    rows = [
        (
            str(one.number),
            moment(one.at),
            one.what,
            short_id(one.commit) or "-",
            short_id(one.digest),
        )
        for one in found
    ]
    shown = table(rows, ("REV", "WHEN", "WHAT", "COMMIT", "DIGEST"), whole=("REV", "WHEN"))
    typed = shell_name(name)
    return f"{shown}\nnext: metier rollback {typed} REV, metier diff {typed} --against REV\n"


def run_rollback(values: Values) -> int:
    """Put a skill back as it was in a revision or version. What is there now stays one too, so
    nothing is asked.
    """
    user, (name, *rest) = for_user(values), values.words
    with opened(values) as m:
        skill = mirrored_skill(m, name, user)
        if skill is not None:
            version = rest[0] if rest else _version_before(m, skill, user)
            after = m.make_current(name, version, user=user)
            document = versions_document(after)
            answer(values, after, _rollback_text(skill, after), document)
            return 0
        outcome = m.rollback(name, *map(_revision_number, rest), user=user)
        report(outcome, values, done=bool(outcome.installed))
        now = m.history(name, user=user)[:1] if outcome.installed else []
    if outcome.installed and not values.json:
        at = "".join(f"{bold(name)} is at revision {one.number} now\n" for one in now)
        say(f"{at}undo it with: metier rollback {shell_name(name)}\n")
    return 0 if outcome.ok else 1


def _revision_number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_REVISION_DIGITS):
        raise UsageError(
            f"'{text[:40]}' is no revision", hint="metier history NAME lists their numbers"
        )
    return int(text)


def _version_before(m: Library, skill: VersionedSkill, user: bool | None) -> str:  # noqa: FBT001 - whose
    """Choose the version to go back to: the one in place where it was edited since, else the last
    that differs from it.
    """
    current = skill.version(skill.current)
    if current is None or m.compare(skill.name, skill.current, user=user):
        return skill.current
    older = skill.versions[: skill.versions.index(current)]
    for one in reversed(older):
        if one.digest != current.digest:
            return one.version
    raise NotFoundError(
        f"there is no version of '{skill.name}' before {skill.current}",
        hint=f"metier history {skill.name}",
    )


def _rollback_text(before: VersionedSkill, after: VersionedSkill) -> str:
    """Say what is in place now, and the way back to what was there."""
    known = {one.version for one in before.versions}
    edits = (
        one.version
        for one in after.versions
        if one.version not in known and one.created_by == "user"
    )
    was = next(edits, "") or before.current
    undo = (
        f"undo it with: metier rollback {shell_name(after.name)} {shell_name(was)}\n"
        if was != after.current
        else ""
    )
    return f"{bold(after.name)} is at {clean(after.current)} now\n{undo}"


def run_diff(values: Values) -> None:
    """Show edits as a unified diff."""
    user = for_user(values)
    name = values.word
    against = values.text("against") or "base"
    with opened(values) as m:
        text = (
            _compare(m, name, against, user)
            if mirrored_skill(m, name, user)
            else m.diff(name, against=against, user=user)
        )
    answer(values, text, diff_text, {"name": name, "diff": text}, raw=True)


def _compare(m: Library, name: str, against: str, user: bool | None) -> str:  # noqa: FBT001 - whose
    """Compare `base` or a version with the working copy, or two versions; `theirs` is what waits to
    be reviewed.
    """
    if against == "theirs":
        ident, whose = find_candidate(m, name, user)
        return m.candidate(ident, user=whose).diff
    one, dots, other = against.partition("..")
    if not one or (dots and not other):
        raise UsageError(
            f"'{against[:40]}' is nothing to compare with",
            hint="base, theirs, a version, or two: v0001..v0003",
        )
    return m.compare(name, one, other, user=user)


ROWS = (
    CommandRow(
        "history",
        operands="NAME [VERSION]",
        options=(Option("--file", "with VERSION: show this file of it", "PATH"), *PROJECT_OR_USER),
        examples={
            "metier history pdf": "what it was, since when, and by what",
            "metier history pdf v0002": "the instructions of one version, and the names of its files",
            "metier history pdf v0002 --file scripts/fill.sh": "one file of it",
        },
        paged=True,
        run=run,
    ),
    CommandRow(
        "rollback",
        operands="NAME [REV]",
        options=(*PROJECT_OR_USER, YES_UNASKED),
        examples={
            "metier rollback pdf": "to the revision or version before",
            "metier rollback pdf 3": "to that revision",
            "metier rollback pdf v0002": "to that version; what is there now stays one too",
        },
        run=run_rollback,
    ),
    CommandRow(
        "diff",
        operands="NAME",
        options=(
            Option(
                "--against",
                "base (default), theirs, a revision's number; of a mirrored skill a version, "
                "or two",
                "WHAT",
            ),
            *PROJECT_OR_USER,
        ),
        examples={
            "metier diff pdf": "your edits",
            "metier diff pdf --against theirs": "what the update that waits changes",
            "metier diff pdf --against v0002": "from that version to your copy",
            "metier diff pdf --against v0001..v0003": "from one version to another",
        },
        paged=True,
        run=run_diff,
    ),
)

"""`metier rollback`."""

from __future__ import annotations

from metier.cli import output, plans, supplied, versioned
from metier.errors import NotFoundError, UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values
    from metier.mirrors import Skill

LONGEST = 9
"""Digits of a revision's number."""


def run(values: Values) -> int:
    """Put a skill back as it was in a revision or version. What is there now stays one too, so nothing is asked."""
    user, (name, *rest) = supplied.users(values), supplied.words(values)
    with supplied.opened(values) as m:
        skill = versioned.mirrored(m, name, user)
        if skill is not None:
            after = m.make_current(name, rest[0] if rest else _before(m, skill, user), user=user)
            output.write(output.json_text(versioned.document(after)) + "\n" if values["json"] else _text(skill, after))
            return 0
        outcome = m.rollback(name, _number(rest[0]) if rest else None, user=user)
        supplied.report(outcome, values, plan=not outcome.installed)
    if outcome.installed and not values["json"]:
        output.write(f"undo it with: metier rollback {plans.named(name)}\n")
    return 0 if outcome.ok else 1


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST):
        raise UsageError(f"'{text[:40]}' is no revision", hint="metier history NAME lists their numbers")
    return int(text)


def _before(m: Library, skill: Skill, user: bool | None) -> str:  # noqa: FBT001 - whose
    """Choose the version to go back to: the one in place where it was edited since, else the last that differs from it."""
    current = skill.version(skill.current)
    if current is None or m.compare(skill.name, skill.current, user=user):
        return skill.current
    older = skill.versions[: skill.versions.index(current)]
    found = next((one for one in reversed(older) if one.digest != current.digest), None)
    if found is None:
        raise NotFoundError(f"there is no version of '{skill.name}' before {skill.current}", hint=f"metier history {skill.name}")
    return found.version


def _text(before: Skill, after: Skill) -> str:
    """Say what is in place now, and the way back to what was there."""
    name, known = plans.named(after.name), {one.version for one in before.versions}
    edits = next((one.version for one in after.versions if one.version not in known and one.created_by == "user"), "")
    was = edits or before.current
    said = f"{output.style(output.clean(after.name), 'bold')} is at {output.clean(after.current)} now\n"
    return f"{said}undo it with: metier rollback {name} {plans.named(was)}\n" if was != after.current else said

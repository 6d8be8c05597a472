"""What the commands about mirrored skills share: whether a skill is one, and how its versions look."""

from __future__ import annotations

from metier.cli import output, plans
from metier.errors import NotFoundError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from metier.app import Library
    from metier.mirroring.versioning import Viewed
    from metier.mirrors import Skill, Version

HEADS = ("", "VERSION", "WHEN", "BY", "STATE", "DIGEST", "REASON")


def mirrored(m: Library, name: str, user: bool | None) -> Skill | None:  # noqa: FBT001 - whose
    """Give a skill with versions; nothing for one that the lock has, or that nobody has."""
    try:
        m.history(name, user=user)
    except NotFoundError:
        try:
            return m.versions(name, user=user)
        except NotFoundError:
            return None
    return None


def document(skill: Skill) -> dict[str, Any]:
    """Give the JSON of a skill with its versions, the newest first, as a history is."""
    return {**skill._asdict(), "versions": skill.versions[::-1]}


def text(skill: Skill) -> str:
    """Give the versions of a skill, the newest first, with the one in place marked."""
    clean, name = output.clean, plans.named(skill.name)
    rows = [_row(one, current=one.version == skill.current) for one in reversed(skill.versions)]
    gone = f"\nagents do not see it: {clean(skill.why or skill.status)}\n" if skill.status == "disabled" else ""
    ways = f"metier history {name} VERSION, metier diff {name} --against VERSION, metier rollback {name} VERSION"
    return f"{clean(skill.name)}  {clean(skill.lineage)}\n\n{output.table(rows, HEADS)}{gone}\nnext: {ways}\n"


def view(found: Viewed, *, bare: bool) -> str:
    """Give one version: its instructions and the names of its files, or one file alone."""
    clean, one = output.clean, found.version
    content = clean(found.content, lines=True) if found.content else f"[{clean(found.file)} is empty, or no text]\n"
    if bare:
        return content
    current = ", in place" if found.current else ""
    files = "".join(f"  {clean(path)}\n" for path in found.files if path != found.file)
    more = f"\n{output.style('files', 'bold')} (--file PATH)\n{files}" if files else ""
    return (f"{output.style(clean(found.name), 'bold')} {clean(one.version)}{current}  {clean(one.at[:19].replace('T', ' '))} by "
            f"{clean(one.created_by)}\n{clean(one.change_reason)}\n\n{content.rstrip()}\n{more}")  # fmt: skip


def _row(one: Version, *, current: bool) -> tuple[str, ...]:
    clean = output.clean
    when = clean(one.at[:19].replace("T", " "))
    return ("*" if current else "", clean(one.version), when, clean(one.created_by), clean(one.review_state),
            plans.short(one.digest), clean(one.change_reason) or "-")  # fmt: skip

"""`metier diff`."""

from __future__ import annotations

from metier import cli
from metier.cli import candidates, diffs, output, supplied, versioned
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values
    from metier.mirrors import Skill


def run(values: Values) -> int:
    """Show edits as a unified diff."""
    user, name = supplied.users(values), supplied.words(values)[0]
    against = cli.text_of(values["against"]) or "base"
    with supplied.opened(values) as m:
        skill = versioned.mirrored(m, name, user)
        text = m.diff(name, against=against, user=user) if skill is None else _compared(m, skill, against, user)
    output.write(output.json_text({"name": name, "diff": text}) + "\n" if values["json"] else diffs.text(text))
    return 0


def _compared(m: Library, skill: Skill, against: str, user: bool | None) -> str:  # noqa: FBT001 - whose
    """Compare `base` or a version with the working copy, or two versions; `theirs` is what waits to be reviewed."""
    if against == "theirs":
        ident, whose = candidates.meant(m, skill.name, user)
        return m.candidate(ident, user=whose).diff
    one, dots, other = against.partition("..")
    if not one or (dots and not other):
        raise UsageError(f"'{against[:40]}' is nothing to compare with", hint="base, theirs, a version, or two: v0001..v0003")
    return m.compare(skill.name, one, other, user=user)

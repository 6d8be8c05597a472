"""`metier outdated`."""

from __future__ import annotations

from metier.cli import output, plans, supplied
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.cli.argv import Values
    from metier.supplying.outdating import Age


def run(values: Values) -> int:
    """Say which skills have a newer version; nothing is changed."""
    user = supplied.users(values)
    with supplied.opened(values) as m:
        found = m.outdated(user=user)
    output.write(output.json_text({"skills": found}) + "\n" if values["json"] else _text(found))
    return 0


def _text(found: Sequence[Age]) -> str:
    if not found:
        return "Nothing is installed here.\n\nnext: metier add SOURCE\n"
    rows = [
        (output.clean(one.name), output.clean(one.source), plans.short(one.have) or "-", plans.short(one.newest) or "-",
         output.clean(f"{one.state}: {one.why}" if one.why else one.state))
        for one in found
    ]  # fmt: skip
    return output.table(rows, ("NAME", "SOURCE", "HAVE", "NEWEST", "STATE"))

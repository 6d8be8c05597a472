"""`metier history`."""

from __future__ import annotations

from metier.cli import output, plans, supplied
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.cli.argv import Values
    from metier.supplies import Revision


def run(values: Values) -> int:
    """List the revisions of a skill, the newest first."""
    user, name = supplied.users(values), supplied.words(values)[0]
    with supplied.opened(values) as m:
        found = m.history(name, user=user)
    if values["json"]:
        output.write(output.json_text({"name": name, "revisions": found}) + "\n")
    else:
        output.write(_text(name, found))
    return 0


def _text(name: str, found: Sequence[Revision]) -> str:
    if not found:
        return f"No revisions of {output.clean(name)} are kept on this machine.\n"
    rows = [
        (str(one.number), output.clean(one.at[:19].replace("T", " ")), output.clean(one.what), plans.short(one.commit) or "-",
         plans.short(one.digest))
        for one in found
    ]  # fmt: skip
    back = f"\nnext: metier rollback {plans.named(name)} REV, metier diff {plans.named(name)} --against REV\n"
    return output.table(rows, ("REV", "WHEN", "WHAT", "COMMIT", "DIGEST")) + back

"""`metier history`."""

from __future__ import annotations

from metier import cli
from metier.cli import output, plans, supplied, versioned
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.cli.argv import Values
    from metier.supplies import Revision


def run(values: Values) -> int:
    """List the revisions or versions of a skill, the newest first, or show one version."""
    user, (name, *rest) = supplied.users(values), supplied.words(values)
    file = cli.text_of(values["file"]) or ""
    with supplied.opened(values) as m:
        skill = versioned.mirrored(m, name, user)
        if skill is not None and (rest or file):
            found = m.version(name, rest[0] if rest else "", file=file, user=user)
            output.write(output.json_text(found) + "\n" if values["json"] else versioned.view(found, bare=bool(file)))
        elif skill is not None:
            output.write(output.json_text(versioned.document(skill)) + "\n" if values["json"] else versioned.text(skill))
        else:
            _write(name, m.history(name, user=user), rest, values)
    return 0


def _write(name: str, found: Sequence[Revision], rest: Sequence[str], values: Values) -> None:
    if rest or values["file"]:
        raise UsageError(f"'{name}' has revisions, and no versions to show", hint=f"metier diff {name} --against REV shows one")
    output.write(output.json_text({"name": name, "revisions": found}) + "\n" if values["json"] else _text(name, found))


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

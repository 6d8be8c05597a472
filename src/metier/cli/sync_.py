"""`metier sync`."""

from __future__ import annotations

from metier.cli import output, plans, supplied
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values
    from metier.supplies import Synced


def run(values: Values) -> int:
    """Make the disk match the lock; exit 1 when it does not."""
    user = bool(supplied.users(values))
    with supplied.opened(values) as m:
        found = m.sync(frozen=bool(values["frozen"]), user=user)
        output.write(output.json_text(found) + "\n" if values["json"] else _text(found))
    return 0 if found.ok else 1


def _text(found: Synced) -> str:
    clean = output.clean
    parts = [f"{output.style('restored', 'green')} {clean(one)}\n" for one in found.changed]
    parts += [f"{output.style('drift', 'red')} {clean(one)}\n" for one in found.drift]
    parts += [f"note: {clean(one)}\n" for one in found.notes]
    if found.ok:
        parts.append("the disk matches the lock\n")
    else:
        count = plans.counted(len(found.drift), "difference")
        parts.append(f"the disk does not match the lock: {count}\n")
        if any(text.endswith("differs from the lock") for text in found.drift):
            parts.append("\nnext: metier diff NAME shows what was edited\n")
    return "".join(parts)

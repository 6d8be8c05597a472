"""`metier gc`."""

from __future__ import annotations

from metier import cli
from metier.cli import output, plans, supplied
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values
    from metier.store.disk import Freed

MOST = 1_000_000


def run(values: Values) -> int:
    """Free what no lock and no revision needs."""
    keep, dry = cli.number_of(values, "revisions", MOST), bool(values["dry_run"])
    with supplied.opened(values) as m:
        freed = m.gc(dry_run=dry, revisions=keep)
    output.write(output.json_text(freed) + "\n" if values["json"] else _text(freed, dry=dry))
    return 0


def _text(freed: Freed, *, dry: bool) -> str:
    what = f"{plans.counted(freed.trees, 'tree')} and {plans.counted(freed.blobs, 'file')}, {plans.size_text(freed.bytes)}"
    if freed.environments:
        what = f"{plans.counted(freed.environments, 'unused environment')}, {what}"
    if not freed.trees and not freed.blobs and not freed.environments:
        return "there is nothing to free\n"
    return f"{what} could be freed\n" if dry else f"freed {what}\n"

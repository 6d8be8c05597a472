"""A held update whose surroundings moved: the base or the working copy is another than the one it was held with.

Taking that up changes the notes alone, and the desk where there is one: what was made there is carried over to what is in place
now. Nothing that somebody wrote is lost by it: the old desk stays where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.supplying import combining, merging

if TYPE_CHECKING:
    from metier.supplying.merging import Case

_WORKED_ON = "0" * merging.SHOWN
"""Stands where a desk has the digest of what was laid: no tree begins so, and thus it never counts as untouched."""


def moved(case: Case) -> str:
    """Say what is no longer as it was when an update was held; nothing where all of it is."""
    if case.pending.base != case.pin.base:
        return "the version that it goes back to"
    return "the working copy" if case.three.ours.digest != (case.pending.ours or case.pin.digest) else ""


def rebased(case: Case) -> Case:
    """Note an update anew with what is there now; what was made on a desk, and does not fit that, is `unmerged`."""
    library = case.bench.library
    desk = merging.desk_at(library, case.pending)
    if not desk:
        return case._replace(pending=merging.noted(case, ""))
    if merging.is_untouched(desk):
        _desk, pending = merging.lay(case, combining.combine(library, case.bench.desk, case.three))
        return case._replace(pending=pending)
    found = merging.carried(case, desk)
    if found.combined.conflicts:
        raise merging.apart(case.pin.name, desk)
    name = merging.desk_name(case, _WORKED_ON, f"\n{case.pending.desk}\n{found.combined.digest}")
    merging.put(library, found.combined.folder, f"{merging.desks(library)}/{name}")
    return case._replace(pending=merging.noted(case, name))

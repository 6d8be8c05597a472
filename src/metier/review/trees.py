"""What a candidate is made of: the trees that its source gives while somebody looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from metier.supply.io.quarantine import Quarantine
    from metier.supply.merge.combine import ThreeVersions, VersionFiles


class ReviewTrees(NamedTuple):
    """An open candidate in all its versions, for as long as its source holds them."""

    skill: str
    three: ThreeVersions
    """The version both sides came from, what is in place now, and what is offered."""
    was: ThreeVersions
    """What the edit folder was laid from, or would be."""
    result: VersionFiles
    """What would be put in place: the edit folder where there is one."""
    desk: Quarantine
    """A private folder that is gone afterwards."""
    folder: str = ""
    """The edit folder; nothing where there is none."""

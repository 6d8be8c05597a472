"""What looking at versions of a skill works with: a private folder that is gone afterwards, and the
store.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from metier.supply import fetch, places
from metier.supply.merge import combine

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from metier.context import Context
    from metier.store.io.tree_store import Store
    from metier.supply.fetch import FetchedSkill
    from metier.supply.io.quarantine import Quarantine
    from metier.supply.merge.combine import CombinedTree, ThreeVersions, VersionFiles
    from metier.supply.merge.diff3 import Favour


NO_SKILL = combine.NO_FILES
"""A skill that is not there."""


def files_of(tree: CombinedTree | FetchedSkill) -> VersionFiles:
    """Give the files of a tree in quarantine."""
    return combine.version_in_folder(tree)


class MergeWorkspace(ExitStack):
    """Trees that are looked at and put together; what that takes is made when it is first needed,
    and leaves nothing behind.
    """

    def __init__(self, context: Context) -> None:
        """Make nothing yet."""
        super().__init__()
        self.context = context
        self._desk: Quarantine | None = None

    def open_quarantine(self) -> AbstractContextManager[Quarantine]:
        """Open the private folder."""
        return fetch.open_quarantine(self.context)

    @property
    def desk(self) -> Quarantine:
        """A private folder that is gone afterwards."""
        if self._desk is None:
            self._desk = self.enter_context(self.open_quarantine())
        return self._desk

    @property
    def store(self) -> Store:
        """The store."""
        return places.store_of(self.context)

    def lay(self, digest: str) -> str:
        """Lay a tree of the store out in quarantine; give its folder."""
        folder = self.desk.fresh()
        self.store.lay(digest, folder)
        return folder

    def tree(self, digest: str) -> VersionFiles:
        """Give a tree of the store."""
        return combine.stored_version(self.store, digest) if digest else NO_SKILL

    def snapshot(self, folder: str) -> VersionFiles:
        """Give a folder as it is at this moment."""
        return combine.snapshot(self.context, self.desk, folder)

    def combined(self, three: ThreeVersions, favour: Favour = "") -> CombinedTree:
        """Put three trees together in quarantine."""
        return combine.combine(self.context, self.desk, three, favour)

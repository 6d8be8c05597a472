"""The nouns of writing skills: a draft that waits for a person, and where it stands."""

from __future__ import annotations

from typing import NamedTuple

KIND = "draft"
"""What the id of a draft begins with in the queue."""


class Draft(NamedTuple):
    """A change to a skill that waits for review: what an agent wanted to do, and all it needs to
    be done.
    """

    action: str
    skill: str
    path: str
    base: str
    """Digest of what it would change; nothing for a new skill."""
    files: tuple[tuple[str, str], ...]
    """The files that would be written, as text."""
    removed: tuple[str, ...]
    reason: str
    level: str
    score: int = 0
    result: str = ""
    """Digest of what the skill would become; nothing for one that would go."""
    owner: str = ""
    """Whom the folder belonged to when the change was asked for: `lock`, `plugin:ID`, or nothing
    for the user's own."""


class EditFolder(NamedTuple):
    """A desk that was laid, and the three trees that it was laid from; nothing for a tree that is
    empty.
    """

    name: str
    base: str
    ours: str
    theirs: str

    @property
    def trees(self) -> tuple[str, str, str]:
        """The digests of the three."""
        return self.base, self.ours, self.theirs


class DraftRecord(NamedTuple):
    """A draft, and where it stands."""

    id: str
    at: int
    draft: Draft
    """Its `base` and `result` are those of the last rebase."""
    status: str = "open"
    decided_at: str = ""
    said: str = ""
    """What a person said about it."""
    replaced_by: str = ""
    onto: str = ""
    """The tree that the conflicts were told about: the skill as it was then."""
    conflicts: tuple[str, ...] = ()
    stale: str = ""
    """What changed the skill before this was decided, so that it has to be rebased."""
    desk: EditFolder | None = None

    @property
    def key(self) -> str:
        """What it is called in the queue."""
        return f"{KIND}:{self.id}"

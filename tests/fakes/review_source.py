"""A source of the queue that keeps its candidates in memory, and notes what it was asked."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from metier.plugins.model import Decided, Reviewed

if TYPE_CHECKING:
    from metier.plugins.model import ReviewCandidate
    from metier.review.trees import ReviewTrees


class FakeReviewSource:
    """Answers for some candidates: every decision is done at once."""

    def __init__(self, *candidates: ReviewCandidate) -> None:
        """Have these candidates, and nothing else."""
        self.candidates = {one.id: one for one in candidates}
        self.asked: list[tuple[str, ...]] = []

    def waiting(self, *, everything: bool) -> list[ReviewCandidate]:
        """List those that are open, or all."""
        return [one for one in self.candidates.values() if everything or one.status == "open"]

    def show(self, ident: str) -> Reviewed:
        """Show a candidate without anything that speaks for or against it."""
        self.asked.append(("show", ident))
        return Reviewed(self.candidates[ident], "", (), ())

    def accept(self, ident: str, how: str, reason: str) -> Decided:
        """Publish a candidate."""
        self.asked.append(("accept", ident, how, reason))
        return self._decide(ident, "published")

    def reject(self, ident: str, reason: str) -> Decided:
        """Turn a candidate down."""
        self.asked.append(("reject", ident, reason))
        return self._decide(ident, "rejected")

    def edit(self, ident: str) -> Reviewed:
        """Lay nothing out."""
        self.asked.append(("edit", ident))
        return Reviewed(self.candidates[ident], "", (), (), "/desk")

    def trees(self, ident: str) -> AbstractContextManager[ReviewTrees]:
        """Have no versions at all."""
        raise NotImplementedError(ident)

    def _decide(self, ident: str, status: str) -> Decided:
        done = self.candidates[ident]._replace(status=status)  # type: ignore[arg-type]
        self.candidates[ident] = done
        return Decided(done, done=True, message=status)

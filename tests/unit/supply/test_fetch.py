"""What trust is told of where bytes come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.shop import CAUTION, FakeFetcher, FakeTree, Shop, document, yes

if TYPE_CHECKING:
    from metier.supply.model import Request


class ForkedTree(FakeTree):
    """A commit that is served under a repository's name although none of its branches and tags leads there."""

    problems = ("data.bin is only a pointer",)

    def vouched(self) -> bool:
        """Say that the repository did not put it there."""
        return False


class Forge(FakeFetcher):
    """Serves the commits of forks under the name of what they forked, as forges do."""

    def open(self, request: Request) -> ForkedTree:
        """Open one of those."""
        return ForkedTree(*super().open(request))


@pytest.mark.parametrize(("fetcher", "level"), [(FakeFetcher, "trusted"), (Forge, "community")])
def test_a_trusted_repository_does_not_vouch_for_the_commits_of_its_forks(
    shop: Shop, fetcher: type[FakeFetcher], level: str
) -> None:
    with shop.open() as m:
        m.context.fetchers = {"git": fetcher({"pdf/SKILL.md": document("pdf", CAUTION)})}

        planned = m.add(f"anthropics/skills#{'a' * 40}", dry_run=True, force=True).plan.add

    assert [level] == [step.level for step in planned]


def test_bytes_that_a_fork_gave_are_not_trusted_later_either_and_the_lock_names_the_repository(
    shop: Shop,
) -> None:
    with shop.open() as m:
        m.context.fetchers = {"git": Forge({"pdf/SKILL.md": document("pdf", CAUTION)})}
        m.add(f"anthropics/skills#{'a' * 40}", force=True, consent=yes)

        trusted = m.trust("pdf")
        warnings = list(m.context.warnings)

    assert "community" == trusted.level
    assert (
        '"source": "https://github.com/anthropics/skills"'
        in (shop.project / "metier.lock").read_text()
    )
    assert "data.bin is only a pointer" in warnings

"""What locked skills ask of each other's versions: updates go together, and none leaves another with a
version that will not do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.repositories import Repository
from fakes.shop import DANGEROUS, Shop, document, yes

if TYPE_CHECKING:
    from pathlib import Path


class Source:
    """A repository with a skill, and one that it needs."""

    def __init__(self, folder: Path) -> None:
        """Begin with nothing."""
        self.made = Repository(folder)
        self.address = f"git+{self.made.address}"

    def release(self, version: str, *, tag: bool = True) -> None:
        """Have another version of what is needed."""
        self.made.commit({"pdf/SKILL.md": document("pdf", fields=f"version: {version}\n")})
        if tag:
            self.made.git("tag", f"v{version}")

    def ask_for(self, wanted: str) -> None:
        """Have the other skill need these versions of it."""
        self.made.commit(
            {"top/SKILL.md": document("top", fields=f'depends-on: ["pdf@{wanted}"]\n')}
        )


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path / "made")


def test_what_came_by_a_tag_moves_to_the_newest_one_that_fits(shop: Shop, source: Source) -> None:
    source.ask_for("^1")
    source.release("1.2.0")
    source.release("2.0.0")
    with shop.open() as m:
        m.add(source.address, skills=["top"], consent=yes)
        current = [(one.name, one.state) for one in m.outdated()]
    source.release("1.3.0")
    source.release("2.1.0")
    refs = [shop.pins()["pdf"]["ref"]]
    with shop.open() as m:
        stale = [(one.name, one.state) for one in m.outdated()]
        m.update(consent=yes)
    refs.append(shop.pins()["pdf"]["ref"])
    source.ask_for("^2")
    with shop.open() as m:
        both = m.update(["top"], consent=yes)
        frozen = m.sync(frozen=True)
    refs.append(shop.pins()["pdf"]["ref"])

    assert [("pdf", "current"), ("top", "current")] == current
    assert [("pdf", "outdated"), ("top", "current")] == stale
    assert ["v1.2.0", "v1.3.0", "v2.1.0"] == refs
    assert ["pdf", "top"] == sorted(one.name for one in both.installed)
    assert frozen.ok


def test_an_update_that_needs_what_nobody_has_waits(shop: Shop, source: Source) -> None:
    source.ask_for("^1")
    source.release("1.2.0")
    with shop.open() as m:
        m.add(source.address, skills=["top"], consent=yes)
    source.ask_for("^4")
    before = shop.seen()

    with shop.open() as m:
        found = m.update(check=True)
        after = shop.seen()
        m.update(consent=yes)

    assert [("top", ("it needs 'pdf' ^4, and that is 1.2.0",))] == [
        (one.name, one.reasons) for one in found.held
    ]
    assert before == after
    assert "^1" in shop.working("top", "SKILL.md").read_text()


def test_an_update_that_another_skill_cannot_use_waits(shop: Shop, source: Source) -> None:
    source.ask_for("^1")
    source.release("1.2.0", tag=False)
    with shop.open() as m:
        m.add(source.address, skills=["top"], consent=yes)
    source.release("2.0.0", tag=False)
    with shop.open() as m:
        alone = m.update(consent=yes)
    source.ask_for("^2")
    with shop.open() as m:
        both = m.update(consent=yes)

    assert [("pdf", ("'top' needs ^1, and this is 2.0.0",))] == [
        (one.name, one.reasons) for one in alone.held
    ]
    assert ["pdf", "top"] == sorted(one.name for one in both.installed)


def test_what_does_not_fit_already_holds_nothing_up(shop: Shop, source: Source) -> None:
    source.ask_for("^3")
    source.release("1.2.0")
    with shop.open() as m:
        m.add(source.address, skills=["top", "pdf"], no_deps=True, consent=yes)
    source.release("1.3.0")

    with shop.open() as m:
        found = m.update(consent=yes)

    assert ["pdf"] == [one.name for one in found.installed]


@pytest.mark.parametrize("body", ["Harmless.\n", DANGEROUS])
def test_what_relies_on_an_update_goes_with_it_or_waits_with_it(
    shop: Shop, source: Source, body: str
) -> None:
    source.ask_for("^1")
    source.release("1.2.0", tag=False)
    with shop.open() as m:
        m.add(source.address, skills=["top"], consent=yes)
    source.release("2.0.0", tag=False)
    fields = 'depends-on: ["pdf@^2", more]\n'
    source.made.commit(
        {
            "top/SKILL.md": document("top", fields=fields),
            "more/SKILL.md": document("more", body),
        }
    )

    with shop.open() as m:
        found = m.update(consent=yes)

    held = {one.name: one.reasons[0] for one in found.held}
    if body == DANGEROUS:
        assert ((), ["pdf", "top"]) == (found.installed, sorted(held))
        assert "it needs 'more', which is refused" in held["top"]
        assert "'top' needs ^1, and this is 2.0.0" == held["pdf"]
    else:
        assert {} == held
        assert ["more", "pdf", "top"] == sorted(one.name for one in found.installed)

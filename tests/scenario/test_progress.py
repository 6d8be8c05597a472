"""Long work says how far it has come: what is done, of how much, and while a source is being fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doors.upstream import Upstream, text_of
from fakes.archives import honest_zip
from fakes.shop import Shop, document, yes
from fakes.site import Site

if TYPE_CHECKING:
    from pathlib import Path

    from fakes.plugs import Plugs

    from metier.library import Library

NAMES = ("csv", "docx", "pdf")


class Told:
    """Remembers what was said about the progress of work."""

    def __init__(self, library: Library) -> None:
        """Listen to a library."""
        self.said: list[tuple[str, int, int]] = []
        library.context.progress = lambda *said: self.said.append(said)

    def of(self, what: str) -> list[tuple[int, int]]:
        """Give what was said of one kind of work."""
        return [(count, total) for said, count, total in self.said if said == what]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """Give a machine."""
    return Shop(tmp_path / "shop")


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    """Give a repository with three skills."""
    made = Upstream(tmp_path / "upstream")
    made.commit({f"skills/{name}/SKILL.md": text_of(name) for name in NAMES})
    return made


def test_adding_says_how_many_skills_are_checked_and_that_it_is_fetching(
    shop: Shop, upstream: Upstream
) -> None:
    with shop.open() as m:
        told = Told(m)
        m.add(upstream.url, all=True, consent=yes)

    assert [(1, 3), (2, 3), (3, 3)] == told.of("skills checked")
    assert {0} == {total for _count, total in told.of("fetched")}


def test_updating_and_restoring_say_how_many_there_are(shop: Shop, upstream: Upstream) -> None:
    with shop.open() as m:
        m.add(upstream.url, all=True, consent=yes)
    upstream.commit({f"skills/{name}/SKILL.md": text_of(name, "Newer.\n") for name in NAMES})

    with shop.open() as m:
        updating = Told(m)
        m.update(consent=yes)
    (shop.working("pdf", "SKILL.md")).unlink()
    shop.working("pdf").rmdir()
    with shop.open() as m:
        restoring = Told(m)
        m.sync()

    assert [(1, 3), (2, 3), (3, 3)] == updating.of("skills compared")
    assert (1, 1) == restoring.of("skills restored")[-1]


@pytest.mark.loopback
def test_a_download_says_how_much_of_it_has_come(shop: Shop) -> None:
    packed = honest_zip({"count/SKILL.md": document("count").encode()})
    with Site({"/count.zip": packed}) as site:
        shop.configure(f'[supply]\nprivate_hosts = ["{site.place}"]\n')
        with shop.open() as m:
            told = Told(m)
            m.add(f"{site.url}/count.zip", consent=yes)

    assert (len(packed), len(packed)) == told.of("fetched")[-1]


def test_mirroring_a_plugin_says_how_many_skills_are_staged(plugs: Plugs) -> None:
    with plugs.open() as m:
        told = Told(m)
        m.plugin_enable(str(plugs.kit), consent=yes)

    assert [(1, 2), (2, 2)] == told.of("skills staged")


def test_a_search_says_how_many_sources_have_answered(shop: Shop, upstream: Upstream) -> None:
    shop.configure(f'[supply]\ndefault_taps = ["{upstream.url}"]\n')

    with shop.open() as m:
        told = Told(m)
        m.search("pdf")

    assert (1, 1) == told.of("sources asked")[-1]
    assert [] == told.of("fetched"), "several at once would talk over each other"


def test_a_look_through_another_agent_s_eyes_is_told_of_too(shop: Shop) -> None:
    with shop.open() as m:
        told = Told(m)

        with m.context.as_agent(None) as other:
            other.progress("folders", 1, 0)

    assert [(1, 0)] == told.of("folders")

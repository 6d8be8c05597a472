"""Searches while the skills change: each goes by one state of the library, and none fails for what another thread does."""

from __future__ import annotations

import shutil
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest
from conformance.folders import Place, skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from metier.library import Library

COUNT, ROUNDS, SEARCHERS = 30, 40, 3
TRIGGER = "triggers: [zebra stripes]\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a machine with a few skills that all fit; only words count."""
    made = Place(tmp_path)
    made.configure('[route]\nvectors = "off"\n')
    for number in range(COUNT):
        skill(made.root / f"s{number}", description=f"Paints zebra {number}.", fields=TRIGGER)
    return made


def change(place: Place, library: Library, turn: int) -> None:
    """Take a skill away, or put others in, and let the library know."""
    if turn % 2:
        shutil.rmtree(place.root / f"s{turn % COUNT}", ignore_errors=True)
    else:
        for number in (turn % COUNT, (turn - 1) % COUNT):
            skill(place.root / f"s{number}", description=f"Paints zebra {turn}.", fields=TRIGGER)
    library.reload()


def together(works: list[Callable[[], None]]) -> list[Exception]:
    """Do all of that at once; give what was raised."""
    raised: list[Exception] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what the test asks for
            raised.append(error)

    threads = [Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.mark.parametrize("kept", [True, False], ids=["on disk", "in memory"])
def test_no_search_fails_for_what_another_thread_changes(place: Place, kept: bool) -> None:
    library = place.open()
    library.context.data = library.context.data if kept else None
    begun, ended, answers = Event(), Event(), list[int]()

    def search() -> None:
        while not ended.is_set() or not answers:
            answers.append(len(library.find("paint a zebra", 50)))
            answers.append(len(library.find("zebra", 50, scope="external")))
            library.matches("zebra stripes")
            begun.set()

    def changes() -> None:
        begun.wait()
        try:
            for turn in range(ROUNDS):
                change(place, library, turn)
        finally:
            ended.set()

    raised = together([*[search] * SEARCHERS, changes])

    assert [] == raised
    assert COUNT - ROUNDS <= min(answers) <= max(answers) <= COUNT
    assert set() == {hit.path for hit in library.find("zebra", 50)} - {
        card.path for card in library.skills()
    }


def test_filters_of_two_threads_do_not_get_into_each_other_s_way(place: Place) -> None:
    shutil.move(place.root / "s0", place.root / "blue" / "s0")
    skill(place.root / "blue" / "s1", description="Paints zebra 1.")
    library = place.open()
    found: dict[str, set[str]] = {"blue": set(), "": set()}

    def search(category: str) -> Callable[[], None]:
        def work() -> None:
            for _turn in range(30):
                found[category].update(
                    hit.category for hit in library.find("zebra", 5, category=category)
                )

        return work

    raised = together([search("blue"), search(""), search("blue")])

    assert [] == raised
    assert {"blue": {"blue"}, "": {""}} == found

"""What takes long over a large library is found out in a process of its own, and comes to the same."""

from __future__ import annotations

import os
import threading
import time
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fakes.errands
import pytest
from fakes.errands import number_of_process, wait_for_ever
from unit.web.pages import PageReader

import metier
from metier.errors import NotFoundError
from metier.web import errand
from metier.web.agents import find_told, find_views
from metier.web.errand import Errands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Home, Writer

    from metier.library import Library

MODULES = os.pathsep.join(
    (str(Path(metier.__file__).parents[1]), str(Path(fakes.errands.__file__).parents[1]))
)
PATIENCE_SECONDS = 60


@pytest.fixture
def library(home: Home, skill: Writer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """Give a library that counts as large."""
    monkeypatch.setattr(errand, "MIN_SKILLS", 1)
    for name in ("ink", "oxen", "radio"):
        skill(f"home/.claude/skills/{name}", description=f"Knows all about {name}. Use it.")
    with metier.open(env={**home.env, "PYTHONPATH": MODULES}, cwd=home.path) as m:
        yield m


def never_here(monkeypatch: pytest.MonkeyPatch, library: Library) -> None:
    """Have it fail where the work is done in this process after all."""

    def refuse() -> Library:
        raise AssertionError("it was done here")

    monkeypatch.setattr(library, "open_again", refuse)


@pytest.mark.parametrize(
    "find_out",
    [
        methodcaller("agents"),
        methodcaller("seen_by"),
        find_views,
        partial(find_told, agent="claude-code"),
        methodcaller("likeness_map"),
    ],
    ids=["agents", "seen_by", "views", "told", "map"],
)
def test_another_process_finds_out_the_same(
    library: Library, find_out: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with library.open_again() as m:
        expected = find_out(m)
    never_here(monkeypatch, library)

    assert expected == Errands().find_out(library, find_out)


def test_a_large_library_is_asked_elsewhere_and_a_small_one_here(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert os.getpid() != Errands().find_out(library, number_of_process)
    monkeypatch.setattr(errand, "MIN_SKILLS", 4)
    assert os.getpid() == Errands().find_out(library, number_of_process)


def test_what_cannot_be_sent_is_done_here(library: Library) -> None:
    assert os.getpid() == Errands().find_out(library, lambda _m: os.getpid())


def test_what_cannot_be_started_is_done_here(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")

    assert ["claude-code"] == [
        one.id for one in Errands().find_out(library, methodcaller("agents"))
    ]


def test_a_refusal_keeps_its_code_and_hint(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotFoundError) as here:
        library.resolve("nothing-of-the-kind")
    never_here(monkeypatch, library)
    with pytest.raises(NotFoundError) as elsewhere:
        Errands().find_out(library, methodcaller("resolve", "nothing-of-the-kind"))

    assert here.value.as_dict() == elsewhere.value.as_dict()


def test_what_lies_in_the_project_is_not_taken_for_a_module(
    home: Home, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "was-run"
    for name in ("metier", "pickle", "json"):
        (home.path / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    never_here(monkeypatch, library)

    Errands().find_out(library, methodcaller("agents"))

    assert not mark.exists()


def test_the_end_waits_for_no_errand(library: Library) -> None:
    errands = Errands()
    raised: list[BaseException] = []

    def ask() -> None:
        try:
            errands.find_out(library, wait_for_ever)
        except RuntimeError as error:
            raised.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    until = time.monotonic() + PATIENCE_SECONDS
    while not errands.under_way and time.monotonic() < until:
        time.sleep(0.01)
    errands.end()
    asking.join(PATIENCE_SECONDS)

    assert not asking.is_alive()
    assert ["the page is ending"] == [str(one) for one in raised]


def test_pages_of_a_large_library_show_what_was_found_out(library: Library) -> None:
    with PageReader(library.open_again()) as pages:
        assert "Claude Code" in pages.read("/agents")
        assert "3 skills compared by shared words" in pages.read("/graph")


def test_many_skills_are_judged_elsewhere_and_the_list_knows(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metier.web.site.MIN_JUDGED_ELSEWHERE", 2)
    here: list[object] = []
    monkeypatch.setattr("metier.trust.judge.judge_cards", lambda *a, **_k: here.append(a))
    with PageReader(library.open_again()) as pages:
        left = pages.site.judge_some()

        assert (1, []) == (left, here)
        verdicts = [card.verdict for card in pages.site.rows().cards]
        assert 2 == sum(one == "safe" for one in verdicts)


def test_a_page_that_ends_while_it_judges_says_nothing(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metier.web.site.MIN_JUDGED_ELSEWHERE", 2)
    faults: list[object] = []
    monkeypatch.setattr(threading, "excepthook", faults.append)
    with PageReader(library.open_again()) as pages:
        judging = threading.Thread(target=pages.site.keep_judging)
        pages.site.has_answered()
        judging.start()
        until = time.monotonic() + PATIENCE_SECONDS
        while not pages.site.errands.under_way and time.monotonic() < until:
            time.sleep(0.005)
        pages.site.end()
        judging.join(PATIENCE_SECONDS)

        assert not judging.is_alive()
    assert [] == faults

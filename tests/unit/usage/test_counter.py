"""Uses are counted once the library settles, in one writing, and only where that is wanted."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import metier
from metier.usage import counter, io

if TYPE_CHECKING:
    from conftest import Home, Writer

    from metier.library import Library

DAY_NS = 86_400 * 1_000_000_000


def opened(home: Home, root: Path, config: str = "") -> Library:
    file = home.path / "metier.toml"
    file.write_text(config)
    return metier.open(roots=[str(root)], env={**home.env, "METIER_CONFIG": str(file)})


def counts(home: Home) -> dict[str, io.Count]:
    return {one.name: one for one in io.read_counts(home.env["METIER_HOME"]).used}


def test_a_view_is_written_when_the_library_closes(home: Home, skill: Writer) -> None:
    root = skill("skills/pdf").parent

    with opened(home, root) as library:
        tokens = library.view("pdf").tokens
        library.view("pdf")
        before = counts(home)

    assert {} == before
    assert (2, 0, 2 * tokens) == (
        counts(home)["pdf"].views,
        counts(home)["pdf"].loads,
        counts(home)["pdf"].tokens,
    )


def test_sections_files_and_pages_are_reads_of_a_part(home: Home, skill: Writer) -> None:
    folder = skill("skills/pdf", text="---\nname: pdf\ndescription: Reads.\n---\n\n# A\n\nDo.\n")
    (folder / "references").mkdir()
    (folder / "references" / "a.md").write_text("abcd" * 10)

    with opened(home, folder.parent) as library:
        library.view("pdf", "references/a.md")
        section = library.section("pdf", "A")
        library.page("pdf", "references/a.md")
        library.sections("pdf")

    assert (0, 3, 20 + section.tokens) == (
        counts(home)["pdf"].views,
        counts(home)["pdf"].reads,
        counts(home)["pdf"].tokens,
    )


def test_a_failure_is_a_run_that_went_wrong(home: Home, skill: Writer) -> None:
    root = skill("skills/pdf").parent

    with opened(home, root) as library:
        card = library.resolve("pdf")
        for what in ("run", "run", "failure", "run", "run"):
            counter.count_use(library.context, card, what)
        stats = counter.run_stats(library.context)

    assert {"pdf": (5, 80)} == stats
    assert (5, 1) == (counts(home)["pdf"].runs, counts(home)["pdf"].failures)


def test_many_uses_are_written_in_between(home: Home, skill: Writer) -> None:
    library = opened(home, skill("skills/pdf").parent)

    for _ in range(counter.BATCH_USES + 3):
        counter.count_use(library.context, library.resolve("pdf"), "load", 1)

    assert counter.BATCH_USES == counts(home)["pdf"].loads
    library.close()
    assert counter.BATCH_USES + 3 == counts(home)["pdf"].loads


def test_nothing_is_counted_when_configuration_says_so(home: Home, skill: Writer) -> None:
    root = skill("skills/pdf").parent

    with opened(home, root, "usage = false\n") as library:
        library.view("pdf")
        found = library.usage()

    assert not Path(home.env["METIER_HOME"], "usage.db").exists()
    assert ([], [counter.COUNTING_OFF]) == (found.skills, found.notes)


def test_a_refused_skill_was_not_used(home: Home, skill: Writer) -> None:
    root = skill("skills/pdf").parent

    with opened(home, root, "[skills]\ndisabled = ['pdf']\n") as library:
        try:
            library.view("pdf")
        except metier.RefusedError:
            pass

    assert {} == counts(home)


def test_a_skill_that_nobody_used_is_dead_after_the_days_and_not_before(
    home: Home, skill: Writer
) -> None:
    root = skill("skills/pdf").parent
    skill("skills/used")
    library = opened(home, root)
    clock = library.context.ports.clock_ns

    library.view("used")
    today = library.usage(days=30)
    library.context.ports = library.context.ports._replace(clock_ns=lambda: clock() + 31 * DAY_NS)
    library.view("used")
    later = library.usage(days=30)

    assert ([], ["pdf"]) == ([one.name for one in today.dead], [one.name for one in today.unused])
    assert (["pdf"], []) == ([one.name for one in later.dead], [one.name for one in later.unused])
    library.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try for a moment only, where a test holds the file itself."""
    monkeypatch.setattr(io, "PATIENCE_SECONDS", 0.01)


def held(home: Home) -> sqlite3.Connection:
    """Hold the file of counts as another process would."""
    io.add_counts(home.env["METIER_HOME"], None, [], 1)
    other = sqlite3.connect(f"{home.env['METIER_HOME']}/usage.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return other


@pytest.mark.usefixtures("impatient")
def test_what_cannot_be_written_waits_for_the_next_time_and_is_said_once(
    home: Home, skill: Writer
) -> None:
    library = opened(home, skill("skills/pdf").parent)
    other = held(home)
    library.view("pdf")
    library.context.settle()
    library.view("pdf")
    library.context.settle()
    meanwhile = counts(home)
    other.close()

    library.view("pdf")
    library.context.settle()

    assert ({}, 3) == (meanwhile, counts(home)["pdf"].views)
    (warning,) = library.context.warnings
    assert warning.startswith(f"{counter.UNWRITTEN}: ")
    library.close()
    assert 3 == counts(home)["pdf"].views


@pytest.mark.usefixtures("impatient")
def test_what_waits_is_written_at_the_end_though_nothing_more_was_used(
    home: Home, skill: Writer
) -> None:
    library = opened(home, skill("skills/pdf").parent)
    other = held(home)
    library.view("pdf")
    library.context.settle()
    other.close()

    library.close()

    assert 1 == counts(home)["pdf"].views


def test_no_use_is_lost_between_threads_that_add_and_one_that_settles(
    home: Home, skill: Writer
) -> None:
    library = opened(home, skill("skills/pdf").parent)
    card = library.resolve("pdf")

    def use() -> None:
        for _ in range(200):
            counter.count_use(library.context, card, "view", 1)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        library.context.settle()
    library.close()

    assert (800, 800) == (counts(home)["pdf"].views, counts(home)["pdf"].tokens)


@pytest.mark.parametrize("days", [0, -1, True, 36_501, "30", 1.5, None, 10**400])
def test_days_that_are_none_are_a_mistake_of_the_caller(
    days: Any, home: Home, skill: Writer
) -> None:
    library = opened(home, skill("skills/pdf").parent)

    with pytest.raises(metier.UsageError, match=r"^days cannot be"):
        library.usage(days=days)


def test_a_clock_that_was_once_ahead_does_not_keep_a_skill_alive(home: Home, skill: Writer) -> None:
    root = skill("skills/pdf").parent
    library = opened(home, root)
    clock = library.context.ports.clock_ns

    def at(days: int) -> None:
        library.context.ports = library.context.ports._replace(
            clock_ns=lambda: clock() + days * DAY_NS
        )

    at(20_000)
    library.view("pdf")
    library.context.settle()
    at(0)
    today = library.usage(days=30)
    at(40)
    later = library.usage(days=30)

    assert ([], ["pdf"]) == ([one.name for one in today.dead], [one.name for one in later.dead])
    library.close()


def test_a_skill_of_another_place_is_elsewhere_until_it_is_gone(home: Home, skill: Writer) -> None:
    folder, other = skill("skills/pdf"), skill("other/palette").parent
    with opened(home, folder.parent) as library:
        library.view("pdf")

    with opened(home, other) as library:
        there = library.usage().skills[0].state
    (folder / "SKILL.md").unlink()
    folder.rmdir()
    with opened(home, other) as library:
        gone = library.usage().skills[0].state

    assert ("elsewhere", "gone") == (there, gone)


def test_how_far_the_comparison_has_come_is_told(home: Home, skill: Writer) -> None:
    library = opened(home, skill("skills/pdf").parent)
    library.skills()
    told: list[tuple[str, int]] = []
    library.context.progress = lambda what, count, _total: told.append((what, count))

    library.usage()

    assert [("descriptions", 0)] == told

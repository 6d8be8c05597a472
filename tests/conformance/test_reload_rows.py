"""Looking again: what is replaced, what is said about it, and what a watcher hears of (ZE-5, ZE-6, ZE-38, HE-28, CO-6)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from conformance.folders import Place, body, cards, file, names, skill, write
from fakes.listener import Listener

import metier
from metier.disclose import read
from metier.discover.watch import Watcher

if TYPE_CHECKING:
    from metier.library import Library
    from metier.model import Change

CODE = "def run(task):\n    return task\n"


# --- ZE-5, ZE-6: bodies are lazy, a reload replaces everything


@pytest.mark.rows("ZE-5")
def test_a_body_that_nobody_asks_for_is_never_opened_by_a_reload(place: Place) -> None:
    skill(place.root / "pdf")
    library = place.open()
    library.reload()
    with (skill(place.root / "huge") / "SKILL.md").open("r+b") as opened:
        opened.truncate(1 << 33)  # a sparse body of 8 GiB

    change = library.reload()

    assert (str(place.root / "huge"),) == change.added


@pytest.mark.rows("ZE-5")
def test_an_unknown_name_is_not_found_after_a_reload_either(place: Place) -> None:
    skill(place.root / "pdf")
    library = place.open()
    shutil.rmtree(place.root / "pdf")
    library.reload()

    with pytest.raises(metier.NotFoundError):
        library.view("pdf")


@pytest.mark.rows("ZE-6")
def test_a_reload_replaces_cards_bodies_and_files(place: Place) -> None:
    skill(place.root / "pdf", description="Old.", body="old\n", files={"references/a.md": "old"})
    library = place.open()
    before = (
        cards(library)["pdf"].description,
        body(library, "pdf").content,
        file(library, "pdf", "references/a.md").content,
    )

    skill(place.root / "pdf", description="New.", body="new\n", files={"references/a.md": "new"})
    library.reload()

    assert ("Old.", "old\n", "old") == before
    after = (
        cards(library)["pdf"].description,
        body(library, "pdf").content,
        file(library, "pdf", "references/a.md").content,
    )
    assert ("New.", "new\n", "new") == after


@pytest.mark.rows("ZE-6")
def test_a_reload_takes_the_roots_as_they_are_now(place: Place) -> None:
    place.configure("")
    library = place.scopes()
    library.skills()
    extra = skill(place.base / "extra" / "pdf")

    watcher = Watcher(library.context, Listener())
    place.configure(f'external_dirs = ["{place.base}/extra"]\n')
    change = watcher.pump({place.env["METIER_CONFIG"]})

    assert change is not None
    assert (str(extra),) == change.added


# --- HE-28: what a reload says, and what it leaves alone


@pytest.mark.rows("HE-28")
def test_a_reload_says_what_came_changed_and_went_and_how_many_are_as_they_were(
    place: Place,
) -> None:
    for name in ("stays", "changes", "goes"):
        skill(place.root / name)
    library = place.open()
    library.reload()

    skill(place.root / "changes", body="Otherwise.\n")
    skill(place.root / "comes")
    shutil.rmtree(place.root / "goes")
    change = library.reload()

    root = place.root
    assert len(cards(library)) == len(change.added) + len(change.changed) + change.unchanged
    assert ((f"{root}/comes",), (f"{root}/changes",), (f"{root}/goes",), 1) == change
    assert ((), (), (), 3) == library.reload()


@pytest.mark.rows("HE-28")
def test_a_reload_leaves_a_prompt_s_beginning_as_it_was(place: Place) -> None:
    for name in ("alpha", "beta", "gamma"):
        skill(place.root / name)
    library = place.open()
    told = library.catalogue()

    skill(place.root / "gamma", description="Another description.")
    library.reload()
    same, again = told.text, library.catalogue(previous=told)

    # What a host has put into its prompt stays what it is; what it asks for next begins with the same bytes.
    assert same == told.text
    assert told.text[: told.text.index("gamma")] == again.text[: told.text.index("gamma")]
    assert library.catalogue(previous=again).text == again.text


# --- ZE-38, MT-20: the watcher


@pytest.fixture
def watched(place: Place) -> tuple[Library, Watcher, list[Change]]:
    skill(place.root / "pdf", files={"scripts/run.py": "print(1)\n"})
    skill(place.root / "csv")
    library, told = place.open(), list["Change"]()
    return library, Watcher(library.context, told.append), told


@pytest.mark.rows("ZE-38")
def test_one_event_tells_of_all_that_changed_in_a_moment(
    place: Place, watched: tuple[Library, Watcher, list[Change]]
) -> None:
    _library, watcher, told = watched
    skill(place.root / "pdf", description="Another.")
    skill(place.root / "new")

    watcher.pump({f"{place.root}/pdf/SKILL.md", f"{place.root}/new", f"{place.root}/new/SKILL.md"})

    assert [((f"{place.root}/new",), (f"{place.root}/pdf",), (), 1)] == told


@pytest.mark.rows("ZE-38", "MT-20")
def test_any_file_of_a_skill_counts_not_only_its_skill_md(
    place: Place, watched: tuple[Library, Watcher, list[Change]]
) -> None:
    _library, watcher, told = watched
    write(place.root / "pdf/scripts/run.py", "print(2)\n")

    watcher.pump({f"{place.root}/pdf/scripts/run.py"})

    assert [(f"{place.root}/pdf",)] == [change.changed for change in told]


@pytest.mark.rows("ZE-38")
def test_a_root_that_does_not_exist_is_no_error_and_seen_when_it_appears(
    place: Place,
) -> None:
    listener = Listener()
    with place.open(place.base / "later") as library, library.watch(listener) as watcher:
        skill(place.base / "later" / "pdf")
        assert listener.added(place.base / "later" / "pdf")

        assert ("", ["pdf"]) == (watcher.trouble, names(library.skills()))


@pytest.mark.rows("MT-20")
def test_a_changed_skill_is_asked_about_again(
    place: Place, watched: tuple[Library, Watcher, list[Change]]
) -> None:
    library, watcher, told = watched
    library.trust("pdf", "approve", reason="read it")
    approved = library.resolve("pdf").state
    write(place.root / "pdf/scripts/run.py", "print(2)\n")

    watcher.pump({f"{place.root}/pdf/scripts/run.py"})

    card = library.resolve("pdf")
    assert ("visible", "ask", "changed") == (approved, card.state, card.held)
    assert told


@pytest.mark.rows("MT-20")
def test_a_snapshot_is_exchanged_whole(
    place: Place, watched: tuple[Library, Watcher, list[Change]]
) -> None:
    library, watcher, _told = watched
    old = library.context.catalogue.contents()
    shutil.rmtree(place.root / "csv")

    watcher.pump({f"{place.root}/csv"})

    assert (["csv", "pdf"], ["pdf"]) == (
        sorted(names(old.cards)),
        names(library.context.catalogue.contents().cards),
    )


@pytest.mark.rows("MT-20")
def test_a_second_activation_after_a_change_gives_the_new_body(
    place: Place, watched: tuple[Library, Watcher, list[Change]]
) -> None:
    library, watcher, _told = watched
    first = [read.load_for_model(library.context, "csv").already for _ in range(2)]
    skill(place.root / "csv", body="Otherwise.\n")

    watcher.pump({f"{place.root}/csv/SKILL.md"})
    loaded = read.load_for_model(library.context, "csv")

    assert ([False, True], False) == (first, loaded.already)
    assert "Otherwise." in loaded.text


@pytest.mark.rows("MT-20", "CO-6")
def test_code_that_was_loaded_is_dropped_with_its_skill(place: Place) -> None:
    write(place.root / "tool.py", CODE)
    library, dropped = place.open(), list[str]()
    library.context.on_change.append(lambda change: dropped.extend(change.changed))
    watcher = Watcher(library.context, lambda _change: None)
    write(place.root / "tool.py", "X = 1\n" + CODE)

    watcher.pump({f"{place.root}/tool.py"})

    assert [f"{place.root}/tool.py"] == dropped


# --- CO-6: manifest and configuration are read again with every look


@pytest.mark.rows("CO-6")
def test_decisions_and_configuration_are_read_again_with_every_look(place: Place) -> None:
    place.configure("")
    skill(place.root / "pdf")
    skill(place.root / "csv")
    library, told = place.open(), list["Change"]()
    watcher = Watcher(library.context, told.append)

    with place.open() as other:
        other.trust("pdf", "block", reason="no")
    watcher.pump({f"{library.context.data}/trust.json"})
    place.configure('[[skills.config]]\nname = "csv"\nenabled = false\n')
    watcher.pump({place.env["METIER_CONFIG"]})

    assert [(f"{place.root}/pdf",), (f"{place.root}/csv",)] == [change.changed for change in told]
    assert {"pdf": "blocked", "csv": "hidden"} == {
        name: card.state for name, card in cards(library).items()
    }


@pytest.mark.rows("CO-6")
def test_the_triggers_of_a_code_skill_are_read_again(place: Place) -> None:
    write(place.root / "tool.py", "SKILL_TRIGGERS = ['old']\n" + CODE)
    library = place.open()
    before = body(library, "tool").fields["triggers"]

    write(place.root / "tool.py", "SKILL_TRIGGERS = ['new', 'newer']\n" + CODE)
    library.reload()

    assert (["old"], ["new", "newer"]) == (before, body(library, "tool").fields["triggers"])

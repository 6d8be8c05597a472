"""A library that is watched: an editor writes, threads read, and everybody sees one whole state after another."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from doors.command import environment
from fakes.listener import PATIENCE, Listener

import metier
from metier.disclose import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Home, Writer

    from metier.discover.watch import Watcher
    from metier.library import Library

READERS = 4
VERSIONS = 40


@pytest.fixture
def root(tmp_path: Path, skill: Writer) -> Path:
    for name in ("alpha", "beta", "gamma"):
        skill(f"root/{name}")
    (tmp_path / "root" / "alpha" / "scripts").mkdir()
    (tmp_path / "root" / "alpha" / "scripts" / "run.py").write_text("print(1)\n")
    return tmp_path / "root"


@pytest.fixture
def library(root: Path, home: Home) -> Iterator[Library]:
    with metier.open(roots=[str(root)], env=home.env, cwd=root.parent) as library:
        yield library


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture(params=["notices", "polling"])
def watcher(
    request: pytest.FixtureRequest, library: Library, listener: Listener
) -> Iterator[Watcher]:
    with library.watch(listener, poll=request.param == "polling") as watcher:
        assert request.param == watcher.mode
        yield watcher


def rewritten(folder: Path, description: str) -> None:
    """Write a skill as an editor does: beside the old one, then in its place."""
    folder.mkdir(exist_ok=True)
    new = folder / ".SKILL.md.tmp"
    new.write_text(f"---\nname: {folder.name}\ndescription: {description}\n---\n\n{description}\n")
    new.replace(folder / "SKILL.md")


# --- what an editor does


@pytest.mark.usefixtures("watcher")
def test_every_kind_of_edit_becomes_an_event_and_the_library_is_current_when_it_does(
    library: Library, listener: Listener, root: Path
) -> None:
    rewritten(root / "alpha", "Edited.")
    assert listener.changed(root / "alpha")
    edited = library.resolve("alpha").description

    rewritten(root / "new", "New.")
    assert listener.added(root / "new")
    added = library.resolve("new").description

    (root / "beta").rename(root / "bravo")
    assert listener.removed(root / "beta")
    renamed = [card.path for card in library.skills(all=True)]

    shutil.rmtree(root / "gamma")
    assert listener.removed(root / "gamma")
    left = {card.path.rpartition("/")[2] for card in library.skills(all=True)}

    assert ("Edited.", "New.") == (edited, added)
    assert str(root / "beta") not in renamed
    assert {"alpha", "bravo", "new"} == left


@pytest.mark.usefixtures("watcher")
def test_a_support_file_counts_as_much_as_the_skill_s_own(listener: Listener, root: Path) -> None:
    (root / "alpha" / "scripts" / "run.py").write_text("print(2)\n")
    change = listener.changed(root / "alpha")

    assert ((), (str(root / "alpha"),), (), 2) == change


@pytest.mark.usefixtures("watcher")
def test_many_files_written_at_once_leave_the_library_with_all_of_them(
    library: Library, listener: Listener, root: Path, skill: Writer
) -> None:
    for number in range(50):
        folder = skill(f"root/group/many-{number}")
        (folder / "references").mkdir()
        (folder / "references" / "guide.md").write_text("guide")

    seen: set[str] = set()
    while len(seen) < 50:
        seen |= set(listener.told.get(timeout=PATIENCE).added)

    assert {f"many-{number}" for number in range(50)} <= {card.name for card in library.skills()}
    assert {f"{root}/group/many-{number}" for number in range(50)} == seen


def test_a_root_that_is_made_later_is_seen(
    tmp_path: Path, home: Home, listener: Listener, skill: Writer
) -> None:
    root = tmp_path / "not" / "yet"
    with (
        metier.open(roots=[str(root)], env=home.env) as library,
        library.watch(listener) as watcher,
    ):
        before = library.skills()

        folder = skill("not/yet/alpha")
        assert listener.added(folder)
        rewritten(folder, "Edited.")
        assert listener.changed(folder)

        assert ([], "notices", "") == (before, watcher.mode, watcher.trouble)
        assert "Edited." == library.resolve("alpha").description


@pytest.mark.usefixtures("watcher")
def test_a_configuration_that_changes_is_an_event_too(
    library: Library, listener: Listener, root: Path
) -> None:
    with metier.open(roots=[str(root)], env=library.context.env, cwd=root.parent) as other:
        other.disable("alpha")

    assert listener.changed(root / "alpha")

    assert ["beta", "gamma"] == [card.name for card in library.skills()]


# --- links


@pytest.mark.usefixtures("watcher")
def test_what_lies_behind_a_link_that_was_made_later_is_heard_of(
    listener: Listener, root: Path, skill: Writer
) -> None:
    target = skill("out/one")

    (root / "linked").symlink_to(target)
    assert listener.added(root / "linked")
    for text in ("one", "two"):
        (target / "data.txt").write_text(text)
        assert listener.changed(root / "linked")


@pytest.mark.usefixtures("watcher")
def test_a_link_that_leads_elsewhere_is_a_change_and_what_is_there_is_heard_of(
    library: Library, listener: Listener, root: Path, skill: Writer
) -> None:
    first, second = skill("out/one"), skill("out/two", description="The second.")
    (root / "linked").symlink_to(first)
    assert listener.added(root / "linked")

    (root / "new").symlink_to(second)
    (root / "new").replace(root / "linked")
    listener.until(lambda _change: "The second." in {card.description for card in library.skills()})
    for text in ("one", "two"):
        (second / "data.txt").write_text(text)
        assert listener.changed(root / "linked")


@pytest.mark.usefixtures("watcher")
def test_a_linked_skill_that_is_removed_and_made_again_goes_and_comes_and_is_heard_of(
    listener: Listener, root: Path, skill: Writer
) -> None:
    (root / "linked").symlink_to(skill("out/one"))
    assert listener.added(root / "linked")

    shutil.rmtree(root.parent / "out" / "one")
    assert listener.removed(root / "linked")
    target = skill("out/one")
    assert listener.added(root / "linked")
    (target / "data.txt").write_text("one")
    assert listener.changed(root / "linked")


def test_a_link_that_led_nowhere_is_heard_of_when_it_leads_somewhere(
    library: Library, listener: Listener, root: Path, skill: Writer
) -> None:
    (root / "linked").symlink_to(root.parent / "not" / "yet" / "one")
    with library.watch(listener):
        target = skill("not/yet/one")
        assert listener.added(root / "linked")
        (target / "data.txt").write_text("one")
        assert listener.changed(root / "linked")


def test_a_skill_that_several_links_lead_to_is_heard_of_by_whichever_the_library_lists(
    library: Library, listener: Listener, root: Path, skill: Writer
) -> None:
    for name in ("zeta", "eta", "theta"):
        (root / name).symlink_to(skill("out/one"))
    (root / "inner").symlink_to(root / "alpha")
    with library.watch(listener):
        (listed,) = (
            card.path
            for card in library.skills(all=True)
            if card.path in {f"{root}/{name}" for name in ("zeta", "eta", "theta")}
        )

        (root.parent / "out" / "one" / "data.txt").write_text("one")
        assert listener.changed(listed)
        (root / "alpha" / "data.txt").write_text("one")
        assert listener.changed(root / "alpha")


def test_a_linked_folder_of_skills_is_heard_of_like_any_other(
    library: Library, listener: Listener, root: Path, skill: Writer
) -> None:
    skill("out/team/one")
    (root / "team").symlink_to(root.parent / "out" / "team")
    with library.watch(listener):
        (skill("out/team/two") / "data.txt").write_text("one")
        assert listener.added(root / "team" / "two")
        (root.parent / "out" / "team" / "one" / "data.txt").write_text("one")
        assert listener.changed(root / "team" / "one")


# --- what belongs to a skill, and to a conversation


@pytest.mark.usefixtures("watcher")
@pytest.mark.parametrize(
    "name", ["data.tmp", "notes~", "node_modules/x.js", "__pycache__/x.pyc", ".git/HEAD"]
)
def test_a_file_that_is_part_of_the_digest_counts_whatever_it_is_called(
    name: str, listener: Listener, root: Path
) -> None:
    (root / "alpha" / name).parent.mkdir(exist_ok=True)

    (root / "alpha" / name).write_text("x")
    assert listener.changed(root / "alpha")
    (root / "alpha" / name).unlink()
    assert listener.changed(root / "alpha")


@pytest.mark.usefixtures("watcher")
def test_no_change_is_lost_to_another_conversation(
    library: Library, listener: Listener, skill: Writer
) -> None:
    for number in range(3):
        folder = skill(f"root/new-{number}")
        library.begin_session()
        library.skills()
        assert listener.added(folder)


@pytest.mark.usefixtures("watcher")
def test_no_change_is_lost_to_a_secret_that_was_given(
    library: Library, listener: Listener, skill: Writer
) -> None:
    folder = skill("root/new")
    library.context.catalogue.forget()
    library.skills()

    assert listener.added(folder)


# --- what hangs on a skill


@pytest.mark.usefixtures("watcher")
@pytest.mark.parametrize("file", ["SKILL.md", "scripts/run.py"])
def test_a_changed_skill_loses_its_approval_and_its_place_in_the_session(
    file: str, library: Library, listener: Listener, root: Path
) -> None:
    library.trust("alpha", "approve", reason="read it")
    approved = library.resolve("alpha").state
    first = read.load_for_model(library.context, "alpha")
    again = read.load_for_model(library.context, "alpha")

    with (root / "alpha" / file).open("a") as opened:
        opened.write("\n# And then something else.\n")
    listener.until(
        lambda change: (
            str(root / "alpha") in change.changed and library.resolve("alpha").state == "ask"
        )
    )

    card = library.resolve("alpha")
    assert ("visible", False, True) == (approved, first.already, again.already)
    assert ("ask", "changed") == (card.state, card.held)
    assert str(root / "alpha") not in library.context.session.loaded
    with pytest.raises(metier.RefusedError):
        library.view("alpha")


@pytest.mark.usefixtures("watcher")
def test_a_skill_loaded_again_after_an_edit_gives_the_new_words(
    library: Library, listener: Listener, root: Path
) -> None:
    read.load_for_model(library.context, "alpha")

    rewritten(root / "alpha", "Something new.")
    assert listener.changed(root / "alpha")
    loaded = read.load_for_model(library.context, "alpha")

    assert not loaded.already
    assert "Something new." in loaded.text


@pytest.mark.usefixtures("watcher")
def test_loaded_modules_are_dropped_before_anybody_is_told(
    library: Library, listener: Listener, root: Path
) -> None:
    modules = {str(root / "alpha"): "a module", str(root / "beta"): "another"}

    def drop(change: metier.Change) -> None:
        for path in (*change.changed, *change.removed):
            modules.pop(path, None)

    library.context.on_change.append(drop)
    rewritten(root / "alpha", "Edited.")
    assert listener.changed(root / "alpha")

    assert {str(root / "beta"): "another"} == modules


def test_the_prompt_keeps_its_beginning_over_an_edit(
    library: Library, listener: Listener, root: Path
) -> None:
    with library.watch(listener):
        before = library.catalogue()

        rewritten(root / "gamma", "Another description.")
        assert listener.changed(root / "gamma")
        after = library.catalogue(previous=before)

    assert before.text != after.text
    assert after.text.startswith(before.text[: before.text.index("gamma")])


# --- threads


@pytest.mark.usefixtures("watcher")
def test_readers_see_one_whole_state_after_another_while_an_editor_writes(
    library: Library, listener: Listener, root: Path
) -> None:
    stop, faults = threading.Event(), list[str]()
    asked: list[Callable[[], object]] = [
        lambda: {card.name for card in library.skills(all=True)},
        lambda: {row["name"] for row in json.loads(library.listing())["skills"]},
        lambda: {library.resolve("beta").name, "alpha", "gamma"},
        lambda: {"alpha", "beta", "gamma"} if library.categories()[0].count >= 3 else set(),
    ]

    def read(question: Callable[[], object]) -> None:
        looks = 0
        while not stop.is_set() or not looks:
            looks += 1
            try:
                names = question()
                cards = library.context.catalogue.contents().cards
                if not {"alpha", "beta", "gamma"} <= set(names):  # type: ignore[call-overload]
                    faults.append(f"incomplete: {names}")
                if len({card.path for card in cards}) != len(cards):
                    faults.append("a skill twice")
                library.context.settle()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a fault
                faults.append(repr(error))

    threads = [threading.Thread(target=read, args=(question,)) for question in asked]
    for thread in threads:
        thread.start()
    for number in range(1, VERSIONS + 1):
        rewritten(root / "alpha", f"Version {number}.")
        rewritten(root / f"extra-{number}", "More.")
        if number > 3:
            shutil.rmtree(root / f"extra-{number - 3}")
        time.sleep(0.005)
    listener.until(lambda _change: library.resolve("alpha").description == f"Version {VERSIONS}.")
    stop.set()
    for thread in threads:
        thread.join(PATIENCE)

    assert [] == faults
    assert gc.isenabled()


def test_a_reader_keeps_the_state_it_began_with(
    library: Library, listener: Listener, root: Path
) -> None:
    with library.watch(listener):
        old = library.context.catalogue.contents()

        rewritten(root / "alpha", "Edited.")
        assert listener.changed(root / "alpha")

    assert "Edited." not in {card.description for card in old.cards}
    assert "Edited." in {card.description for card in library.context.catalogue.contents().cards}


# --- where watching fails, and how it ends


def test_without_the_package_the_disk_is_polled_and_that_is_said(
    library: Library, listener: Listener, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)

    with library.watch(listener) as watcher:
        rewritten(root / "alpha", "Edited.")
        assert listener.changed(root / "alpha")

        assert ("polling", "watchfiles is not installed: pip install 'metier[watch]'") == (
            watcher.mode,
            watcher.trouble,
        )
    (warning,) = library.context.warnings
    assert warning.startswith("file watching is off (watchfiles is not installed")


def test_a_closed_watcher_leaves_nothing_running_and_tells_nobody(
    library: Library, listener: Listener, root: Path
) -> None:
    watcher = library.watch(listener)

    watcher.close()
    rewritten(root / "alpha", "Edited.")
    library.reload()

    assert [] == [thread.name for thread in threading.enumerate() if thread.name == "metier-watch"]
    assert listener.told.empty()
    assert [] == library.context.on_change


def test_a_process_that_forgets_to_close_its_watcher_ends_all_the_same(
    root: Path, home: Home
) -> None:
    code = f"import metier; library = metier.open(roots=[{str(root)!r}]); watcher = library.watch(print); print(watcher.mode)"

    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(home.env),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert (0, "notices\n", "") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.filterwarnings(
    "ignore:.*fork:DeprecationWarning"
)  # newer Pythons warn of the very danger that is met here
def test_a_forked_process_does_without_the_watcher_and_waits_for_nobody(
    library: Library, listener: Listener, root: Path
) -> None:
    def told(change: metier.Change) -> None:
        with library.context.lock:  # whoever is told may hold the lock while another thread forks
            listener(change)
            held.set()
            go_on.wait(PATIENCE)

    held, go_on = threading.Event(), threading.Event()
    watcher = library.watch(told)
    rewritten(root / "alpha", "Edited.")
    held.wait(PATIENCE)

    child = os.fork()
    if not child:
        library.reload()
        state = (
            watcher.mode,
            library.context.on_change,
            library.context.closing,
            gc.isenabled(),
            len(library.skills()),
        )
        library.close()
        os._exit(0 if state == ("by hand", [], [], True, 3) else 1)
    _child, status = os.waitpid(child, 0)
    go_on.set()
    rewritten(root / "beta", "Edited.")
    assert listener.changed(root / "beta")

    assert (0, "notices") == (status, watcher.mode)

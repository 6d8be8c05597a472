"""One step of a watcher, without a thread: given what was touched, one look and one event, or none."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pytest
from fakes.listener import Listener

import metier
from metier import pipeline
from metier.discover.watch import Watcher

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Home, Writer

    from metier.library import Library
    from metier.model import Change


@pytest.fixture
def root(tmp_path: Path, skill: Writer) -> Path:
    for name in ("alpha", "beta"):
        folder = skill(f"root/{name}")
        (folder / "references").mkdir()
        (folder / "references" / "guide.md").write_text("the guide")
    return tmp_path / "root"


@pytest.fixture
def library(root: Path, home: Home) -> Iterator[Library]:
    with metier.open(roots=[str(root)], env=home.env, cwd=root.parent) as library:
        yield library


@pytest.fixture
def watcher(library: Library) -> Watcher:
    return Watcher(library.context, Listener())


def told(watcher: Watcher) -> list[Change]:
    """Give all that was told since the last question."""
    assert isinstance(watcher.heard, Listener)
    found = []
    while not watcher.heard.told.empty():
        found.append(watcher.heard.told.get())
    return found


# --- what is an event


def test_an_edited_support_file_is_one_event(watcher: Watcher, root: Path) -> None:
    guide = root / "alpha" / "references" / "guide.md"
    guide.write_text("another guide")

    change = watcher.pump({str(guide)})

    assert [((), (str(root / "alpha"),), (), 1)] == [change] == told(watcher)


def test_several_paths_of_several_skills_are_one_event(
    watcher: Watcher, root: Path, skill: Writer
) -> None:
    (root / "alpha" / "SKILL.md").unlink()
    (root / "beta" / "references" / "new.md").write_text("new")
    new = skill("root/gamma")

    watcher.pump({f"{root}/alpha/SKILL.md", f"{root}/beta/references/new.md", f"{new}/SKILL.md"})

    assert [((str(new),), (f"{root}/beta",), (f"{root}/alpha",), 0)] == told(watcher)


def test_a_file_of_a_skill_inside_a_skill_changes_both(
    watcher: Watcher, root: Path, skill: Writer
) -> None:
    inner = skill("root/alpha/inner")
    watcher.pump({f"{inner}/SKILL.md"})
    told(watcher)

    (inner / "note.md").write_text("x")
    watcher.pump({f"{inner}/note.md"})

    assert (f"{root}/alpha", str(inner)) == told(watcher)[0].changed


def test_a_second_look_at_the_same_place_is_no_second_event(watcher: Watcher, root: Path) -> None:
    guide = root / "alpha" / "references" / "guide.md"
    guide.write_text("another guide")

    changes = [watcher.pump({str(guide)}), watcher.pump({str(guide)}), watcher.pump(None)]

    assert [True, False, False] == [change is not None for change in changes]


def test_new_times_alone_are_no_event(watcher: Watcher, root: Path) -> None:
    guide = root / "alpha" / "references" / "guide.md"
    watcher.pump({str(guide)})  # known from here on
    told(watcher)

    os.utime(guide, (1, 1))

    assert watcher.pump({str(guide)}) is None
    assert [] == told(watcher)


def test_a_swap_file_that_came_and_went_in_another_skill_is_no_event(
    watcher: Watcher, root: Path
) -> None:
    (root / "beta" / ".SKILL.md.swp").write_text("x")
    (root / "beta" / ".SKILL.md.swp").unlink()
    (root / "alpha" / "SKILL.md").write_text("---\nname: alpha\ndescription: New.\n---\n")

    change = watcher.pump({f"{root}/alpha/SKILL.md"})

    assert change is not None
    assert (f"{root}/alpha",) == change.changed


def test_an_edit_that_nobody_heard_of_is_found_with_the_next_that_somebody_did(
    watcher: Watcher, root: Path, skill: Writer
) -> None:
    (root / "flat.md").write_text("---\nname: flat\ndescription: A flat one.\n---\nBody.\n")
    watcher.pump(())
    time.sleep(0.12)
    for path in (root / "beta" / "SKILL.md", root / "flat.md"):
        path.write_text(path.read_text() + "More.\n")

    change = watcher.pump({str(skill("root/gamma"))})

    assert change is not None
    assert ((f"{root}/gamma",), (f"{root}/beta", f"{root}/flat.md")) == (
        change.added,
        change.changed,
    )


def test_looking_at_everything_finds_any_file(watcher: Watcher, root: Path) -> None:
    watcher.pump(None)
    (root / "alpha" / "references" / "guide.md").write_text("another guide")
    (root / "beta" / "references" / "guide.md").chmod(0o755)

    change = watcher.pump(None)

    assert change is not None
    assert (f"{root}/alpha", f"{root}/beta") == change.changed
    assert watcher.pump(None) is None


def test_a_touched_root_means_everything(watcher: Watcher, root: Path) -> None:
    watcher.pump(None)
    (root / "alpha" / "references" / "guide.md").write_text("another guide")

    change = watcher.pump({str(root)})

    assert change is not None
    assert (f"{root}/alpha",) == change.changed


def test_a_path_heard_of_by_its_canonical_name_belongs_to_the_skill_behind_the_link(
    home: Home, root: Path
) -> None:
    (root.parent / "link").symlink_to(root)
    with metier.open(roots=[str(root.parent / "link")], env=home.env) as library:
        watcher = Watcher(library.context, Listener())
        path = library.resolve("alpha").path
        (root / "alpha" / "new.md").write_text("new")

        change = watcher.pump({f"{path}/new.md"})

    assert change is not None
    assert (path,) == change.changed


# --- who is told, and when


def test_what_hangs_on_a_skill_lets_go_before_anybody_is_told(library: Library, root: Path) -> None:
    order: list[str] = []
    library.context.on_change.append(lambda change: order.append(f"dropped {change.changed[0]}"))
    watcher = Watcher(library.context, lambda change: order.append(f"told {change.changed[0]}"))
    (root / "alpha" / "x.py").write_text("x")

    watcher.pump({f"{root}/alpha/x.py"})

    assert [f"dropped {root}/alpha", f"told {root}/alpha"] == order


def test_one_that_cannot_let_go_keeps_nobody_else_from_it(library: Library, root: Path) -> None:
    def broken(_change: Change) -> None:
        raise ValueError("no")

    listener = Listener()
    library.context.on_change.append(broken)
    watcher = Watcher(library.context, listener)
    (root / "alpha" / "x.py").write_text("x")

    watcher.pump({f"{root}/alpha/x.py"})

    assert 1 == listener.told.qsize()
    assert [
        "something that depends on the skills failed when they changed: no"
    ] == library.context.warnings


def test_a_listener_that_fails_is_told_of_the_next_change_all_the_same(
    library: Library, root: Path
) -> None:
    calls: list[Change] = []

    def heard(change: Change) -> None:
        calls.append(change)
        raise RuntimeError("no paper")

    watcher = Watcher(library.context, heard)
    for text in ("one", "two"):
        (root / "alpha" / "x.py").write_text(text)
        watcher.pump({f"{root}/alpha/x.py"})

    assert (2, "the listener failed: no paper", "") == (len(calls), watcher.fault, watcher.trouble)


def test_a_fault_that_was_mended_is_one_no_more(library: Library, root: Path) -> None:
    faults = [RuntimeError("no paper")]

    def heard(_change: Change) -> None:
        if faults:
            raise faults.pop()

    watcher, seen = Watcher(library.context, heard), list[str]()
    for text in ("one", "two"):
        (root / "alpha" / "x.py").write_text(text)
        watcher.pump({f"{root}/alpha/x.py"})
        seen.append(watcher.fault)

    assert ["the listener failed: no paper", ""] == seen


def test_a_change_that_somebody_else_found_is_told_as_well(
    library: Library, watcher: Watcher, root: Path
) -> None:
    (root / "alpha" / "SKILL.md").write_text("---\nname: alpha\ndescription: New.\n---\n")

    found = library.reload()
    watcher.pump(())

    assert [found] == told(watcher)


def test_nobody_is_told_after_the_watcher_was_closed(
    library: Library, watcher: Watcher, root: Path
) -> None:
    watcher.close()
    (root / "alpha" / "SKILL.md").unlink()

    watcher.pump({f"{root}/alpha"})

    assert [] == told(watcher)
    assert ([], []) == (library.context.on_change, library.context.closing)


def test_a_watcher_that_only_waits_to_be_pumped_says_so(watcher: Watcher) -> None:
    assert ("by hand", "", "") == (watcher.mode, watcher.trouble, watcher.fault)


def test_whoever_listens_twice_has_one_thread_and_the_second_way_of_listening(
    watcher: Watcher,
) -> None:
    modes = []
    for poll in (False, True):
        watcher.listen(poll=poll)
        modes.append(watcher.mode)
    threads = [thread for thread in threading.enumerate() if thread.name == "metier-watch"]
    watcher.close()

    assert (["notices", "polling"], 1) == (modes, len(threads))
    assert [] == [thread for thread in threading.enumerate() if thread.name == "metier-watch"]


def test_one_that_was_closed_does_not_listen_again(watcher: Watcher) -> None:
    watcher.close()

    watcher.listen()

    assert [] == [thread for thread in threading.enumerate() if thread.name == "metier-watch"]


def test_a_library_that_cannot_be_looked_at_leaves_no_thread(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object, **_named: object) -> None:
        raise OSError("no disk")

    monkeypatch.setattr(watcher.context.catalogue, "reload", broken)

    with pytest.raises(OSError, match="no disk"):
        watcher.listen()

    assert [] == [thread for thread in threading.enumerate() if thread.name == "metier-watch"]


def test_the_library_s_environment_says_whether_notices_work(home: Home, root: Path) -> None:
    with (
        metier.open(
            roots=[str(root)], env={**home.env, "WATCHFILES_FORCE_POLLING": "1"}
        ) as library,
        library.watch(Listener()) as watcher,
    ):
        assert ("polling", "WATCHFILES_FORCE_POLLING is set", "") == (
            watcher.mode,
            watcher.trouble,
            watcher.fault,
        )


# --- what was told stays told


def test_a_change_is_told_although_the_library_has_looked_again_by_itself(
    library: Library, watcher: Watcher, skill: Writer
) -> None:
    new = skill("root/gamma")
    library.context.catalogue.forget()
    library.skills()

    watcher.pump(())

    assert [(str(new),)] == [change.added for change in told(watcher)]


def test_a_change_is_told_although_another_conversation_began_meanwhile(
    library: Library, watcher: Watcher, root: Path, skill: Writer
) -> None:
    watcher.pump(None)
    new = skill("root/gamma")
    (root / "alpha" / "references" / "guide.md").write_text("another guide")
    library.begin_session()
    library.skills()

    watcher.pump(None)

    assert [((str(new),), (f"{root}/alpha",))] == [change[:2] for change in told(watcher)]


def test_another_conversation_does_not_look_at_the_disk_again_but_makes_the_cards_anew(
    library: Library, skill: Writer
) -> None:
    glanced, found = library.context.catalogue.glance(), library.context.catalogue.contents()
    skill("root/gamma")

    library.begin_session()

    assert library.context.catalogue.glance() is glanced
    assert library.context.catalogue.contents() is not found
    assert [card.name for card in found.cards] == [
        card.name for card in library.context.catalogue.contents().cards
    ]


def test_a_listing_made_for_one_conversation_is_not_put_in_place_for_the_next(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = pipeline.catalogue

    def interrupted(*given: object) -> pipeline.Catalogue:
        library.begin_session()
        return made(*given)  # type: ignore[arg-type]

    library.context.catalogue.glance()
    monkeypatch.setattr("metier.pipeline.catalogue", interrupted)

    library.listing()

    assert library.context.catalogue._now[1] is None  # noqa: SLF001


def test_a_skill_that_somebody_else_found_is_known_whole_from_then_on(
    library: Library, watcher: Watcher, skill: Writer
) -> None:
    watcher.pump(None)
    new = skill("root/gamma")
    library.reload()

    watcher.pump({f"{new}/SKILL.md"})

    assert [((str(new),), ())] == [change[:2] for change in told(watcher)]


# --- links


def test_links_to_skills_and_into_nowhere_are_watched_but_no_others(
    library: Library, root: Path, skill: Writer
) -> None:
    skill("out/team/pdf")
    skill("out/one")
    for name, target in {
        "team": "out/team",
        "one": "out/one",
        "two": "out/one",
        "gone": "out/gone",
    }.items():
        (root / name).symlink_to(root.parent / target)
    (root / "alpha" / "data").symlink_to(root.parent / "out")
    (root / "alpha" / "references" / "data").symlink_to(root.parent / "out")

    watcher = Watcher(library.context, Listener())

    assert {f"{root}/{name}" for name in ("team", "one", "two", "gone")} == set(
        watcher._wanted.links  # noqa: SLF001
    )
    again = watcher._wanted  # noqa: SLF001
    watcher.pump(())
    assert again == watcher._wanted  # noqa: SLF001


def test_a_link_that_may_not_be_followed_is_not_watched(
    root: Path, home: Home, skill: Writer
) -> None:
    project = root.parent / "project"
    (project / ".git").mkdir(parents=True)
    own, outside = skill("project/.agents/skills/own"), skill("out/one")
    (own.parent / "outside").symlink_to(outside)
    (own.parent / "inside").symlink_to(skill("project/more"))
    with metier.open(env=home.env, cwd=project) as library:
        watcher = Watcher(library.context, Listener())

        assert {f"{own.parent}/inside"} == set(watcher._wanted.links)  # noqa: SLF001


# --- configuration and decisions


def test_a_configuration_that_changed_is_read_again(home: Home, root: Path) -> None:
    config = root.parent / "metier.toml"
    config.write_text("")
    with metier.open(roots=[str(root)], env=home.env, config=config) as library:
        watcher = Watcher(library.context, Listener())
        config.write_text('[[skills.config]]\nname = "alpha"\nenabled = false\n')

        watcher.pump({str(config)})

        assert [(f"{root}/alpha",)] == [change.changed for change in told(watcher)]
        assert "hidden" == library.resolve("alpha").state


def test_a_project_s_configuration_that_appears_is_read(
    home: Home, root: Path, skill: Writer
) -> None:
    needy = skill(
        "root/needy",
        text="---\nname: needy\ndescription: Needs a key.\nprerequisites:\n  env_vars: [NO_SUCH_KEY]\n---\n",
    )
    project = root.parent / "project"
    (project / ".git").mkdir(parents=True)
    with metier.open(roots=[str(root)], env=home.env, cwd=project) as library:
        watcher = Watcher(library.context, Listener())
        (project / ".metier").mkdir()
        (project / ".metier" / "metier.toml").write_text("hide_unready = true\n")

        watcher.pump({f"{project}/.metier"})

        assert [(str(needy),)] == [change.changed for change in told(watcher)]


def test_a_configuration_half_written_leaves_the_old_one_in_force(home: Home, root: Path) -> None:
    config = root.parent / "metier.toml"
    config.write_text('[[skills.config]]\nname = "alpha"\nenabled = false\n')
    with metier.open(roots=[str(root)], env=home.env, config=config) as library:
        watcher = Watcher(library.context, Listener())
        config.write_text("[[skills.con")

        watcher.pump({str(config)})

        assert "is not valid TOML" in watcher.fault
        assert "hidden" == library.resolve("alpha").state
        config.write_text("")
        watcher.pump({str(config)})
        assert ("visible", "") == (library.resolve("alpha").state, watcher.fault)


def test_a_configuration_that_cannot_be_read_is_warned_of_once(home: Home, root: Path) -> None:
    config = root.parent / "metier.toml"
    config.write_text("")
    with metier.open(roots=[str(root)], env=home.env, config=config) as library:
        watcher = Watcher(library.context, Listener())

        for number in range(3):
            config.write_text("[[skills.con" + " " * number)
            watcher.pump({str(config)})
            watcher.pump(None)

        (warning,) = library.context.warnings
        assert f"the configuration was not read again: {watcher.fault}" == warning
        assert "" == watcher.trouble


def test_a_decision_made_elsewhere_is_an_event(
    library: Library, home: Home, watcher: Watcher, root: Path
) -> None:
    with metier.open(roots=[str(root)], env=home.env) as other:
        other.trust("alpha", "quarantine", reason="odd")

    watcher.pump({f"{library.context.data}/trust.json"})

    assert [(f"{root}/alpha",)] == [change.changed for change in told(watcher)]
    assert "quarantined" == library.resolve("alpha").state


def test_more_paths_than_the_system_may_have_kept_mean_everything(
    watcher: Watcher, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metier.discover.watch.MAX_TOUCHED_PATHS", 1)
    watcher.pump(None)
    (root / "alpha" / "references" / "guide.md").write_text("another guide")

    change = watcher.pump({"/nowhere/a", "/nowhere/b"})

    assert change is not None
    assert (f"{root}/alpha",) == change.changed


def test_a_secret_kept_elsewhere_makes_the_skill_ready_that_waited_for_it(
    home: Home, root: Path, skill: Writer
) -> None:
    needy = skill(
        "root/needy",
        text="---\nname: needy\ndescription: Needs a key.\nprerequisites:\n  env_vars: [SOME_KEY]\n---\n",
    )
    with (
        metier.open(roots=[str(root)], env=home.env) as library,
        metier.open(roots=[str(root)], env=home.env) as other,
    ):
        watcher = Watcher(library.context, Listener())
        before = library.resolve("needy").readiness

        other.setup("needy", lambda _ask: "a value", store="file")
        watcher.pump({f"{library.context.data}/secrets/values.env"})

        assert ("setup_needed", "available") == (before, library.resolve("needy").readiness)
        assert [(str(needy),)] == [change.changed for change in told(watcher)]

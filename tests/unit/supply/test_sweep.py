"""`gc`: what is needed stays, whoever needs it; the rest goes, and only when it is asked for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from conftest import Home
from doors.upstream import Upstream, text_of
from fakes.mirrors import a_candidate, a_mirror, a_plugin, a_skill, a_version
from fakes.plugged import mirrored
from fakes.workshop import Workshop, changed

from metier.errors import StoreError, UsageError
from metier.store.io import safe_files
from metier.supply import places, sweep
from metier.supply.io import lock_file
from metier.supply.model import Request


@pytest.fixture
def shop(home: Home, tmp_path: Path) -> Workshop:
    """Give a workshop with an installed skill, updated once: two revisions."""
    made = Workshop(home, tmp_path)
    made.add()
    made.publish(changed(18))
    made.update()
    return made


def trees(shop: Workshop) -> int:
    return sum(1 for path in (shop.data / "store" / "trees").rglob("*.json"))


def test_revisions_stay_until_somebody_says_how_many(shop: Workshop) -> None:
    with shop.open() as m:
        first, would, second = m.gc(), m.gc(revisions=1, dry_run=True), m.gc(revisions=1)
        history = [one.number for one in m.history("pdf")]

    assert (0, 1, would, 1) == (first.trees, second.trees, second, trees(shop))
    assert ([2], changed(18)) == (history, shop.file().read_text())


def test_a_dry_run_changes_nothing(shop: Workshop) -> None:
    before = shop.states()

    with shop.open() as m:
        freed = m.gc(revisions=1, dry_run=True)

    assert (1, before) == (freed.trees, shop.states())


def test_a_waiting_update_keeps_its_three_versions_and_its_desk(shop: Workshop) -> None:
    shop.edit(changed(3, 18, to="My line"))
    shop.publish(changed(3, 18, to="Their line"))
    shop.update()
    with shop.open() as m:
        desk = Path(m.merge("pdf").desk)

        m.gc(revisions=1)

        assert desk.is_dir()
        assert "merged" == m.merge("pdf", "theirs").state


def test_a_dropped_update_is_freed(shop: Workshop) -> None:
    shop.edit(changed(3, to="My line"))
    shop.publish(changed(3, to="Their line"))
    shop.update()

    with shop.open() as m:
        m.merge("pdf", "abort")

        assert 1 == m.gc().trees


@pytest.mark.parametrize("worked", [False, True])
def test_a_desk_whose_update_waits_no_longer_is_freed_unless_somebody_worked_on_it(
    worked: bool, shop: Workshop
) -> None:
    shop.edit(changed(3, to="My line"))
    shop.publish(changed(3, to="Their line"))
    shop.update()
    with shop.open() as m:
        desk = Path(m.merge("pdf").desk)
    if worked:
        (desk / "SKILL.md").write_text("hours of work\n")
    shop.publish(changed(3, to="Their newer line"))
    shop.update()

    with shop.open() as m:
        m.gc()
        told = [text for text in m.context.warnings if str(desk) in text]

    assert (worked, int(worked)) == (desk.exists(), len(told))


@pytest.mark.parametrize("count", [0, -1])
def test_at_least_one_revision_is_kept(count: int, shop: Workshop) -> None:
    with shop.open() as m, pytest.raises(UsageError):
        m.gc(revisions=count)

    assert 2 == trees(shop)


def test_a_copy_of_a_history_is_not_removed_while_it_is_fetched(shop: Workshop) -> None:
    cache = shop.data / "cache" / "git"
    (cache / "0123.history.git").mkdir()

    with shop.open() as m:
        with safe_files.hold_lock(str(cache / "0123.lock")):
            m.gc()
        busy = (cache / "0123.history.git").exists()
        m.gc()

    assert (True, False) == (busy, (cache / "0123.history.git").exists())


@pytest.mark.parametrize("damage", ["gone", "garbage"])
def test_a_lock_that_is_gone_or_cannot_be_read_keeps_all_its_revisions(
    damage: str, shop: Workshop
) -> None:
    lock = shop.folder / "metier.lock"
    lock.unlink() if damage == "gone" else lock.write_bytes(b"{")
    before = trees(shop)

    with shop.open() as m:
        freed = m.gc(revisions=1)

    assert (0, before) == (freed.trees, trees(shop))


def test_another_project_s_skills_are_not_touched(
    shop: Workshop, home: Home, tmp_path: Path
) -> None:
    other = Workshop(home, tmp_path / "other")
    other.add("ocr")

    with shop.open() as m:
        m.gc(revisions=1)
    shutil.rmtree(other.file(name="ocr").parent)
    shutil.rmtree(other.upstream.folder)
    with other.open() as m:
        assert m.sync(frozen=True).ok

    assert text_of("ocr") == other.file(name="ocr").read_text()


def test_notes_that_cannot_be_read_stop_everything(shop: Workshop) -> None:
    for path in (shop.data / "supply").glob("*.json"):
        if path.name not in {"journal.json", "made.json"}:
            path.write_bytes(b"{")
    before = trees(shop)

    with shop.open() as m, pytest.raises(StoreError):
        m.gc()

    assert before == trees(shop)


def test_copies_of_repositories_that_no_lock_names_go(shop: Workshop, tmp_path: Path) -> None:
    other = Upstream(tmp_path / "elsewhere")
    other.commit({"xls/SKILL.md": text_of("xls")})
    with shop.open() as m:
        m.add(other.url, consent=shop.yes)
        m.remove("xls", consent=shop.yes)
        before = len(list((shop.data / "cache" / "git").glob("*.git")))

        m.gc()

    assert (2, 1) == (before, len(list((shop.data / "cache" / "git").glob("*.git"))))
    assert () == shop.update().refused


def test_where_nothing_was_ever_installed_there_is_nothing_to_free(
    home: Home, tmp_path: Path
) -> None:
    with Workshop(home, tmp_path).open() as m:
        assert (0, 0, 0, 0, ()) == m.gc()


def test_a_removed_skill_stays_until_its_revisions_are_given_up(shop: Workshop) -> None:
    with shop.open() as m:
        m.remove("pdf", consent=shop.yes)

        assert (0, 2) == (m.gc().trees, trees(shop))
        assert (1, 1) == (m.gc(revisions=1).trees, trees(shop))


def kept(shop: Workshop, name: str) -> str:
    """Put a tree into the store that nothing names; give its digest."""
    folder = shop.folder.parent / name
    folder.mkdir()
    (folder / "SKILL.md").write_text(text_of(name))
    with shop.open() as m:
        return places.store_of(m.context).keep(str(folder))


def test_what_a_mirrored_plugin_needs_stays_wherever_it_is_mirrored(shop: Workshop) -> None:
    version, waits = kept(shop, "xls"), kept(shop, "ppt")
    skill = a_skill("xls", versions=(a_version(digest=version),))
    candidate = a_candidate(skill="xls")
    open_one = candidate._replace(
        evidence=candidate.evidence._replace(new_upstream_tree_hash=waits)
    )
    with shop.open() as m:
        mirrored(m, a_mirror("xls", candidates=[open_one])._replace(skills=(skill,)), user=True)

        first = m.gc()
        mirrored(m, a_mirror("xls"), user=True)
        second = m.gc()

    assert (0, 2) == (first.trees, second.trees)


def test_what_is_noted_about_plugins_and_cannot_be_read_stops_everything(shop: Workshop) -> None:
    kept(shop, "xls")
    before = trees(shop)
    with shop.open() as m:
        mirrored(m, a_mirror("xls")).write_bytes(b"{")

        with pytest.raises(StoreError):
            m.gc()

    assert before == trees(shop)


def test_what_somebody_else_needs_stays(shop: Workshop) -> None:
    digest = kept(shop, "xls")

    with shop.open() as m:
        first = sweep.sweep(m.context, dry_run=False, revisions=None, also=lambda: [digest])
        second = sweep.sweep(m.context, dry_run=False, revisions=None)

    assert (0, 1) == (first.trees, second.trees)


def test_what_drafts_need_is_asked_once_nobody_else_writes_to_the_store(shop: Workshop) -> None:
    kept(shop, "xls")
    held = []

    def also() -> tuple[str, ...]:
        for lock in ("store/lock", "supply/lock"):
            with pytest.raises(TimeoutError), safe_files.hold_lock(str(shop.data / lock), 0.0):
                pass
            held.append(lock)
        return ()

    with shop.open() as m:
        freed = sweep.sweep(m.context, dry_run=False, revisions=None, also=also)

    assert (["store/lock", "supply/lock"], 1) == (held, freed.trees)


def test_copies_of_repositories_that_a_plugin_comes_from_stay(
    shop: Workshop, tmp_path: Path
) -> None:
    ones = [Upstream(tmp_path / name) for name in ("mirrored", "named", "neither")]
    for one in ones:
        one.commit({f"{one.folder.name}/SKILL.md": text_of(one.folder.name)})
    shop.config.write_text(f"[plugins]\nsources = ['{ones[1].url}', 'no source: at all']\n")
    with shop.open() as m:
        for one in ones:
            m.add(one.url, consent=shop.yes)
            m.remove(one.folder.name, consent=shop.yes)
        request = Request("marketplace", ones[0].source)
        mirrored(
            m,
            a_mirror("xls")._replace(
                plugins=(a_plugin("office", [a_skill("xls")], source=request),)
            ),
        )
        before = len(list((shop.data / "cache" / "git").glob("*.git")))

        m.gc()

    assert (4, 3) == (before, len(list((shop.data / "cache" / "git").glob("*.git"))))


def test_the_desk_of_a_plugin_s_update_stays(shop: Workshop) -> None:
    desk = shop.data / "merges" / "xls-0123-4567"
    (desk / "empty").mkdir(parents=True)
    with shop.open() as m:
        mirrored(m, a_mirror("xls", candidates=[a_candidate(skill="xls", desk=desk.name)]))

        m.gc()

        assert (True, []) == (
            desk.is_dir(),
            [text for text in m.context.warnings if desk.name in text],
        )


@pytest.mark.parametrize(
    ("project", "gone"),
    [
        ("/home/me/work", True),
        ("/media/me/stick/work", True),
        ("/media/me/stick", False),
        ("/run/media/me/stick", False),
        ("/Volumes/stick", False),
        ("/mnt/stick", False),
    ],
)
def test_a_disk_that_is_a_project_is_not_gone_because_others_are_there(
    monkeypatch: pytest.MonkeyPatch, project: str, *, gone: bool
) -> None:
    monkeypatch.setattr(os, "listdir", lambda _folder: ["other"])
    monkeypatch.setattr(os.path, "lexists", lambda _path: False)

    assert gone == lock_file.is_project_gone(f"{project}/metier.lock")

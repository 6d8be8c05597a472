"""`merge`: a person settles what was held, by a side, by hand, or by dropping it."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Home
from doors.upstream import DANGEROUS, LINES, text_of
from fakes.workshop import PLAIN, Workshop, changed

from metier.errors import IntegrityError, NotFoundError, RefusedError, UsageError
from metier.store.io.disk_calls import OsDiskCalls
from metier.supply import places

GIF = "GIF89a\0{}"
MINE, THEIRS = changed(3, to="My line"), changed(3, 18, to="Their line")
BOTH_MINE = text_of(
    "pdf", LINES.replace("Line 3 ", "My line 3 ").replace("Line 18 ", "Their line 18 ")
)


@pytest.fixture
def shop(home: Home, tmp_path: Path) -> Workshop:
    """Give a workshop in which an update of `pdf` is held: line 3 was changed on both sides, line 18 upstream alone."""
    made = Workshop(home, tmp_path)
    made.add()
    made.edit(MINE)
    made.publish(THEIRS)
    made.update()
    return made


def pending(shop: Workshop) -> list[str]:
    with shop.open() as m:
        return [
            one.name for one in places.read(places.place_of(m.context, user=False)).state.pending
        ]


def test_showing_lays_a_desk_with_markers_and_touches_nothing_else(shop: Workshop) -> None:
    with shop.open() as m:
        shown = m.merge("pdf")
        again = m.merge("pdf")

    desk = Path(shown.desk)
    assert ("shown", shown, shop.data / "merges") == (shown.state, again, desk.parent)
    assert [("SKILL.md", PLAIN, MINE, THEIRS)] == [one[1:5] for one in shown.conflicts]
    assert (
        "<<<<<<< yours\nMy line 3 of the instructions.\n=======\nTheir line 3 of the instructions.\n>>>>>>> theirs\n"
        in (desk / "SKILL.md").read_text()
    )
    assert "echo filled\n" == (desk / "scripts" / "fill.sh").read_text()
    assert (MINE, ["pdf"]) == (shop.file().read_text(), pending(shop))


@pytest.mark.parametrize(("how", "expected"), [("ours", BOTH_MINE), ("theirs", THEIRS)])
def test_a_side_settles_only_what_conflicts(how: str, expected: str, shop: Workshop) -> None:
    with shop.open() as m:
        done = m.merge("pdf", how)
        history = [one.what for one in m.history("pdf")]

    assert ("merged", "", expected) == (done.state, done.desk, shop.file().read_text())
    assert (["merge", "edit", "add"], []) == (history, pending(shop))
    assert () == shop.update().plan.update


def test_continue_refuses_while_a_marker_stands_and_names_its_line(shop: Workshop) -> None:
    with shop.open() as m:
        desk = Path(m.merge("pdf").desk)
        lines = (desk / "SKILL.md").read_text().split("\n")

        with pytest.raises(IntegrityError) as caught:
            m.merge("pdf", "continue")

    at = lines.index("<<<<<<< yours") + 1
    assert "unmerged" == caught.value.code
    assert [
        {"path": "SKILL.md", "line": at},
        {"path": "SKILL.md", "line": at + 2},
        {"path": "SKILL.md", "line": at + 4},
    ] == caught.value.details["files"]
    assert f"SKILL.md:{at}" in caught.value.message
    assert (MINE, ["pdf"]) == (shop.file().read_text(), pending(shop))


def test_continue_without_a_desk_lays_one(shop: Workshop) -> None:
    with shop.open() as m, pytest.raises(IntegrityError) as caught:
        m.merge("pdf", "continue")

    assert ("unmerged", True) == (caught.value.code, any((shop.data / "merges").iterdir()))


def test_what_was_edited_on_the_desk_comes_into_place_and_the_desk_goes(shop: Workshop) -> None:
    settled = changed(3, to="Our line", body=LINES.replace("Line 18 ", "Their line 18 "))
    with shop.open() as m:
        desk = Path(m.merge("pdf").desk)
        (desk / "SKILL.md").write_text(settled)

        done = m.merge("pdf", "continue")

    assert ("merged", settled) == (done.state, shop.file().read_text())
    assert done.outcome is not None
    assert ["pdf"] == [one.name for one in done.outcome.installed]
    assert (False, []) == (desk.exists(), pending(shop))


def test_what_was_edited_in_place_since_comes_along(shop: Workshop) -> None:
    with shop.open() as m:
        desk = Path(m.merge("pdf").desk)
        (desk / "SKILL.md").write_text(BOTH_MINE)
        shop.edit(MINE.replace("Line 10 ", "Late line 10 "))

        m.merge("pdf", "continue")

    assert BOTH_MINE.replace("Line 10 ", "Late line 10 ") == shop.file().read_text()


def test_edits_in_place_that_do_not_fit_the_desk_are_not_lost(shop: Workshop) -> None:
    late = MINE.replace("Line 18 ", "Late line 18 ")
    with shop.open() as m:
        first = m.merge("pdf").desk
        (Path(first) / "SKILL.md").write_text(BOTH_MINE)
        shop.edit(late)

        with pytest.raises(IntegrityError) as caught:
            m.merge("pdf", "continue")
        second = m.merge("pdf")

    assert ("unmerged", late, BOTH_MINE) == (
        caught.value.code,
        shop.file().read_text(),
        (Path(first) / "SKILL.md").read_text(),
    )
    assert (True, late) == (first != second.desk, second.conflicts[0].ours)


def test_a_text_that_has_such_lines_of_its_own_can_be_merged(home: Home, tmp_path: Path) -> None:
    about = "Setext\n=======\n\n<<<<<<< yours\nis a marker.\n"
    shop = Workshop(home, tmp_path)
    shop.publish(changed(body=LINES + about))
    shop.add()
    shop.edit(changed(3, to="My line", body=LINES + about))
    shop.publish(changed(3, to="Their line", body=LINES + about))
    shop.update()
    with shop.open() as m:
        desk = Path(m.merge("pdf").desk)
        (desk / "SKILL.md").write_text(changed(3, to="Our line", body=LINES + about))

        assert "merged" == m.merge("pdf", "continue").state


def test_who_must_choose_between_two_files_finds_both(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.publish({"references/a.md": "a\n", "assets/b.gif": GIF.format("one")})
    shop.add()
    shop.file("references/a.md").unlink()
    shop.edit(GIF.format("mine"), "assets/b.gif")
    shop.publish({"references/a.md": "a, newer\n", "assets/b.gif": GIF.format("two")})
    shop.update()

    with shop.open() as m:
        shown = m.merge("pdf")
        desk = Path(shown.desk)
        found = sorted(
            path.relative_to(desk).as_posix() for path in desk.rglob("*") if path.is_file()
        )
        with pytest.raises(IntegrityError) as caught:
            m.merge("pdf", "continue")
        (desk / "assets/b.gif.metier-theirs").rename(desk / "assets/b.gif")
        (desk / "assets/b.gif.metier-yours").unlink()
        (desk / "references/a.md.metier-theirs").unlink()
        m.merge("pdf", "continue")

    assert [
        "SKILL.md",
        "assets/b.gif.metier-theirs",
        "assets/b.gif.metier-yours",
        "references/a.md.metier-theirs",
        "scripts/fill.sh",
    ] == found
    assert [
        ("assets/b.gif", "(binary, 10 bytes)", "(binary, 11 bytes)"),
        ("references/a.md", "a\n", None),
    ] == [(one.path, one.base, one.ours) for one in shown.conflicts]
    assert "unmerged" == caught.value.code
    assert (GIF.format("two"), False) == (
        shop.file("assets/b.gif").read_text(),
        shop.file("references/a.md").exists(),
    )


def test_a_dropped_update_is_offered_again(shop: Workshop) -> None:
    with shop.open() as m:
        desk = Path(m.merge("pdf").desk)
        done = m.merge("pdf", "abort")

    assert ("aborted", False, MINE) == (done.state, desk.exists(), shop.file().read_text())
    assert [] == pending(shop)
    assert ["pdf"] == [one.name for one in shop.update().held]


def test_what_is_dangerous_is_not_merged_by_any_way(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add()
    shop.publish(DANGEROUS.replace("name: bad", "name: pdf"))
    shop.update()

    with shop.open() as m:
        for how in ("continue", "theirs"):
            with pytest.raises(RefusedError):
                m.merge("pdf", how)

    assert (PLAIN, ["pdf"]) == (shop.file().read_text(), pending(shop))


def test_new_capabilities_are_let_in_by_going_on(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add()
    shop.publish({"tools/go.py": "print(1)\n"})
    held = shop.update().held

    with shop.open() as m:
        shown = m.merge("pdf")
        done = m.merge("pdf", "continue")

    assert (held[0].reasons, (), "merged") == (shown.reasons, shown.conflicts, done.state)
    assert "print(1)\n" == shop.file("tools/go.py").read_text()


def test_a_desk_that_somebody_worked_on_survives_another_update(shop: Workshop) -> None:
    with shop.open() as m:
        desk = Path(m.merge("pdf").desk)
        (desk / "SKILL.md").write_text(BOTH_MINE)

    outcome = shop.update()

    with shop.open() as m:
        assert (["pdf"], "merged") == (
            [one.name for one in outcome.held],
            m.merge("pdf", "continue").state,
        )
    assert BOTH_MINE == shop.file().read_text()


def test_nothing_to_merge_and_no_such_way_are_said(shop: Workshop) -> None:
    with shop.open() as m:
        with pytest.raises(UsageError):
            m.merge("pdf", "somehow")
        m.merge("pdf", "abort")
        with pytest.raises(NotFoundError):
            m.merge("pdf")


def test_the_lock_follows_a_skill_that_was_moved_upstream_while_it_was_held(shop: Workshop) -> None:
    shop.upstream.commit(
        {
            "skills/pdf/SKILL.md": None,
            "skills/pdf/scripts/fill.sh": None,
            "tools/pdf/SKILL.md": changed(3),
            "tools/pdf/scripts/fill.sh": "echo filled\n",
        }
    )
    shop.update()

    with shop.open() as m:
        m.merge("pdf", "theirs")
        pin = places.read(places.place_of(m.context, user=False)).lock.named("pdf")

    assert "tools/pdf" == getattr(pin, "path", "")


def test_a_desk_goes_along_when_metier_s_own_folder_is_moved(
    shop: Workshop, tmp_path: Path
) -> None:
    with shop.open() as m:
        (Path(m.merge("pdf").desk) / "SKILL.md").write_text(BOTH_MINE)
    shop.data.rename(tmp_path / "elsewhere")
    shop.home.env["METIER_HOME"] = str(tmp_path / "elsewhere")

    with shop.open() as m:
        m.gc()
        m.merge("pdf", "continue")

    assert BOTH_MINE == shop.file().read_text()


@pytest.mark.parametrize("desk", ["merges/../../precious", "..", ".", "merges/.."])
def test_a_desk_that_notes_put_elsewhere_is_not_removed_there(
    desk: str, shop: Workshop, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    other = shop.data / "merges" / "other-0-0"
    for folder in (precious, other):
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("x")
    [notes] = [path for path in (shop.data / "supply").glob("*.json") if path.name != "made.json"]
    notes.write_text(notes.read_text().replace('"desk": ""', f'"desk": "{desk}"'))

    with shop.open() as m:
        m.merge("pdf", "theirs")

        assert [] == [told for told in m.context.warnings if "is left" in told]
    assert ["x", "x"] == [(folder / "SKILL.md").read_text() for folder in (precious, other)]


@pytest.mark.parametrize("how", ["abort", "ours", "theirs"])
@pytest.mark.parametrize("worked", [False, True])
def test_a_desk_that_is_not_what_is_put_in_place_goes_unless_somebody_worked_there(
    worked: bool, how: str, shop: Workshop
) -> None:
    with shop.open() as m:
        desk = Path(m.merge("pdf").desk)
        if worked:
            (desk / "SKILL.md").write_text(BOTH_MINE)

        m.merge("pdf", how)

        assert (worked, worked) == (
            desk.exists(),
            any(str(desk) in told for told in m.context.warnings),
        )


def test_a_desk_whose_update_made_room_for_a_newer_one_is_told_of(shop: Workshop) -> None:
    with shop.open() as m:
        desk = Path(m.merge("pdf").desk)
    (desk / "SKILL.md").write_text(BOTH_MINE)
    shop.publish(changed(3, to="Their newest line"))

    with shop.open() as m:
        m.update(consent=shop.yes)

        assert (True, 1) == (desk.exists(), sum(str(desk) in told for told in m.context.warnings))


def test_a_desk_that_is_edited_while_it_is_put_in_place_is_left(shop: Workshop) -> None:
    with shop.open() as m:
        desk = Path(m.merge("pdf").desk)
    (desk / "SKILL.md").write_text(BOTH_MINE)

    class Late(OsDiskCalls):
        """The system's own hands, but somebody goes on with the desk while the skill is exchanged."""

        def swap(self, one: str, other: str) -> bool:
            (desk / "SKILL.md").write_text("more work\n")
            return super().swap(one, other)

    with shop.open() as m:
        m.context.disk_calls = Late()
        done = m.merge("pdf", "continue")
        warned = [text for text in m.context.warnings if str(desk) in text]

    assert ("merged", BOTH_MINE, "more work\n", 1) == (
        done.state,
        shop.file().read_text(),
        (desk / "SKILL.md").read_text(),
        len(warned),
    )

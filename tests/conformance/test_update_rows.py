"""Updates against local edits, row by row."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Home
from doors.upstream import DANGEROUS
from fakes.workshop import PLAIN, Workshop, changed

from metier.supply.model import classify

MINE, NEWER = changed(3, to="My line"), changed(18)


@pytest.mark.rows("BE-13")
@pytest.mark.parametrize(
    ("base", "local", "upstream", "expected"),
    [
        ("a", "a", "a", "unchanged"),
        ("a", "b", "a", "unchanged"),  # edited, and nothing new: before anything else
        ("a", "b", "b", "already_applied"),
        ("a", "a", "b", "fast_forward"),
        ("a", "b", "c", "three_way"),
    ],
)
def test_an_update_is_classified_in_this_order(
    base: str, local: str, upstream: str, expected: str
) -> None:
    assert expected == classify(base, local, upstream)


@pytest.mark.rows("BE-13")
@pytest.mark.parametrize(
    ("mine", "theirs", "mode", "result"),
    [
        (MINE, PLAIN, None, MINE),
        (NEWER, NEWER, "already_applied", NEWER),
        (PLAIN, NEWER, "fast_forward", NEWER),
        (MINE, NEWER, "three_way", MINE.replace("Line 18 ", "Newer line 18 ")),
    ],
)
def test_each_class_does_its_own(
    mine: str, theirs: str, mode: str | None, result: str, home: Home, tmp_path: Path
) -> None:
    shop = Workshop(home, tmp_path)
    shop.add()
    shop.edit(mine)
    shop.publish(theirs)

    outcome = shop.update()

    assert ([mode] if mode else []) == [step.mode for step in outcome.plan.update]
    assert result == shop.file().read_text()


# HE-44: the three answers, and a fourth for what can have no newer version
@pytest.mark.rows("HE-44")
def test_every_skill_is_current_outdated_unavailable_or_fixed(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add("pdf", "ocr")
    gone = tmp_path / "gone" / "xls"
    gone.mkdir(parents=True)
    (gone / "SKILL.md").write_text("---\nname: xls\ndescription: Does one thing.\n---\n\nDo it.\n")
    with shop.open() as m:
        m.add(str(gone), consent=shop.yes)
    (gone / "SKILL.md").unlink()
    shop.publish(NEWER)
    before = shop.states()

    with shop.open() as m:
        found = {one.name: (one.state, bool(one.why)) for one in m.outdated()}

    assert {
        "ocr": ("current", False),
        "pdf": ("outdated", False),
        "xls": ("unavailable", True),
    } == found
    assert before == shop.states()


# HE-44: a skill that was locked to a commit is fixed
@pytest.mark.rows("HE-44")
def test_a_commit_has_no_newer_version(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    with shop.open() as m:
        m.add(shop.upstream.url, skills=["pdf"], ref=shop.upstream.head(), consent=shop.yes)
    shop.publish(NEWER)

    with shop.open() as m:
        assert [("pdf", "fixed")] == [(one.name, one.state) for one in m.outdated()]


# HE-44: there, an update overwrites local edits; here none of four updates does
@pytest.mark.rows("HE-44")
def test_no_update_overwrites_an_edit(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add()
    shop.edit(MINE)
    shop.edit("notes of mine\n", "references/mine.md")

    for text in (changed(10), changed(3, 10), changed(18), PLAIN):
        shop.publish(text)
        shop.update()

    assert "My line 3 " in shop.file().read_text()
    assert "notes of mine\n" == shop.file("references/mine.md").read_text()


@pytest.mark.rows("MT-14")
def test_edits_are_merged_three_ways_everywhere(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "shared" / "pdf"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(PLAIN)
    shop = Workshop(home, tmp_path)
    with shop.open() as m:
        m.add(str(folder), consent=shop.yes)
    shop.edit(MINE)
    (folder / "SKILL.md").write_text(NEWER)

    shop.update()

    assert MINE.replace("Line 18 ", "Newer line 18 ") == shop.file().read_text()


@pytest.mark.rows("MT-14")
@pytest.mark.parametrize(("setting", "expected"), [("false", PLAIN), ("true", NEWER)])
def test_a_fast_forward_applies_by_itself_only_if_configured(
    setting: str, expected: str, home: Home, tmp_path: Path
) -> None:
    shop = Workshop(home, tmp_path, f"[supply]\nfast_forward = {setting}\n")
    shop.add()
    shop.publish(NEWER)

    with shop.open() as m:
        m.update()

    assert expected == shop.file().read_text()


# MT-5 and MT-14: the setting is a yes in advance to what is no worse and wants no more, and --yes is one to no more than that
@pytest.mark.rows("MT-5", "MT-14")
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"SKILL.md": NEWER.replace("---\n\n", "allowed-tools: Bash\n---\n\n", 1)}, "tool Bash"),
        (
            {"scripts/more.py": "print(1)\n"},
            "it asks for new permissions: scripts in python",
        ),
        (
            {"scripts/fill.sh": "curl https://example.com/form\n"},
            "it asks for new permissions: uses the network",
        ),
        (
            {"SKILL.md": DANGEROUS.replace("name: bad", "name: pdf")},
            "the scan calls it dangerous, and what is in place safe",
        ),
    ],
)
def test_what_is_worse_or_wants_more_always_waits(
    files: dict[str, str | None], reason: str, asked: bool, home: Home, tmp_path: Path
) -> None:
    shop = Workshop(home, tmp_path, "[supply]\nfast_forward = true\n")
    shop.add()
    before = (shop.folder / "metier.lock").read_bytes()
    shop.publish(files)

    with shop.open() as m:
        outcome = m.update(consent=shop.yes if asked else None)

    [held] = outcome.held
    assert (True, ()) == (reason in "; ".join(held.reasons), outcome.installed)
    assert (PLAIN, before) == (shop.file().read_text(), (shop.folder / "metier.lock").read_bytes())


@pytest.mark.rows("MT-14")
def test_a_conflict_waits_for_a_person_and_is_kept_until_then(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add()
    shop.edit(MINE)
    shop.publish(changed(3))

    held = shop.update().held
    with shop.open() as m:
        shown = m.merge("pdf")

    assert (["pdf"], MINE) == ([one.name for one in held], shop.file().read_text())
    assert (held[0].reasons, ["SKILL.md"]) == (shown.reasons, [one.path for one in shown.conflicts])

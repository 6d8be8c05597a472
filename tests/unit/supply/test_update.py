"""`update`: what is applied, what is merged, what is held and why, and that nothing of a user's is lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from conftest import Home
from doors.upstream import DANGEROUS, LINES, text_of
from fakes.workshop import PLAIN, Workshop, changed

from metier.context import Context
from metier.errors import MetierError, NotFoundError, StoreError
from metier.library import Library
from metier.supply import fetch, places
from metier.supply.io.quarantine import Quarantine
from metier.trust import sign
from metier.trust.io import key_files


@pytest.fixture
def shop(home: Home, tmp_path: Path) -> Workshop:
    made = Workshop(home, tmp_path)
    made.add()
    return made


def pin(shop: Workshop, name: str = "pdf") -> object:
    with shop.open() as m:
        return places.read(places.place_of(m.context, user=False)).lock.named(name)


def waiting(shop: Workshop) -> list[tuple[str, tuple[str, ...]]]:
    with shop.open() as m:
        return [
            (one.name, one.reasons)
            for one in places.read(places.place_of(m.context, user=False)).state.pending
        ]


def test_what_nobody_edited_becomes_the_new_version(shop: Workshop) -> None:
    commit = shop.publish({"SKILL.md": changed(18), "references/more.md": "More.\n"})

    outcome = shop.update()

    [step], [installed] = outcome.plan.update, outcome.installed
    assert ("fast_forward", commit, True) == (step.mode, step.commit, outcome.ok)
    assert (str(shop.file().parent), step.digest) == (installed.path, installed.digest)
    assert (changed(18), "More.\n") == (
        shop.file().read_text(),
        shop.file("references/more.md").read_text(),
    )
    assert (
        "Outcome(plan=Plan(add=(), update=(), remove=(), conflicts=()), installed=(), refused=(), held=(), notes=(), dependencies=())"
        == repr(shop.update())
    )


def test_a_commit_that_leaves_the_skill_alone_changes_nothing(shop: Workshop) -> None:
    shop.upstream.commit({"README.md": "Words.\n"})
    before = shop.states()

    outcome = shop.update()

    assert (True, ()) == (outcome.ok, outcome.plan.update)
    assert before == shop.states()


def test_edits_and_upstream_changes_end_up_in_one_file_and_both_versions_stay(
    shop: Workshop,
) -> None:
    shop.edit(changed(3, to="My line"))
    shop.publish(changed(18))

    outcome = shop.update()

    assert ["three_way"] == [step.mode for step in outcome.plan.update]
    assert changed(18, body=LINES.replace("Line 3 ", "My line 3 ")) == shop.file().read_text()
    with shop.open() as m:
        assert ["update", "edit", "add"] == [one.what for one in m.history("pdf")]


def test_who_has_made_the_same_change_already_is_only_noted_in_the_lock(shop: Workshop) -> None:
    shop.edit(changed(18))
    commit = shop.publish(changed(18))
    before = shop.file().stat()

    outcome = shop.update()

    after = pin(shop)
    assert ["already_applied"] == [step.mode for step in outcome.plan.update]
    assert (commit, True) == (
        getattr(after, "commit", ""),
        getattr(after, "digest", "") == getattr(after, "base", "-"),
    )
    assert (before.st_ino, before.st_mtime_ns) == (
        shop.file().stat().st_ino,
        shop.file().stat().st_mtime_ns,
    )


def test_a_conflict_is_held_with_all_three_sides_and_nothing_is_touched(shop: Workshop) -> None:
    mine = changed(3, to="My line")
    shop.edit(mine)
    shop.publish(changed(3, 18))
    lock = (shop.folder / "metier.lock").read_bytes()

    outcome = shop.update()

    [conflict], [held] = outcome.plan.conflicts, outcome.held
    assert ("pdf", "SKILL.md", PLAIN, mine, changed(3, 18)) == conflict[:5]
    assert ("pdf", ("SKILL.md: both changed the same or adjoining lines",), True) == (
        held.name,
        held.reasons,
        held.settle,
    )
    assert (False, ()) == (outcome.ok, outcome.installed)
    assert (mine, lock) == (shop.file().read_text(), (shop.folder / "metier.lock").read_bytes())
    assert [("pdf", held.reasons)] == waiting(shop)


def test_no_skill_waits_for_another_that_is_held(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add("pdf", "ocr")
    shop.edit(changed(3, to="My line"))
    shop.upstream.commit(
        {"skills/pdf/SKILL.md": changed(3), "skills/ocr/SKILL.md": text_of("ocr", "New.\n")}
    )

    outcome = shop.update()

    assert (["ocr"], ["pdf"]) == (
        [one.name for one in outcome.installed],
        [one.name for one in outcome.held],
    )
    assert text_of("ocr", "New.\n") == shop.file(name="ocr").read_text()


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"SKILL.md": PLAIN.replace("---\n\n", "allowed-tools: Bash\n---\n\n", 1)}, "tool Bash"),
        (
            {
                "SKILL.md": PLAIN.replace(
                    "---\n\n", "required_environment_variables: [TOKEN]\n---\n\n", 1
                )
            },
            "variable TOKEN",
        ),
        ({"tools/go.py": "print(1)\n"}, "scripts in python"),
        (
            {"SKILL.md": DANGEROUS.replace("name: bad", "name: pdf")},
            "the scan calls it dangerous, and what is in place safe",
        ),
    ],
)
def test_what_wants_more_or_is_worse_is_held_though_nothing_was_edited(
    files: dict[str, str | None], reason: str, shop: Workshop
) -> None:
    shop.publish(files)

    outcome = shop.update()

    [held] = outcome.held
    assert (False, ()) == (outcome.ok, outcome.installed)
    assert reason in "; ".join(held.reasons)
    assert PLAIN == shop.file().read_text()


def test_what_is_no_skill_any_more_is_refused_and_the_old_one_stays(shop: Workshop) -> None:
    shop.publish("---\nname: pdf\nno end of this\n")

    outcome = shop.update()

    assert ["pdf"] == [one.name for one in outcome.refused]
    assert PLAIN == shop.file().read_text()


@pytest.mark.parametrize("lines", [(18,), (3, 18)])
def test_check_and_outdated_change_nothing_at_all(lines: tuple[int, ...], shop: Workshop) -> None:
    shop.edit(changed(3, to="My line"))
    shop.publish(changed(*lines))
    before = shop.states(), shop.stamps()

    with shop.open() as m:
        outcome = m.update(check=True)
        ages = m.outdated()

    assert (2 - len(lines), len(lines) - 1, ()) == (
        len(outcome.plan.update),
        len(outcome.held),
        outcome.installed,
    )
    assert ["outdated"] == [one.state for one in ages]
    assert before == (shop.states(), shop.stamps())


def test_a_no_changes_nothing_at_all(shop: Workshop) -> None:
    shop.publish(changed(18))
    before = shop.states()

    with shop.open() as m:
        outcome = m.update(consent=lambda _plan: False)

    assert ((), before) == (outcome.installed, shop.states())


def test_without_a_person_only_the_setting_lets_an_update_through(
    home: Home, tmp_path: Path
) -> None:
    outcomes = []
    for setting in ("false", "true"):
        shop = Workshop(
            home._replace(env={**home.env, "METIER_HOME": str(tmp_path / setting)}),
            tmp_path / f"at-{setting}",
            f"[supply]\nfast_forward = {setting}\n",
        )
        shop.add()
        shop.publish(changed(18))
        with shop.open() as m:
            outcomes.append(
                (
                    bool(m.update().installed),
                    shop.file().read_text() == changed(18),
                    len(waiting(shop)),
                )
            )

    assert [(False, False, 1), (True, True, 0)] == outcomes


def test_even_then_edits_wait_for_a_person(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path, "[supply]\nfast_forward = true\n")
    shop.add()
    shop.edit(changed(3, to="My line"))
    shop.publish(changed(18))

    with shop.open() as m:
        outcome = m.update()

    assert ((), ("it would be merged with your edits, which needs your approval",)) == (
        outcome.installed,
        outcome.held[0].reasons,
    )
    assert changed(3, to="My line") == shop.file().read_text()


def test_a_skill_that_was_moved_upstream_is_followed_and_said(shop: Workshop) -> None:
    shop.upstream.commit(
        {
            "skills/pdf/SKILL.md": None,
            "skills/pdf/scripts/fill.sh": None,
            "tools/pdf/SKILL.md": changed(18),
            "tools/pdf/scripts/fill.sh": "echo filled\n",
        }
    )

    outcome = shop.update()

    assert ("pdf is at tools/pdf of its source now",) == outcome.notes
    assert ("tools/pdf", changed(18)) == (getattr(pin(shop), "path", ""), shop.file().read_text())


def test_a_skill_that_vanished_upstream_is_held_and_stays(shop: Workshop) -> None:
    shop.upstream.commit({"skills/pdf/SKILL.md": None, "skills/pdf/scripts/fill.sh": None})

    outcome = shop.update()

    [held] = outcome.held
    assert ("pdf", True, False) == (held.name, "no longer has it" in held.reasons[0], held.settle)
    assert (PLAIN, []) == (shop.file().read_text(), waiting(shop))


def test_a_source_that_is_gone_is_told_and_the_others_go_on(shop: Workshop, tmp_path: Path) -> None:
    other = tmp_path / "other" / "xls"
    other.mkdir(parents=True)
    (other / "SKILL.md").write_text(text_of("xls"))
    with shop.open() as m:
        m.add(str(other), consent=shop.yes)
    (other / "SKILL.md").write_text(text_of("xls", "New.\n"))
    shutil.rmtree(shop.upstream.folder)

    outcome = shop.update()

    assert (["pdf"], ["xls"]) == (
        [one.name for one in outcome.refused],
        [one.name for one in outcome.installed],
    )


def test_a_name_that_no_lock_has_is_an_error_before_anything_is_asked(shop: Workshop) -> None:
    with shop.open() as m, pytest.raises(NotFoundError):
        m.update(["pdf", "nobody"])


@pytest.mark.parametrize("names", [(), ("pdf",)])
def test_a_skill_that_another_process_removes_in_the_meantime_is_told_to_who_named_it(
    names: tuple[str, ...], shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.publish(changed(18))
    opened = fetch.open_quarantine

    def removed(context: Context) -> AbstractContextManager[Quarantine]:
        with shop.open() as other:
            other.remove(["pdf"], consent=shop.yes)
        return opened(context)

    monkeypatch.setattr(fetch, "open_quarantine", removed)
    outcome = shop.update(*names)

    assert list(names) == [one.name for one in outcome.refused]
    assert not shop.file().exists()


def test_a_skill_locked_to_a_commit_stays_there(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    with shop.open() as m:
        m.add(shop.upstream.url, skills=["pdf"], ref=shop.upstream.head(), consent=shop.yes)
    shop.publish(changed(18))

    outcome, other = shop.update("pdf"), shop.update()

    assert (True, ()) == (outcome.ok, outcome.plan.update)
    assert (("pdf has no newer version: it is pinned to a commit",), ()) == (
        outcome.notes,
        other.notes,
    )
    assert PLAIN == shop.file().read_text()


def test_copies_follow_and_one_that_was_edited_by_itself_stays(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add(to=("cursor", "claude-code"))
    with shop.open() as m:
        found = places.read(places.place_of(m.context, user=False)).lock.named("pdf")
    assert found is not None
    copies = [target.path for target in found.targets if target.method == "copy"]
    links = [target.path for target in found.targets if target.method == "link"]
    shop.publish(changed(18))
    for path in copies:
        (shop.folder / path / "SKILL.md").write_text("mine\n")

    outcome = shop.update()

    assert [
        f"{shop.folder / path} was changed outside metier, and stays as it is" for path in copies
    ] == list(outcome.notes)
    assert ["mine\n"] * len(copies) == [
        (shop.folder / path / "SKILL.md").read_text() for path in copies
    ]
    assert [changed(18)] * len(links) == [
        (shop.folder / path / "SKILL.md").read_text() for path in links
    ]


def test_a_working_copy_that_is_gone_comes_back_new(shop: Workshop) -> None:
    shutil.rmtree(shop.file().parent)
    shop.publish(changed(18))

    outcome = shop.update()

    assert (True, changed(18)) == (outcome.ok, shop.file().read_text())


def test_a_held_update_goes_when_the_source_takes_it_back(shop: Workshop) -> None:
    shop.edit(changed(3, to="My line"))
    shop.publish(changed(3))
    shop.update()
    shop.publish(PLAIN)

    outcome = shop.update()

    assert (True, []) == (outcome.ok, waiting(shop))


def test_a_version_that_is_no_longer_signed_is_held(shop: Workshop) -> None:
    lock = shop.folder / "metier.lock"
    lock.write_text(
        lock.read_text().replace('"targets"', '"signature": "ada",\n      "targets"', 1)
    )
    shop.publish(changed(18))

    outcome = shop.update()

    assert (("the installed version is signed, and this one isn't",),) == tuple(
        one.reasons for one in outcome.held
    )
    assert PLAIN == shop.file().read_text()


def test_edits_that_the_lock_knows_but_the_disk_lost_are_merged_from_the_store(
    shop: Workshop,
) -> None:
    shop.edit(changed(3, to="My line"))
    with shop.open() as m:
        m.sync()
    shutil.rmtree(shop.file().parent)
    shop.publish(changed(18))

    outcome = shop.update()

    assert (["three_way"], True) == ([step.mode for step in outcome.plan.update], outcome.ok)
    assert changed(18, body=LINES.replace("Line 3 ", "My line 3 ")) == shop.file().read_text()


def test_what_is_only_looked_at_is_not_there_to_be_merged(shop: Workshop) -> None:
    shop.edit(changed(3, to="My line"))
    shop.publish(changed(3))

    with shop.open() as m:
        checked, declined = m.update(check=True).held, m.update(consent=lambda _outcome: False).held

    assert [False] == [one.settle for one in checked]
    assert [True] == [
        one.settle for one in declined
    ]  # nothing was asked about, and what waits is noted
    assert ["pdf"] == [name for name, _reasons in waiting(shop)]


def test_two_safe_sides_that_are_worse_together_are_held(home: Home, tmp_path: Path) -> None:
    lines = ["set -e", *(f"# {number}" for number in range(8)), "echo done"]
    fetching = [lines[0], "curl -fsSL https://example.com/i.sh -o /tmp/i.sh", *lines[1:]]
    running = [*lines[:-1], "sh /tmp/i.sh"]
    shop = Workshop(home, tmp_path)
    shop.publish({"scripts/fill.sh": "\n".join(lines) + "\n"})
    shop.add()
    mine = "\n".join(fetching) + "\n"
    shop.edit(mine, "scripts/fill.sh")
    shop.publish({"scripts/fill.sh": "\n".join(running) + "\n"})

    outcome = shop.update()

    [held] = outcome.held
    assert ((), ()) == (outcome.installed, outcome.plan.conflicts)
    assert "the scan calls it dangerous, and what is in place safe" in held.reasons
    assert mine == shop.file("scripts/fill.sh").read_text()


def test_bytes_that_somebody_blocked_are_not_locked_because_they_are_there_already(
    shop: Workshop,
) -> None:
    shop.edit(changed(18))
    shop.publish(changed(18))
    with shop.open() as m:
        m.trust("pdf", "block", reason="it went wrong")
    lock = (shop.folder / "metier.lock").read_bytes()

    outcome = shop.update()

    assert (["pdf"], (), lock) == (
        [one.name for one in outcome.held],
        outcome.installed,
        (shop.folder / "metier.lock").read_bytes(),
    )
    with shop.open() as m:
        assert "blocked" == m.trust("pdf").level


def test_a_source_whose_history_was_rewritten_is_merged_all_the_same(shop: Workshop) -> None:
    shop.edit(changed(3, to="My line"))
    shop.upstream.rewrite({"skills/pdf/SKILL.md": changed(18)})

    outcome = shop.update()

    assert (["three_way"], True) == ([step.mode for step in outcome.plan.update], outcome.ok)
    assert changed(18, body=LINES.replace("Line 3 ", "My line 3 ")) == shop.file().read_text()


def test_a_skill_that_calls_itself_otherwise_upstream_keeps_its_name_here(shop: Workshop) -> None:
    shop.publish(changed(18).replace("name: pdf", "name: documents"))

    outcome = shop.update()

    assert (True, "pdf") == (outcome.ok, getattr(pin(shop), "name", ""))
    assert "name: documents" in shop.file().read_text()


def test_a_skill_that_has_become_another_one_that_is_locked_waits_and_cannot_be_merged(
    home: Home, tmp_path: Path
) -> None:
    shop = Workshop(home, tmp_path)
    shop.add("pdf", "ocr")
    shop.upstream.commit(
        {
            "skills/pdf/SKILL.md": None,
            "skills/pdf/scripts/fill.sh": None,
            "skills/ocr/SKILL.md": changed(18),
        }
    )
    lock = (shop.folder / "metier.lock").read_bytes()

    outcome = shop.update("pdf")

    [held] = outcome.held
    assert (("it has become what 'ocr' is already; remove one of them",), False) == (
        held.reasons,
        held.settle,
    )
    with shop.open() as m, pytest.raises(MetierError):
        m.merge("pdf", "continue")
    assert (PLAIN, lock) == (shop.file().read_text(), (shop.folder / "metier.lock").read_bytes())


@pytest.mark.parametrize("there", ["link", "file", "pipe"])
def test_a_working_copy_that_is_no_folder_is_left_alone_by_every_verb(
    there: str, shop: Workshop, tmp_path: Path
) -> None:
    shop.edit(changed(3, to="My line"))
    shop.publish(changed(3))
    shop.update()
    working, away = shop.file().parent, tmp_path / "away"
    working.rename(away)
    put: dict[str, Callable[[], object]] = {
        "link": lambda: working.symlink_to(away),
        "file": lambda: working.write_text("x"),
        "pipe": lambda: os.mkfifo(working),
    }
    put[there]()
    kind = working.lstat().st_mode
    verbs: list[Callable[[Library], object]] = [
        lambda m: m.diff("pdf"),
        lambda m: m.merge("pdf"),
        lambda m: m.merge("pdf", "theirs"),
        lambda m: m.merge("pdf", "continue"),
        lambda m: m.rollback("pdf", 1),
    ]

    told = []
    for verb in verbs:
        with shop.open() as m, pytest.raises(StoreError) as caught:
            verb(m)
        told.append(
            "can't be" in caught.value.message or "not a readable folder" in caught.value.message
        )
    with shop.open() as m:
        history, diff, dropped = (
            m.history("pdf"),
            m.diff("pdf", against="theirs"),
            m.merge("pdf", "abort"),
        )
    outcome = shop.update()

    assert [True] * 5 == told
    assert (1, True, "aborted", ["pdf"]) == (
        len(history),
        "+Newer line 3" in diff,
        dropped.state,
        [one.name for one in outcome.refused],
    )
    assert (kind, changed(3, to="My line")) == (
        working.lstat().st_mode,
        (away / "SKILL.md").read_text(),
    )


def test_a_signature_counts_under_the_name_that_a_skill_gives_itself_whatever_it_is_called_here(
    home: Home, tmp_path: Path
) -> None:
    pytest.importorskip("cryptography")
    shop, key = Workshop(home, tmp_path), sign.make_key_pair()
    with shop.open() as m:
        digest = (
            m.add(shop.upstream.url, skills=("pdf",), name="mine", dry_run=True).plan.add[0].digest
        )
        key_files.write_key(m.context.data, m.context.home, key.id, key.public, key.private)
        key_files.write_signature(
            m.context.data, m.context.home, digest, sign.sign_digest("pdf", digest, key.private)
        )
        m.add(shop.upstream.url, skills=("pdf",), name="mine", consent=shop.yes)
    shop.publish(changed(18))

    unsigned = shop.update()
    with shop.open() as m:
        [held] = places.read(places.place_of(m.context, user=False)).state.pending
        key_files.write_signature(
            m.context.data,
            m.context.home,
            held.theirs,
            sign.sign_digest("pdf", held.theirs, key.private),
        )
    signed = shop.update()

    assert [("the installed version is signed, and this one isn't",)] == [
        one.reasons for one in unsigned.held
    ]
    assert (True, ["mine"]) == (signed.ok, [one.name for one in signed.installed])
    with shop.open() as m:
        locked = places.read(places.place_of(m.context, user=False)).lock.named("mine")
    assert key.id == getattr(locked, "signature", "")


@pytest.mark.parametrize(
    ("setting", "applied", "questions"), [("true", True, 0), ("false", False, 1)]
)
def test_a_yes_in_advance_spares_the_question(
    shop: Workshop, setting: str, applied: bool, questions: int
) -> None:
    asked: list[object] = []

    def says_no(outcome: object) -> bool:
        asked.append(outcome)
        return False

    shop.publish({"SKILL.md": changed(18)})
    shop.config.write_text(f"[supply]\nfast_forward = {setting}\n")
    with shop.open() as m:
        outcome = m.update(consent=says_no)

    assert (applied, questions) == (bool(outcome.installed), len(asked))

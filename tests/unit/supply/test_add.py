"""`add`: what is installed, what is refused, and that a refusal leaves nothing behind."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.archives import honest_zip
from fakes.hands import FaultyHands
from fakes.repositories import Repository
from fakes.shop import CAUTION, DANGEROUS, SAFE, FakeFetcher, Shop, document, no, tree, yes

import metier
from metier.errors import (
    AmbiguousError,
    MetierError,
    NotFoundError,
    RefusedError,
    StoreError,
    UsageError,
)
from metier.supply.model import SearchResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.supply.model import Outcome

TRUSTED = "https://github.com/anthropics/skills"


def modes(outcome: Outcome) -> list[tuple[str, str]]:
    return [(step.name, step.mode) for step in (*outcome.plan.add, *outcome.plan.update)]


def names(outcome: Outcome) -> tuple[list[str], list[str]]:
    return [one.name for one in outcome.installed], [one.name for one in outcome.refused]


# --- what is installed


def test_the_working_copy_is_the_source_s_bytes_and_an_ordinary_folder(shop: Shop) -> None:
    offered = shop.offer("pdf", files={"scripts/fill.sh": "echo\n", "references/a b.md": "A\n"})
    (offered / "scripts/fill.sh").chmod(0o755)

    with shop.open() as m:
        outcome = m.add("../shelf/pdf")

    assert (["pdf"], []) == names(outcome)
    assert {path: what for path, what in tree(offered).items() if what != "folder"} == {
        path: what for path, what in tree(shop.working("pdf")).items() if what != "folder"
    }
    assert ([], 1) == (
        [path for path in shop.working("pdf").rglob("*") if path.is_symlink()],
        shop.working("pdf", "SKILL.md").stat().st_nlink,
    )


def test_the_digest_in_the_lock_is_that_of_the_working_copy_wherever_it_lies(
    shop: Shop,
) -> None:  # MT-13
    shop.offer("pdf", files={"run.sh": "echo\n"})
    shutil.copytree(shop.shelf / "pdf", shop.base / "elsewhere" / "other-name")

    with shop.open() as m:
        outcome = m.add("../shelf/pdf")
        digests = {
            m.context.machine.digest(str(path))
            for path in (shop.working("pdf"), shop.base / "elsewhere/other-name")
        }

    assert {shop.pins()["pdf"]["digest"]} == digests == {outcome.installed[0].digest}


def test_it_can_be_used_at_once_and_by_the_next_process(shop: Shop) -> None:
    shop.offer("pdf")

    with shop.open() as m:
        m.add("../shelf/pdf")
        at_once = m.trust("pdf").state, {card.name: card.state for card in m.skills(all=True)}
    with shop.open() as m:
        later = m.trust("pdf").state, {card.name: card.state for card in m.skills(all=True)}

    assert ("visible", {"pdf": "visible"}) == at_once == later


@pytest.mark.parametrize("name", ["zwei Wörter", "技能", "a.b_c", "UPPER", "x" * 64, "ÿ́"])
def test_names_of_all_kinds_are_folders_of_that_name(shop: Shop, name: str) -> None:
    shop.offer(name, at="in")

    with shop.open() as m:
        outcome = m.add("../shelf/in")
        again = m.add("../shelf/in")
        frozen = m.sync(frozen=True)

    assert [name] == [one.name for one in outcome.installed]
    assert shop.working(name).is_dir()
    assert ([], True) == (modes(again), frozen.ok)


@pytest.mark.parametrize(
    "name",
    [
        "../up",
        "a/b",
        ".hidden",
        "-x",
        "~",
        "nul",
        "what?",
        "a*b",
        'say "it"',
        "tail.",
        "c:x",
        "a|b",
        "\u202eabc",
    ],
)
def test_a_name_that_is_no_folder_is_refused_and_the_others_go_on(
    shop: Shop, name: str
) -> None:  # HE-40, HE-42
    shop.offer(name, at="odd-one")
    shop.offer("good")

    with shop.open() as m:
        outcome = m.add("../shelf", all=True)

    assert (["good"], 1) == ([one.name for one in outcome.installed], len(outcome.refused))
    assert ["good"] == sorted(path.name for path in shop.working("good").parent.iterdir())
    assert ["good"] == list(shop.pins())


def test_a_skill_can_be_given_another_name(shop: Shop) -> None:
    shop.offer("pdf")
    shop.offer("ocr")

    with shop.open() as m:
        outcome = m.add("../shelf", skills=["pdf"], name="paper")
        with pytest.raises(UsageError, match="--name works with a single skill"):
            m.add("../shelf", all=True, name="paper")
        shown = m.trust("pdf").state  # what its file calls it

    assert (["paper"], []) == names(outcome)
    assert ("visible", True, False) == (
        shown,
        shop.working("paper").is_dir(),
        shop.working("pdf").exists(),
    )


def test_the_same_skill_is_not_installed_under_two_names(shop: Shop) -> None:
    shop.offer("pdf")

    with shop.open() as m:
        m.add("../shelf/pdf")
        again = m.add("../shelf/pdf", name="paper", force=True)

    assert ([], ["paper"]) == names(again)
    assert ("it is already installed, as 'pdf'",) == again.refused[0].reasons


def test_the_user_s_own_skills_lie_in_the_home_folder(shop: Shop) -> None:
    shop.offer("pdf")

    with shop.open() as m:
        m.add("../shelf/pdf", user=True, to=["claude-code"])

    assert (shop.home / ".agents/skills/pdf/SKILL.md").is_file()
    assert "../../.agents/skills/pdf" == os.readlink(shop.home / ".claude/skills/pdf")
    assert ((shop.data / "metier.lock").is_file(), {".git": "folder"}) == (True, tree(shop.project))


def test_without_git_the_working_folder_is_the_project(tmp_path: Path) -> None:
    shop = Shop(tmp_path, git=False)
    shop.offer("pdf")

    with shop.open() as m:
        m.add("../shelf/pdf")

    assert (True, True) == (shop.lock.is_file(), shop.working("pdf").is_dir())


def test_a_project_reached_through_a_link_is_the_same_project(shop: Shop) -> None:
    shop.offer("pdf")
    shutil.copytree(shop.shelf, shop.project / "vendor")
    (shop.base / "door").symlink_to(shop.project)

    with shop.open(shop.base / "door") as m:
        first = m.add("vendor", skills=["pdf"])
    with shop.open() as m:
        again = m.add("vendor", skills=["pdf"])

    assert (["pdf"], []) == names(first)
    assert ([], "./vendor") == (modes(again), shop.pins()["pdf"]["source"])


def test_the_project_itself_can_be_a_source(shop: Shop) -> None:
    shutil.copytree(shop.offer("pdf"), shop.project / "made/pdf")

    with shop.open() as m:
        m.add(".", skills=["pdf"])
        shutil.rmtree(shop.data)
        shutil.rmtree(shop.working("pdf"))
    with shop.open() as m:
        synced = m.sync(frozen=True)

    assert ("./", "made/pdf", True) == (
        shop.pins()["pdf"]["source"],
        shop.pins()["pdf"]["path"],
        synced.ok,
    )
    assert document("pdf") == shop.working("pdf", "SKILL.md").read_text()


def test_metier_s_own_folder_may_be_on_another_file_system(shop: Shop) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == shop.base.stat().st_dev:
        pytest.skip("there is no other file system to write to")
    data = memory / f"metier-{os.getpid()}-{os.urandom(4).hex()}"
    shop.offer("pdf", files={"a/b.txt": "b\n"})
    try:
        with shop.open(METIER_HOME=str(data)) as m:
            outcome = m.add("../shelf/pdf", to=["claude-code"])
            shutil.rmtree(shop.working("pdf"))
            synced = m.sync(frozen=True)
            whole = (
                shop.working("pdf", "a/b.txt").read_text(),
                (shop.project / ".claude/skills/pdf/SKILL.md").read_text(),
            )
            m.remove("pdf")
    finally:
        shutil.rmtree(data)

    assert ((["pdf"], []), True, ("b\n", document("pdf"))) == (names(outcome), synced.ok, whole)
    assert {".git", "metier.lock"} == set(tree(shop.project))


def test_a_metier_home_that_is_named_from_here_is_found(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop.project)
    shop.offer("pdf")

    with shop.open(METIER_HOME="../here") as m:
        outcome = m.add("../shelf/pdf")

    assert ((["pdf"], []), True) == (names(outcome), (shop.base / "here/store").is_dir())


# --- which skill is meant


def test_a_source_with_several_skills_says_what_there_is_to_choose_from(
    shop: Shop,
) -> None:  # HE-41
    shop.offer("pdf")
    shop.offer("ocr")

    with shop.open() as m, pytest.raises(AmbiguousError) as failed:
        m.add("../shelf")

    assert ["ocr", "pdf"] == [one["name"] for one in failed.value.details["candidates"]]  # type: ignore[attr-defined]


def test_a_name_must_mean_exactly_one_skill(shop: Shop) -> None:  # HE-41
    shop.offer("pdf", at="one/pdf")
    shop.offer("pdf", "Count twice.\n", at="two/pdf")
    before = shop.seen()

    with shop.open() as m:
        with pytest.raises(AmbiguousError) as failed:
            m.add("../shelf", skills=["pdf"])
        with pytest.raises(NotFoundError):
            m.add("../shelf", skills=["pfd"])
        by_path = m.add("../shelf", skills=["two/pdf"], dry_run=True)

    assert ["one/pdf", "two/pdf"] == [one["path"] for one in failed.value.details["candidates"]]  # type: ignore[attr-defined]
    assert (["two/pdf"], before) == ([step.path for step in by_path.plan.add], shop.seen())


def test_of_a_whole_source_a_name_that_is_there_twice_is_refused_and_the_rest_goes_on(
    shop: Shop,
) -> None:
    shop.offer("pdf", at="one/pdf")
    shop.offer("PDF", "Count twice.\n", at="two/pdf")
    shop.offer("ocr")

    with shop.open() as m:
        outcome = m.add("../shelf", all=True)

    assert (["ocr"], 1) == ([one.name for one in outcome.installed], len(outcome.refused))
    assert all(place in outcome.refused[0].reasons[0] for place in ("one/pdf", "two/pdf"))
    assert ["ocr"] == list(shop.pins())


def test_a_plain_name_is_looked_for_in_the_taps_and_must_be_there_once(shop: Shop) -> None:  # HE-41
    shop.offer("pdf", at="a/pdf")
    shop.offer("ocr", at="a/ocr")
    shop.offer("ocr", "Count twice.\n", at="b/ocr")
    shop.configure(f'[supply]\ntaps = ["{shop.shelf}/a", "{shop.shelf}/b"]\n')

    with shop.open() as m:
        found = m.add("pdf")
        with pytest.raises(AmbiguousError) as several:
            m.add("ocr")
        with pytest.raises(NotFoundError):
            m.add("odf")

    assert (["pdf"], []) == names(found)
    assert {f"{shop.shelf}/{one}/ocr" for one in "ab"} == {
        one["source"]
        for one in several.value.details["candidates"]  # type: ignore[attr-defined]
    }


def test_a_plain_name_is_asked_of_the_host_s_seekers_too(shop: Shop) -> None:  # HE-41
    class Seeker:
        source = "the host"

        def search(self, words: str, limit: int) -> Sequence[SearchResult]:
            return [SearchResult(words, "", str(shop.shelf / words), "community")][:limit]

    shop.offer("pdf")
    with shop.open() as m:
        m.context.seekers = (Seeker(),)

        outcome = m.add("pdf")

    assert (["pdf"], []) == names(outcome)


def test_a_source_without_skills_says_so_and_leaves_nothing(shop: Shop) -> None:
    (shop.shelf / "empty").mkdir()
    before = shop.seen()

    with shop.open() as m, pytest.raises(NotFoundError) as failed:
        m.add("../shelf/empty")

    assert ("no-skill", before) == (failed.value.code, shop.seen())


# --- what is asked and what is refused


@pytest.mark.parametrize(
    "wish", [{"consent": no}, {"dry_run": True}, {"dry_run": True, "consent": yes}]
)
def test_without_a_yes_nothing_is_changed(shop: Shop, wish: dict[str, object]) -> None:  # HE-41
    shop.offer("pdf")
    before = shop.seen()

    with shop.open() as m:
        outcome = m.add("../shelf/pdf", to=["claude-code"], **wish)  # type: ignore[arg-type]

    assert ([("pdf", "add")], []) == (modes(outcome), list(outcome.installed))
    assert (before, []) == (shop.seen(), shop.events())


@pytest.mark.parametrize("error", [EOFError, KeyboardInterrupt, MetierError("no")])
def test_an_end_of_input_while_asked_changes_nothing(
    shop: Shop, error: BaseException | type[BaseException]
) -> None:  # HE-41
    shop.offer("pdf")
    before = shop.seen()

    def hung_up(_plan: object) -> bool:
        raise error

    with shop.open() as m, pytest.raises(error if isinstance(error, type) else type(error)):
        m.add("../shelf/pdf", consent=hung_up)

    assert (before, []) == (shop.seen(), shop.events())


REFUSED: dict[str, tuple[str, dict[str, object]]] = {
    "doubtful": (CAUTION, {}),  # MT-4
    "dangerous": (DANGEROUS, {}),
    "dangerous by force": (DANGEROUS, {"force": True}),  # MT-5
    "dangerous by force and consent": (DANGEROUS, {"force": True, "consent": yes}),
    "doubtful, and only danger is accepted": (
        CAUTION,
        {"accept_dangerous": True, "reason": "I must"},
    ),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("user", [False, True])
def test_a_refusal_leaves_no_trace_but_the_audit_event(
    shop: Shop, case: str, user: bool
) -> None:  # HE-41, MT-4 and MT-5
    body, wish = REFUSED[case]
    shop.offer("odd", body)
    before = shop.seen()

    with shop.open() as m:
        outcome = m.add("../shelf/odd", user=user, **wish)  # type: ignore[arg-type]

    assert ([], ["odd"]) == names(outcome)
    assert outcome.refused[0].findings
    assert (before, [("install", "refused", "odd")]) == (shop.seen(), shop.events())
    assert [".lock"] == sorted(path.name for path in (shop.data / "staging").iterdir())


def test_what_breaks_a_source_as_a_whole_is_noted_too(shop: Shop) -> None:  # HE-41
    file = shop.shelf / "bad.zip"
    file.write_bytes(honest_zip({"a/SKILL.md": document("a").encode(), "../evil": b"x"}))
    before = shop.seen()

    with shop.open() as m, pytest.raises(RefusedError) as failed:
        m.add(str(file))

    assert ("unsafe-path", before, [("install", "refused", "")]) == (
        failed.value.code,
        shop.seen(),
        shop.events(),
    )


def test_force_lets_in_what_is_only_doubtful_and_it_is_noted(shop: Shop) -> None:  # MT-4
    shop.offer("odd", CAUTION)

    with shop.open() as m:
        outcome = m.add("../shelf/odd", force=True)
        shown = m.trust("odd")
        m.view("odd")

    assert ((["odd"], []), "caution") == (names(outcome), shown.verdict)
    assert ("install", "done", "odd") in shop.events()


def test_to_accept_danger_needs_a_reason(shop: Shop) -> None:  # MT-5
    shop.offer("bad", DANGEROUS)
    before = shop.seen()

    with shop.open() as m, pytest.raises(UsageError, match="needs a reason"):
        m.add("../shelf/bad", accept_dangerous=True, reason=" ")

    assert before == shop.seen()


@pytest.mark.parametrize("user", [False, True])
@pytest.mark.parametrize("name", ["", "renamed"])
def test_accepted_danger_is_bound_to_the_bytes_and_audited(
    shop: Shop, user: bool, name: str
) -> None:  # MT-5
    shop.offer("bad", DANGEROUS)

    with shop.open() as m:
        outcome = m.add(
            "../shelf/bad", user=user, name=name, accept_dangerous=True, reason="a sample to study"
        )
        shown = m.trust("bad")
        m.view("bad")
        noted = [one for one in m.audit_tail(10) if one["event"] == "approve"]
        (shop.home if user else shop.project).joinpath(
            ".agents/skills", name or "bad", "more.md"
        ).write_text("more\n")
        m.reload()
        with pytest.raises(RefusedError):
            m.view("bad")

    assert ([name or "bad"], []) == names(outcome)
    assert ("bad", shown.digest, True, "a sample to study") == (
        noted[0]["name"],
        noted[0]["digest"],
        noted[0]["details"]["accept_dangerous"],
        noted[0]["details"]["reason"],
    )
    assert outcome.installed[0].digest == shown.digest


@pytest.mark.parametrize("verb", ["block", "quarantine"])
def test_what_somebody_barred_stays_out_whatever_is_said(
    shop: Shop, verb: str
) -> None:  # MT-25: here it is trust, not staging
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
        m.trust("pdf", verb)  # type: ignore[arg-type]
        m.remove("pdf")
    before = shop.seen()

    with shop.open() as m:
        outcome = m.add(
            "../shelf/pdf", force=True, accept_dangerous=True, reason="I insist", consent=yes
        )
        renamed = m.add(
            "../shelf/pdf",
            name="other",
            force=True,
            accept_dangerous=True,
            reason="I insist",
            consent=yes,
        )

    assert (([], ["pdf"]), ([], ["other"])) == (names(outcome), names(renamed))
    assert any("metier trust unblock" in why for why in outcome.refused[0].reasons)
    assert before == shop.seen()


# --- where trust comes from


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("anthropics/skills", "trusted"),
        ("https://github.com/anthropics/skills.git", "trusted"),
        ("git@github.com:anthropics/skills.git", "trusted"),
        ("anthropics/skills#pull/7/head", "community"),
        ("anthropics/skills#refs/pull/7/head", "community"),
        ("mallory/anthropics-skills", "community"),
        ("https://example.com/anthropics/skills.git", "community"),
    ],
)
def test_the_level_is_what_the_fetched_source_earns(
    shop: Shop, said: str, level: str
) -> None:  # HE-8, HE-36
    with shop.open() as m:
        m.context.fetchers = {"git": FakeFetcher({"pdf/SKILL.md": document("pdf", CAUTION)})}

        planned = m.add(said, dry_run=True, force=True).plan.add

        admitted = m.add(said)

    assert [level] == [step.level for step in planned]
    assert (level == "trusted") == admitted.ok


def test_a_trusted_source_may_be_doubtful_but_never_dangerous(
    shop: Shop,
) -> None:  # HE-8, HE-35, MT-5
    with shop.open() as m:
        m.context.fetchers = {"git": FakeFetcher({"pdf/SKILL.md": document("pdf", DANGEROUS)})}

        outcome = m.add("anthropics/skills", force=True)

    assert ([], ["pdf"]) == names(outcome)


# --- what lies there already


def test_adding_the_same_again_has_nothing_to_do(shop: Shop) -> None:
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf", to=["claude-code"])
    before, said = shop.seen(), shop.events()

    with shop.open() as m:
        again = m.add("../shelf/pdf", to=["claude-code"])
        without = m.add("../shelf/pdf")

    assert ([], [], True, True) == (modes(again), modes(without), again.ok, without.ok)
    assert (before, said) == (shop.seen(), shop.events())


def test_adding_for_one_more_agent_adds_that_alone(shop: Shop) -> None:
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf", to=["claude-code"])
        before = tree(shop.project)

        outcome = m.add("../shelf/pdf", to=["windsurf"])

    after = tree(shop.project)
    assert [("pdf", "unchanged")] == modes(outcome)
    assert {".windsurf", ".windsurf/skills", ".windsurf/skills/pdf", "metier.lock"} == {
        path for path in after if after[path] != before.get(path)
    }
    assert ["", "claude-code", "windsurf"] == [
        target["agent"]
        for target in shop.pins()["pdf"]["targets"]  # type: ignore[attr-defined]
    ]


def test_a_newer_version_of_an_unedited_skill_is_a_fast_forward(shop: Shop) -> None:  # BE-13
    shop.offer("pdf", files={"old.md": "old\n"})
    with shop.open() as m:
        m.add("../shelf/pdf")
        shop.offer("pdf", "Count better.\n", {"new.md": "new\n"})
        (shop.shelf / "pdf/old.md").unlink()

        outcome = m.add("../shelf/pdf", consent=yes)

    assert [("pdf", "fast_forward")] == modes(outcome)
    assert (document("pdf", "Count better.\n"), True, False) == (
        shop.working("pdf", "SKILL.md").read_text(),
        shop.working("pdf", "new.md").is_file(),
        shop.working("pdf", "old.md").exists(),
    )


@pytest.mark.parametrize("recorded", [False, True])
def test_edits_are_not_overwritten_by_a_newer_version(shop: Shop, recorded: bool) -> None:  # MT-14
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
        shop.working("pdf", "SKILL.md").write_text(document("pdf", "My own words.\n"))
        if recorded:
            m.sync()
        shop.offer("pdf", "Count better.\n")
        before = shop.seen()

        outcome = m.add("../shelf/pdf", consent=yes)

    assert ([], ["pdf"]) == names(outcome)
    assert "metier update" in outcome.refused[0].reasons[0]
    assert before == shop.seen()


def test_edits_that_the_lock_has_stay_when_the_source_has_nothing_new(
    shop: Shop,
) -> None:  # MT-14
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
        shop.working("pdf", "SKILL.md").write_text(document("pdf", "My own words.\n"))
        m.sync()
        pin = shop.pins()["pdf"]

        again = m.add("../shelf/pdf")
        more = m.add("../shelf/pdf", to=["claude-code"])

    after = shop.pins()["pdf"]
    assert ([], [("pdf", "unchanged")]) == (modes(again), modes(more))
    assert (
        document("pdf", "My own words.\n")
        == (shop.project / ".claude/skills/pdf/SKILL.md").read_text()
    )
    assert (pin["digest"], pin["base"]) == (after["digest"], after["base"])


def test_by_force_edits_are_replaced_and_kept_as_a_revision(shop: Shop) -> None:  # MT-14
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
        shop.working("pdf", "SKILL.md").write_text(document("pdf", "My own words.\n"))
        mine = m.context.machine.digest(str(shop.working("pdf")))
        shop.offer("pdf", "Count better.\n")

        outcome = m.add("../shelf/pdf", force=True, consent=yes)
        kept = [(one.what, one.digest) for one in m.history("pdf")]
        m.rollback("pdf", next(one.number for one in m.history("pdf") if one.digest == mine))

    assert [("pdf", "fast_forward")] == modes(outcome)
    assert ("edit", mine) in kept
    assert document("pdf", "My own words.\n") == shop.working("pdf", "SKILL.md").read_text()


def test_a_folder_with_the_same_bytes_comes_under_the_lock(shop: Shop) -> None:
    shutil.copytree(shop.offer("pdf"), shop.working("pdf"))
    before = os.stat(shop.working("pdf", "SKILL.md")).st_mtime_ns

    with shop.open() as m:
        outcome = m.add("../shelf/pdf")

    assert (["pdf"], []) == names(outcome)
    assert (before, ["pdf"]) == (
        os.stat(shop.working("pdf", "SKILL.md")).st_mtime_ns,
        list(shop.pins()),
    )


def test_another_folder_of_that_name_is_replaced_by_force_alone_and_can_be_had_back(
    shop: Shop,
) -> None:  # HE-41
    shop.offer("pdf")
    shop.working("pdf").mkdir(parents=True)
    shop.working("pdf", "SKILL.md").write_text(document("pdf", "Mine.\n"))
    before = shop.seen()
    with shop.open() as m:
        refused = m.add("../shelf/pdf")
        untouched = shop.seen()

        forced = m.add("../shelf/pdf", force=True)
        now = shop.working("pdf", "SKILL.md").read_text()
        m.gc()
        m.rollback("pdf", min(one.number for one in m.history("pdf")))

    assert (([], ["pdf"]), before) == (names(refused), untouched)
    assert ((["pdf"], []), document("pdf")) == (names(forced), now)
    assert document("pdf", "Mine.\n") == shop.working("pdf", "SKILL.md").read_text()


def test_a_skill_of_that_name_from_elsewhere_is_replaced_by_force_alone(
    shop: Shop,
) -> None:  # HE-41
    shop.offer("pdf", at="one/pdf")
    shop.offer("pdf", "Count twice.\n", at="two/pdf")
    with shop.open() as m:
        m.add("../shelf/one/pdf")
        before = shop.seen()
        refused = m.add("../shelf/two/pdf", consent=yes)
        untouched = shop.seen()

        forced = m.add("../shelf/two/pdf", force=True, consent=yes)

    assert (([], ["pdf"]), before) == (names(refused), untouched)
    assert "another skill of this name is installed" in refused.refused[0].reasons[0]
    assert ((["pdf"], []), f"{shop.shelf}/two/pdf") == (names(forced), shop.pins()["pdf"]["source"])


def test_what_cannot_be_kept_is_not_replaced_even_by_force(shop: Shop) -> None:
    shop.offer("pdf")
    shop.working("pdf").parent.mkdir(parents=True)
    shop.working("pdf").write_text("a file of that name\n")
    before = shop.seen()

    with shop.open() as m:
        outcome = m.add("../shelf/pdf", force=True)

    assert (([], ["pdf"]), before) == (names(outcome), shop.seen())
    assert "move it away first" in outcome.refused[0].reasons[0]


# --- all of it, or nothing


def test_a_link_in_one_skill_refuses_that_one_and_the_others_go_on(
    shop: Shop,
) -> None:  # MT-6
    shop.offer("good")
    shop.offer("linked").joinpath("notes.md").symlink_to("/etc/passwd")
    shop.offer("hooked").joinpath("sub").symlink_to("../good")

    with shop.open() as m:
        outcome = m.add("../shelf", all=True)

    assert (["good"], ["hooked", "linked"]) == names(outcome)
    assert all(one.reasons[0].startswith("unsafe-link: ") for one in outcome.refused)
    assert ["good"] == list(shop.pins())


def test_where_one_of_several_fails_late_nothing_of_the_change_stays(shop: Shop) -> None:  # CX-64
    for name in ("one", "two", "three"):
        shop.offer(name, files={"more.md": f"{name}\n"})
    with shop.open() as m:
        m.context.disk_calls = counting = FaultyHands()
        m.add("../shelf", all=True, dry_run=True)
        start = counting.steps
    before = shop.seen()
    broken, at = 0, start + 1
    while True:
        with shop.open() as m:
            m.context.disk_calls = FaultyHands(at, "EIO")
            try:
                m.add("../shelf", all=True)
            except StoreError:
                broken += 1
            else:
                break
        after = {
            path: what for path, what in shop.seen().items() if not path.startswith("metier-home/s")
        }
        assert {
            path: what for path, what in before.items() if not path.startswith("metier-home/s")
        } == after, at
        at += 7

    assert broken > 5
    assert {"one", "two", "three"} == set(shop.pins())


def test_what_changes_while_it_is_looked_at_is_not_installed_over(shop: Shop) -> None:
    shop.offer("pdf")

    def meddles(_plan: object) -> bool:
        shop.working("pdf").mkdir(parents=True)
        shop.working("pdf", "SKILL.md").write_text("mine\n")
        return True

    with shop.open() as m, pytest.raises(StoreError) as failed:
        m.add("../shelf/pdf", consent=meddles)

    assert ("changed", "mine\n", False) == (
        failed.value.code,
        shop.working("pdf", "SKILL.md").read_text(),
        shop.lock.exists(),
    )


def test_without_a_place_for_its_state_nothing_is_installed(shop: Shop) -> None:
    shop.offer("pdf")

    with metier.open(cwd=shop.project, env={"PATH": shop.env["PATH"]}) as m:
        m.context.data = None
        with pytest.raises(StoreError):
            m.add("../shelf/pdf")

    assert {".git": "folder"} == tree(shop.project)


# --- other kinds of source


def test_from_git_the_lock_has_the_commit_that_the_ref_was_resolved_to(shop: Shop) -> None:  # HE-38
    repository = Repository(shop.base / "upstream")
    first = repository.commit({"skills/pdf/SKILL.md": document("pdf")})
    repository.git("tag", "v1")
    second = repository.commit({"skills/pdf/SKILL.md": document("pdf", "Count better.\n")})

    with shop.open() as m:
        m.add(f"git+{repository.address}#v1:skills/pdf")
        tagged = shop.pins()["pdf"]
        m.add(f"git+{repository.address}#main:skills/pdf", consent=yes)
        newest = shop.pins()["pdf"]

    assert ("v1", first, "skills/pdf") == (tagged["ref"], tagged["commit"], tagged["path"])
    assert ("main", second) == (newest["ref"], newest["commit"])


def test_another_ref_with_the_same_bytes_is_followed_from_then_on(shop: Shop) -> None:
    repository = Repository(shop.base / "upstream")
    repository.commit({"pdf/SKILL.md": document("pdf")})
    repository.git("tag", "v1")

    with shop.open() as m:
        m.add(f"git+{repository.address}#v1")
        outcome = m.add(f"git+{repository.address}#main")

    assert ([("pdf", "unchanged")], "main") == (modes(outcome), shop.pins()["pdf"]["ref"])


def test_an_archive_whose_skill_has_no_name_is_called_what_the_file_is(shop: Shop) -> None:
    file = shop.shelf / "counter.zip"
    file.write_bytes(
        honest_zip(
            {"SKILL.md": b"---\ndescription: Counts words. Use it to count.\n---\n\nCount.\n"}
        )
    )

    with shop.open() as m:
        outcome = m.add(str(file))

    assert ["counter"] == [one.name for one in outcome.installed]


def test_a_safe_skill_is_what_these_tests_call_safe(shop: Shop) -> None:
    for name, body in (("safe", SAFE), ("caution", CAUTION), ("dangerous", DANGEROUS)):
        shop.offer(name, body)

    with shop.open() as m:
        found = {one.name: one.level for one in m.scan(str(shop.shelf))}

    assert {"safe": "safe", "caution": "caution", "dangerous": "dangerous"} == found


@pytest.mark.parametrize(("tapped", "copies"), [(False, 0), (True, 1)])
def test_of_a_repository_that_was_refused_no_copy_stays_unless_it_is_a_tap(
    shop: Shop, tapped: bool, copies: int
) -> None:
    repository = Repository(shop.base / "upstream")
    repository.commit({"skills/bad/SKILL.md": document("bad", DANGEROUS)})
    shop.configure(f"[supply]\ntaps = ['git+{repository.address}']\n" if tapped else "")

    with shop.open() as m:
        outcome = m.add(f"git+{repository.address}", force=True, consent=yes)

    assert ([], ["bad"]) == names(outcome)
    assert copies == len(list((shop.data / "cache/git").glob("*.git")))


def test_the_copy_of_a_repository_stays_where_something_of_it_is_installed(shop: Shop) -> None:
    repository = Repository(shop.base / "upstream")
    repository.commit(
        {"skills/pdf/SKILL.md": document("pdf"), "skills/bad/SKILL.md": document("bad", DANGEROUS)}
    )

    with shop.open() as m:
        m.add(f"git+{repository.address}", skills=["pdf"], consent=yes)
        refused = m.add(f"git+{repository.address}", skills=["bad"], consent=yes)

    assert ["bad"] == [one.name for one in refused.refused]
    assert 1 == len(list((shop.data / "cache/git").glob("*.git")))

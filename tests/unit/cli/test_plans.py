"""How a plan, a refusal, a held update and a conflict look, and how a person is asked about them."""

from __future__ import annotations

import json

import pytest

from metier.catalogue.wire import plain
from metier.cli import argv, consent, plans
from metier.cli.argv import Values
from metier.cli.consent import Consent
from metier.cli.terminal import cells
from metier.errors import UsageError
from metier.model import Finding
from metier.supply.model import (
    Conflict,
    FileChange,
    HeldUpdate,
    Installed,
    InstallTarget,
    Outcome,
    Plan,
    PlanStep,
    Refusal,
)

COMMIT = "3f2a1bc4d5e6f708192a3b4c5d6e7f8091a2b3c4"
DIGEST = "sha256:" + "ab" * 32
ESCAPE = "\x1b[2J\u202e"
BAD_SCAN = "the scan says dangerous: sends secrets away"
FORCE_NOT = "--force does not change that"


def finding(
    rule: str, severity: str = "high", path: str = "scripts/fill.sh", line: int = 3
) -> Finding:
    return Finding(
        rule,
        severity,  # type: ignore[arg-type]
        "network",
        path,
        line,
        1,
        "curl …",
        f"Does {rule}. It matters.",
        "Look.",
    )


def step(name: str = "pdf", **fields: object) -> PlanStep:
    made = PlanStep(
        name,
        "add",
        "github.com/anthropics/skills",
        "skills/pdf",
        "main",
        COMMIT,
        DIGEST,
        "",
        12,
        49_357,
        1_930,
        "community",
        "caution",
        31,
        (),
        "ask",
        ("level community: unknown source",),
        (
            InstallTarget("", ".agents/skills/pdf", "folder"),
            InstallTarget("claude-code", ".claude/skills/pdf", "link"),
        ),
    )
    return made._replace(**fields)  # type: ignore[arg-type]


def asked(**given: object) -> Values:
    return Values({"yes": False, "json": False, "verbose": False, **given}, [])


# --- words


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (5 << 20, "5.0 MiB"),
        (3 << 30, "3.0 GiB"),
        (5000 << 40, "5,000.0 TiB"),
    ],
)
def test_a_size_is_in_units_that_people_use(size: int, text: str) -> None:
    assert text == plans.size_text(size)


@pytest.mark.parametrize(
    ("commit", "text"),
    [
        (COMMIT, "3f2a1bc4d5"),
        (DIGEST, "sha256:ababababab"),
        ("1.2.0", "1.2.0"),
        ("", ""),
        ("deadbeef", "deadbeef"),
        (f"evil{ESCAPE}", r"evil\x1b[2J\u202e"),
    ],
)
def test_only_what_is_a_commit_or_a_digest_is_cut(commit: str, text: str) -> None:
    assert text == plans.short_id(commit)


# --- plans


def planned(**steps: tuple[PlanStep, ...]) -> Outcome:
    return Outcome(Plan(**steps))  # type: ignore[arg-type]


def test_a_plan_sums_up_first_and_then_has_a_line_for_each_skill() -> None:
    outcome = Outcome(
        Plan(
            add=(step("ocr", verdict="safe", reasons=("level community: x", "run: ask")), step()),
            update=(step("docx", mode="three_way", gained=("network",), reasons=()),),
        ),
        refused=(
            Refusal("bad", ("level community: x", BAD_SCAN, FORCE_NOT), (), "dangerous", 98),
            Refusal("worse", ("level community: x", BAD_SCAN, FORCE_NOT), (), "dangerous", 99),
            Refusal("taken", ("something else is there; --force replaces it",)),
        ),
        held=(HeldUpdate("held-one", ("1 conflict", "it wants more")),),
    )

    assert """\
2 to install, 1 to merge, 1 held, 3 refused: 2 dangerous, 1 for other reasons
from github.com/anthropics/skills main at 3f2a1bc4d5
to .agents/skills, .claude/skills (link, claude-code)

STATE    SKILL     VERDICT    WHY
install  ocr       safe       unverified source
install  pdf       caution    unverified source
merge    docx      caution    merged with your edits; new: network
held     held-one  -          1 conflict (and 1 reason more)
refused  bad       dangerous  sends secrets away
refused  worse     dangerous  sends secrets away
refused  taken     -          something else is there; --force replaces it

bad, worse: --force does not change that
""" == plans.plan_text(outcome)


def test_one_refusal_is_summed_up_by_its_verdict() -> None:
    refused = Refusal("bad", (BAD_SCAN, FORCE_NOT), (), "dangerous", 98)

    text = plans.plan_text(Outcome(Plan(), refused=(refused,)))

    assert text.startswith("1 refused: dangerous\n")
    assert text.endswith(f"\n{FORCE_NOT}\n")


def test_verbose_says_from_where_at_which_cost_with_which_verdict_and_to_which_places() -> None:
    found = (finding("SC230"), finding("SC1", "info"))

    text = plans.plan_text(planned(add=(step(findings=found),)), verbose=True)

    assert (
        """\
1 to install

install pdf  github.com/anthropics/skills skills/pdf main at 3f2a1bc4d5
  12 files, 48.2 KiB, about 1,930 tokens
  caution 31/100, level community: ask
    level community: unknown source
    can: use the network
    scripts/fill.sh:3: SC230 high Does SC230
        why: It matters.
  to .agents/skills/pdf (folder)
  to .claude/skills/pdf (link, claude-code)
"""
        == text
    )


def test_verbose_shows_every_finding_the_gravest_first() -> None:
    mixed = (
        finding("SC1", "low"),
        finding("SC2", "info"),
        finding("SC3", "critical"),
        finding("SC4", "medium"),
        finding("SC5", "high"),
    )

    text = plans.plan_text(planned(add=(step(findings=mixed),)), verbose=True)
    brief = plans.finding_lines(mixed)

    assert ["SC3", "SC5", "SC4", "SC1"] == [
        line.split()[1] for line in text.splitlines() if ": SC" in line
    ]  # what it merely can do is none
    assert "can: " in text
    assert "… and 1 finding more (--json shows all)" in brief


@pytest.mark.parametrize(("path", "line"), [("", 0), ("", 3)])
def test_a_finding_about_the_whole_skill_has_no_empty_place(path: str, line: int) -> None:
    text = plans.finding_lines((finding("SC600", path=path, line=line),))

    assert text.startswith("    SC600 high Does SC600\n")


def test_an_update_says_how_it_meets_edits_and_what_it_gains() -> None:
    outcome = planned(update=(step(mode="three_way", gained=("network", "credentials")),))

    text, whole = plans.plan_text(outcome), plans.plan_text(outcome, verbose=True)

    assert "merge  pdf    caution  merged with your edits; new: network, credentials" in text
    assert whole.startswith("1 to merge\n\nmerge pdf ")
    assert "merged with your edits" in whole
    assert "new: network, credentials\n" in whole


def test_a_removal_says_from_where() -> None:
    outcome = planned(remove=(step(mode="remove", reasons=("it was edited",)),))

    text, whole = plans.plan_text(outcome), plans.plan_text(outcome, verbose=True)

    assert (
        """\
1 to remove

STATE   SKILL  VERDICT  WHY
remove  pdf    -        it was edited; from .agents/skills/pdf, .claude/skills/pdf
"""
        == text
    )
    assert "  from .agents/skills/pdf (folder)\n" in whole
    assert "caution" not in whole


def test_every_skill_of_a_large_plan_has_one_line() -> None:
    many = tuple(step(f"skill-{number}") for number in range(1000))

    text = plans.plan_text(planned(add=many))

    assert all(f"install  skill-{number} " in text for number in range(1000))
    assert 1000 + len(("summary", "from", "to", "", "heads")) == text.count("\n")


# --- what changed upstream


def changes(count: int = 2) -> tuple[FileChange, ...]:
    return tuple(FileChange(f"part-{number}.md", "changed", 6, 2) for number in range(count))


def test_an_update_shows_a_diffstat_as_git_does() -> None:
    found = (
        FileChange("SKILL.md", "changed", 3, 1),
        FileChange("a.py", "new", 2, 0),
        FileChange("b.py", "gone", 0, 1),
        FileChange("logo.png", "binary"),
        FileChange("run.sh", "mode"),
    )

    text = plans.plan_text(planned(update=(step(mode="fast_forward", changes=found),)))

    assert text.endswith(
        """
  pdf/SKILL.md      |   4 +++-
  pdf/a.py (new)    |   2 ++
  pdf/b.py (gone)   |   1 -
  pdf/logo.png      | Bin
  pdf/run.sh (mode) |   0
  5 files changed upstream, 5 lines added, 2 lines removed
"""
    )


def test_a_held_update_shows_its_diffstat_too() -> None:
    held = HeldUpdate("pdf", ("1 conflict",), changes=changes(1))

    text = plans.plan_text(Outcome(Plan(), held=(held,)))

    assert "  pdf/part-0.md | 8 ++++++--\n  1 file changed upstream, 6 lines added, 2" in text


def test_many_files_are_summed_up_for_each_skill_and_verbose_has_them_all() -> None:
    outcome = planned(
        update=tuple(step(name, mode="fast_forward", changes=changes(40)) for name in ("a", "b"))
    )

    text, whole = plans.plan_text(outcome), plans.plan_text(outcome, verbose=True)

    assert "  a (40 files) | 320 " in text
    assert "part-7.md" not in text
    assert "  b/part-7.md  | 8 ++++++--\n" in whole


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_diffstat_fits_the_width(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "width", lambda: columns)
    long = "references/" * 9 + "a.md"
    found = {long: ("", 4000, 100), "表.md": ("", 1, 0), "c.png": ("Bin", 0, 0), "d": ("", 0, 9)}

    lines = plans.diffstat(found).splitlines()

    assert all(cells(line) <= columns for line in lines)
    assert "…" in lines[0]
    assert lines[0].partition(" |")[0].endswith("a.md")
    assert lines[1].endswith(" +")
    assert lines[3].endswith(" -")


def test_a_conflict_shows_its_path_and_the_size_of_each_side() -> None:
    conflict = Conflict("pdf", "SKILL.md", "a\n", None, "abc\n", "deleted here, edited there")

    text = plans.plan_text(Outcome(Plan(conflicts=(conflict,))))

    assert (
        "conflict in pdf: SKILL.md (base 2 bytes, ours has none, theirs 4 bytes): deleted here, edited there\n"
        == text
    )


def test_a_refusal_has_its_reasons_and_findings_and_a_held_update_what_to_do_next() -> None:
    outcome = Outcome(
        Plan(),
        refused=(Refusal("bad", ("dangerous 98/100",), (finding("SC230", "critical"),)),),
        held=(HeldUpdate("my pdf", ("1 conflict",)),),
    )

    assert """\
refused bad
  dangerous 98/100
    scripts/fill.sh:3: SC230 critical Does SC230
        why: It matters.
held my pdf
  1 conflict
  next: metier merge 'my pdf'
""" == plans.outcome_text(outcome)


def test_nobody_is_sent_to_a_merge_that_cannot_help() -> None:
    assert "held pdf\n  gone\n" == plans.outcome_text(
        Outcome(Plan(), held=(HeldUpdate("pdf", ("gone",), settle=False),))
    )


def test_what_was_done_and_what_was_not_is_counted_at_the_end() -> None:
    outcome = Outcome(
        Plan(add=(step(),)),
        (Installed("pdf", DIGEST, "/x/pdf", "add", ()),),
        (Refusal("bad", ("why",)),),
        (HeldUpdate("my ocr", ("1 conflict",)),),
    )

    assert """\
installed pdf: /x/pdf
1 installed, 1 held, 1 refused

next: metier merge 'my ocr'
""" == plans.outcome_text(outcome, news="")


def test_nothing_to_do_is_said() -> None:
    assert "nothing to do\n" == plans.outcome_text(Outcome(Plan()))
    assert "nothing was changed\n" == plans.outcome_text(Outcome(Plan(add=(step(),))), done=False)


def test_no_word_of_a_stranger_reaches_the_terminal_as_it_is() -> None:
    evil = f"evil{ESCAPE}\n"
    strange = step(
        evil,
        source=evil,
        path=evil,
        ref=evil,
        commit=evil,
        reasons=(evil,),
        gained=(evil,),
        findings=(finding("SC1", path=evil),),
        changes=(FileChange(evil, "new", 3, 0),),
        targets=(InstallTarget(evil, evil, "copy"),),
    )
    outcome = Outcome(
        Plan(
            (strange,) * 30, (strange,), (strange,), (Conflict(evil, evil, evil, evil, evil, evil),)
        ),
        (Installed(evil, DIGEST, evil, "add", ()),),
        (Refusal(evil, (evil,), (finding("SC1", path=evil),)),),
        (HeldUpdate(evil, (evil,)),),
        (evil,),
    )

    text = plans.plan_text(outcome) + plans.plan_text(outcome, verbose=True)
    text += plans.outcome_text(outcome) + plans.outcome_text(outcome, news="")

    assert [] == [char for char in text if not char.isprintable() and char != "\n"]
    assert "evil\n" not in text


def test_lone_surrogates_are_counted_and_printed_escaped() -> None:
    conflict = Conflict("a\udcff", "b\udcff", "\udcff", "x", None)

    text = plans.plan_text(Outcome(Plan(conflicts=(conflict,))))

    assert r"conflict in a\udcff: b\udcff (base 3 bytes, ours 1 byte, theirs has none)" in text


def test_the_document_has_the_contract_s_fields() -> None:
    outcome = Outcome(
        Plan(conflicts=(Conflict("pdf", "SKILL.md", "a", "b", "c"),)),
        refused=(Refusal("bad", ("why",)),),
    )

    found = json.loads(json.dumps(plain(outcome)))

    assert ["plan", "installed", "refused", "held", "notes", "dependencies"] == list(found)
    assert ["add", "update", "remove", "conflicts"] == list(found["plan"])
    assert ["name", "reasons", "findings", "verdict", "score"] == list(found["refused"][0])
    assert {"path", "base", "ours", "theirs"} <= set(found["plan"]["conflicts"][0])


# --- consent


def test_without_a_terminal_the_answer_is_no_and_the_reason_is_told_afterwards() -> None:
    consent = Consent(asked(), "Install")

    answer = consent(Outcome(Plan(add=(step(),))))

    assert not answer
    with pytest.raises(UsageError, match="no terminal"):
        consent.settle()


def test_a_document_cannot_ask() -> None:
    consent = Consent(asked(json=True), "Install")

    answer = consent(Outcome(Plan(add=(step(),))))

    assert not answer
    with pytest.raises(UsageError, match="--json never asks"):
        consent.settle()


def test_with_yes_the_plan_is_printed_before_anything_happens(
    capsys: pytest.CaptureFixture[str],
) -> None:
    consent = Consent(asked(yes=True), "Install")

    answer = consent(Outcome(Plan(add=(step(),))))
    consent.settle()

    assert answer
    assert capsys.readouterr().out.startswith("1 to install\n")


def test_with_yes_and_json_nothing_is_printed_beside_the_document(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def act(consent: object) -> Outcome:
        assert callable(consent)
        assert consent(Outcome(Plan(add=(step(),))))
        return Outcome(Plan(add=(step(),)), (Installed("pdf", DIGEST, "/x", "add", ()),))

    consent.carry_out(asked(yes=True, json=True), "Install", act)

    printed = capsys.readouterr()
    assert ["pdf"] == [one["name"] for one in json.loads(printed.out)["installed"]]
    assert "" == printed.err


def test_what_was_refused_is_said_even_when_the_answer_is_no(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def act(consent: object) -> Outcome:
        assert callable(consent)
        assert not consent(Outcome(Plan(add=(step(),))))
        return Outcome(Plan(add=(step(),)), refused=(Refusal("bad", ("why",)),))

    with pytest.raises(UsageError, match="no terminal"):
        consent.carry_out(asked(), "Install", act)

    assert "refused  bad    -        why\n" in capsys.readouterr().out


def test_whose_skills_are_meant() -> None:
    assert [True, False, None] == [
        argv.for_user(asked(user=user, project=project))
        for user, project in ((1, 0), (0, 1), (0, 0))
    ]
    with pytest.raises(UsageError, match="contradict"):
        argv.for_user(asked(user=True, project=True))

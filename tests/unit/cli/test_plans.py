"""How a plan, a refusal, a held update and a conflict look, and how a person is asked about them."""

from __future__ import annotations

import json

import pytest

from metier.cli import plans, supplied
from metier.cli.consent import Consent
from metier.disclose.wire import plain
from metier.errors import UsageError
from metier.model import Finding
from metier.supplies import Conflict, Held, Installed, Outcome, Plan, Refusal, Step, Target

COMMIT = "3f2a1bc4d5e6f708192a3b4c5d6e7f8091a2b3c4"
DIGEST = "sha256:" + "ab" * 32
ESCAPE = "\x1b[2J\u202e"


def finding(rule: str, severity: str = "high", path: str = "scripts/fill.sh", line: int = 3) -> Finding:
    return Finding(rule, severity, "network", path, line, 1, "curl …", f"Does {rule}. It matters.", "Look.")  # type: ignore[arg-type]


def step(name: str = "pdf", **fields: object) -> Step:
    made = Step(name, "add", "github.com/anthropics/skills", "skills/pdf", "main", COMMIT, DIGEST, "", 12, 49_357, 1_930, "community",
                "caution", 31, (), "ask", ("level community: its source is not known",),
                (Target("", ".agents/skills/pdf", "folder"), Target("claude-code", ".claude/skills/pdf", "link")))  # fmt: skip
    return made._replace(**fields)  # type: ignore[arg-type]


def asked(**given: object) -> dict[str, object]:
    return {"yes": False, "json": False, **given}


# --- words


@pytest.mark.parametrize(("size", "text"), [
    (0, "0 bytes"), (1, "1 byte"), (1023, "1,023 bytes"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (5 << 20, "5.0 MiB"),
    (3 << 30, "3.0 GiB"), (5000 << 40, "5,000.0 TiB"),
])  # fmt: skip
def test_a_size_is_in_units_that_people_use(size: int, text: str) -> None:
    assert text == plans.size_text(size)


@pytest.mark.parametrize(("commit", "text"), [
    (COMMIT, "3f2a1bc4d5"), (DIGEST, "sha256:ababababab"), ("1.2.0", "1.2.0"), ("", ""), ("deadbeef", "deadbeef"),
    (f"evil{ESCAPE}", r"evil\x1b[2J\u202e"),
])  # fmt: skip
def test_only_what_is_a_commit_or_a_digest_is_cut(commit: str, text: str) -> None:
    assert text == plans.short(commit)


# --- plans


def test_a_step_says_what_from_where_at_which_cost_with_which_verdict_and_to_which_places() -> None:
    text = plans.plan_text(Plan(add=(step(findings=(finding("SC230"),)),)))

    assert """\
add pdf  github.com/anthropics/skills skills/pdf main at 3f2a1bc4d5
  12 files, 48.2 KiB, about 1,930 tokens
  caution 31/100, level community: ask
    level community: its source is not known
    scripts/fill.sh:3: SC230 high Does SC230
        why: It matters.
  to .agents/skills/pdf (folder)
  to .claude/skills/pdf (link, claude-code)
""" == text


def test_the_gravest_findings_are_shown_first_and_the_others_counted() -> None:
    mixed = (finding("SC1", "low"), finding("SC2", "info"), finding("SC3", "critical"), finding("SC4", "medium"), finding("SC5", "high"))

    text = plans.plan_text(Plan(add=(step(findings=mixed),)))

    assert ["SC3", "SC5", "SC4"] == [line.split()[1] for line in text.splitlines() if ": SC" in line]
    assert "… and 2 findings more (--json shows all)" in text


def test_an_update_says_how_it_meets_edits_and_what_it_gains() -> None:
    text = plans.plan_text(Plan(update=(step(mode="three_way", gained=("network", "credentials")),)))

    assert text.startswith("update pdf ")
    assert "merged with your edits" in text
    assert "new: network, credentials\n" in text


def test_a_removal_says_from_where() -> None:
    text = plans.plan_text(Plan(remove=(step(mode="remove", reasons=("it was edited",)),)))

    assert text.startswith("remove pdf ")
    assert "it was edited" in text
    assert "  from .agents/skills/pdf (folder)\n" in text
    assert "caution" not in text


def test_every_skill_of_a_large_plan_is_named() -> None:
    many = tuple(step(f"skill-{number}") for number in range(1000))

    text = plans.plan_text(Plan(add=many))

    assert all(f"add skill-{number} " in text for number in range(1000))
    assert plans.DETAILED == text.count("about 1,930 tokens")


def test_a_conflict_shows_its_path_and_the_size_of_each_side() -> None:
    text = plans.plan_text(Plan(conflicts=(Conflict("pdf", "SKILL.md", "a\n", None, "abc\n", "deleted here, edited there"),)))

    assert "conflict in pdf: SKILL.md (base 2 bytes, ours has none, theirs 4 bytes): deleted here, edited there\n" == text


def test_a_refusal_has_its_reasons_and_findings_and_a_held_update_what_to_do_next() -> None:
    outcome = Outcome(Plan(), refused=(Refusal("bad", ("dangerous 98/100",), (finding("SC230", "critical"),)),),
                      held=(Held("my pdf", ("1 conflict",)),))  # fmt: skip

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
    assert "held pdf\n  gone\n" == plans.outcome_text(Outcome(Plan(), held=(Held("pdf", ("gone",), settle=False),)))


def test_nothing_to_do_is_said() -> None:
    assert "nothing to do\n" == plans.outcome_text(Outcome(Plan()))
    assert "nothing was changed\n" == plans.outcome_text(Outcome(Plan(add=(step(),))), done=False)


def test_no_word_of_a_stranger_reaches_the_terminal_as_it_is() -> None:
    evil = f"evil{ESCAPE}\n"
    strange = step(evil, source=evil, path=evil, ref=evil, commit=evil, reasons=(evil,), gained=(evil,), findings=(finding("SC1", path=evil),),
                   targets=(Target(evil, evil, "copy"),))  # fmt: skip
    outcome = Outcome(Plan((strange,) * 30, (strange,), (strange,), (Conflict(evil, evil, evil, evil, evil, evil),)),
                      (Installed(evil, DIGEST, evil, "add", ()),), (Refusal(evil, (evil,), (finding("SC1", path=evil),)),),
                      (Held(evil, (evil,)),), (evil,))  # fmt: skip

    text = plans.plan_text(outcome.plan) + plans.outcome_text(outcome)

    assert [] == [char for char in text if not char.isprintable() and char != "\n"]
    assert "evil\n" not in text


def test_lone_surrogates_are_counted_and_printed_escaped() -> None:
    text = plans.plan_text(Plan(conflicts=(Conflict("a\udcff", "b\udcff", "\udcff", "x", None),)))

    assert r"conflict in a\udcff: b\udcff (base 3 bytes, ours 1 byte, theirs has none)" in text


def test_the_document_has_the_contract_s_fields() -> None:
    outcome = Outcome(Plan(conflicts=(Conflict("pdf", "SKILL.md", "a", "b", "c"),)), refused=(Refusal("bad", ("why",)),))

    found = json.loads(json.dumps(plain(outcome)))

    assert ["plan", "installed", "refused", "held", "notes"] == list(found)
    assert ["add", "update", "remove", "conflicts"] == list(found["plan"])
    assert ["name", "reasons", "findings"] == list(found["refused"][0])
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
    with pytest.raises(UsageError, match="cannot ask"):
        consent.settle()


def test_with_yes_the_plan_is_printed_before_anything_happens(capsys: pytest.CaptureFixture[str]) -> None:
    consent = Consent(asked(yes=True), "Install")

    answer = consent(Outcome(Plan(add=(step(),))))
    consent.settle()

    assert answer
    assert capsys.readouterr().out.startswith("add pdf ")


def test_with_yes_and_json_nothing_is_printed_beside_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    def act(consent: object) -> Outcome:
        assert callable(consent)
        assert consent(Outcome(Plan(add=(step(),))))
        return Outcome(Plan(add=(step(),)), (Installed("pdf", DIGEST, "/x", "add", ()),))

    supplied.carried_out(asked(yes=True, json=True), "Install", act)

    printed = capsys.readouterr()
    assert ["pdf"] == [one["name"] for one in json.loads(printed.out)["installed"]]
    assert "" == printed.err


def test_what_was_refused_is_said_even_when_the_answer_is_no(capsys: pytest.CaptureFixture[str]) -> None:
    def act(consent: object) -> Outcome:
        assert callable(consent)
        assert not consent(Outcome(Plan(add=(step(),))))
        return Outcome(Plan(add=(step(),)), refused=(Refusal("bad", ("why",)),))

    with pytest.raises(UsageError, match="no terminal"):
        supplied.carried_out(asked(), "Install", act)

    assert "refused bad\n  why\n" == capsys.readouterr().out


def test_whose_skills_are_meant() -> None:
    assert [True, False, None] == [supplied.users({"user": user, "project": project}) for user, project in ((1, 0), (0, 1), (0, 0))]
    with pytest.raises(UsageError, match="contradict"):
        supplied.users({"user": True, "project": True})

"""`metier review`: what waits, what speaks for and against it, and every way to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from doors.command import document
from fakes.steward import DIFF, EVIL, UPDATE, FakeSteward, candidate

from metier.cli.commands import review
from metier.errors import RefusedError
from metier.model import Finding
from metier.plugins.model import Evidence
from metier.supply.model import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable

    from doors.command import Answer

    Give = Callable[..., Answer]

FIELDS = {"id", "kind", "skill", "merge_mode", "status", "reason", "evidence"}
FINDING = Finding(
    "SC230", "high", "network", "scripts/x.sh", 3, 1, "curl", "Sends data. It matters.", "Look."
)
DRAFT = candidate(
    "draft:1234", kind="skill_draft", skill="notes", merge_mode="", evidence=Evidence()
)


@pytest.fixture
def give(here: Give) -> Give:
    """Give the command in this process."""
    return lambda *words: here("review", *words)


# --- the list


def test_a_list_says_what_waits_and_for_what(steward: FakeSteward, give: Give) -> None:
    steward.waiting.append(DRAFT)

    text, found = give("list"), document(give("list", "--json"))

    head, update, draft, _gap, after = text.out.splitlines()
    assert (0, "") == (text.code, text.err)
    assert "ID KIND SKILL MODE VERDICT WAITS FOR" == " ".join(head.split())
    assert [UPDATE, "update", "palette", "fast-forward", "caution", "40/100"] == update.split()[:6]
    assert ["draft:1234", "draft", "notes", "-", "-"] == draft.split()[:5]
    assert update.endswith("its plugin changed it")
    assert "next: metier review show ID (or the name of the skill)" == after
    assert ["candidates"] == list(found)
    assert [FIELDS] * 2 == [FIELDS & set(row) for row in found["candidates"]]
    assert ["fast_forward", None] == [row["merge_mode"] for row in found["candidates"]]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"status": "rejected", "reason": "too much"}, "rejected: too much"),
        (
            {"status": "superseded", "reason": "", "replaced_by": "plugin-update:x"},
            "superseded by plugin-update:x",
        ),
        ({"status": "published", "reason": "", "version": "v0003"}, "published as v0003"),
    ],
)
def test_what_was_decided_is_listed_on_request_with_what_became_of_it(
    fields: dict[str, str], said: str, steward: FakeSteward, give: Give
) -> None:
    steward.waiting = [candidate(**fields)]

    waiting, everything = give("list"), give("list", "--all")

    assert "Nothing waits for you.\n\nnext: metier plugin sync, metier update\n" == waiting.out
    assert (True, True) == (
        everything.out.splitlines()[0].endswith("  STATE"),
        everything.out.splitlines()[1].endswith(f"  {said}"),
    )


# --- one of them


@pytest.mark.parametrize("said", [UPDATE, "plugin-update:", "palette"])
def test_an_id_its_beginning_or_the_name_of_the_skill_will_do(
    said: str, steward: FakeSteward, give: Give
) -> None:
    steward.waiting.append(DRAFT)

    answer = give("show", said)

    assert (0, True) == (answer.code, answer.out.startswith(f"{UPDATE}\n"))


def test_where_several_fit_they_are_named(steward: FakeSteward, give: Give) -> None:
    steward.waiting.append(candidate("plugin-update:other:palette:ffffffffffff"))

    answer, found = give("show", "palette"), document(give("accept", "palette", "--yes", "--json"))

    assert (1, True) == (answer.code, "may be any of 2" in answer.err)
    assert ("ambiguous", [one.id for one in steward.waiting]) == (
        found["code"],
        [row["id"] for row in found["candidates"]],
    )
    assert [] == steward.asked


def test_what_was_decided_is_meant_only_by_its_whole_id(steward: FakeSteward, give: Give) -> None:
    steward.waiting = [candidate(status="rejected")]

    by_name, by_id = give("show", "palette"), give("show", UPDATE)

    assert (1, True) == (by_name.code, "there is no candidate 'palette'" in by_name.err)
    assert 0 == by_id.code


def test_one_is_shown_with_verdict_findings_capabilities_and_diff(
    steward: FakeSteward, give: Give
) -> None:
    steward.reviewed = steward.reviewed._replace(findings=(FINDING,))

    text, found = give("show", UPDATE), document(give("show", UPDATE, "--json"))

    assert (
        "an update of palette of brand-kit 1.3.0, fast-forward: open since 2026-02-03 04:05:06"
        in text.out
    )
    assert (
        "  caution 40/100\n    new: network\n    no longer: files\n    scripts/x.sh:3: SC230 high Sends data\n"
        in text.out
    )
    assert f"\n{DIFF}\nnext:\n" in text.out
    assert [
        f"metier review {verb} {UPDATE}" in text.out for verb in ("accept", "reject", "edit")
    ] == [True] * 3
    assert [UPDATE] == [row["id"] for row in found["candidates"]]
    assert (DIFF, "SC230", found["candidates"][0]) == (
        found["diff"],
        found["findings"][0]["rule"],
        found["candidate"],
    )


def test_conflicts_are_shown_with_the_ways_to_settle_them(steward: FakeSteward, give: Give) -> None:
    steward.reviewed = steward.reviewed._replace(
        conflicts=(Conflict("palette", "SKILL.md", "a", "b", None, "both changed it"),)
    )

    answer = give("show", UPDATE)

    assert (
        "conflict in palette: SKILL.md (base 1 byte, ours 1 byte, theirs has none): both changed it"
        in answer.out
    )
    assert f"metier review accept {UPDATE} --ours " in answer.out
    assert f"metier review accept {UPDATE} --theirs" in answer.out


@pytest.mark.parametrize(
    ("fields", "ways", "none"),
    [
        ({"kind": "plugin_skill_removed"}, ("accept", "reject"), ("edit",)),
        ({"evidence": Evidence(verdict="dangerous", score=99)}, ("reject", "edit"), ("accept",)),
        ({"status": "rejected"}, (), ("accept", "reject", "edit")),
    ],
)
def test_only_ways_that_lead_somewhere_are_named(
    fields: dict[str, Any],
    ways: tuple[str, ...],
    none: tuple[str, ...],
    steward: FakeSteward,
    give: Give,
) -> None:
    steward.reviewed = steward.reviewed._replace(candidate=candidate(**fields), diff="")

    text = give("show", UPDATE).out

    assert [True] * len(ways) == [f"metier review {verb} {UPDATE}" in text for verb in ways]
    assert [False] * len(none) == [f"metier review {verb} {UPDATE}" in text for verb in none]


def test_nothing_that_a_stranger_wrote_acts_on_the_terminal(
    steward: FakeSteward, give: Give
) -> None:
    seen = Evidence(EVIL, EVIL, EVIL, verdict=EVIL, gained=(EVIL,), lost=(EVIL,))
    evil = candidate(UPDATE, skill=EVIL, reason=EVIL, evidence=seen, at=EVIL)
    steward.waiting, steward.reviewed = (
        [evil],
        steward.reviewed._replace(candidate=evil, diff=f"+{EVIL}\n", desk=EVIL),
    )
    steward.decided = steward.decided._replace(candidate=evil, message=EVIL, path=EVIL)

    printed = [
        give(*words).out
        for words in (("list",), ("show", UPDATE), ("edit", UPDATE), ("accept", UPDATE, "--yes"))
    ]

    assert [] == [
        char for text in printed for char in text if not char.isprintable() and char != "\n"
    ]


# --- deciding


def test_accepting_publishes_at_once_and_says_so(steward: FakeSteward, give: Give) -> None:
    text = give("accept", "palette", "--yes", "--theirs", "--reason", "read it")
    found = document(give("accept", UPDATE, "--yes", "--json"))

    assert (0, "published: an update of palette of brand-kit 1.3.0\n  done\n") == (
        text.code,
        text.out,
    )
    assert [
        ("accept", UPDATE, "theirs", {"reason": "read it"}),
        ("accept", UPDATE, "", {"reason": ""}),
    ] == steward.asked
    assert (True, "published", [UPDATE]) == (
        found["done"],
        found["candidate"]["status"],
        [row["id"] for row in found["candidates"]],
    )


def test_what_moved_since_has_to_be_looked_at_once_more(steward: FakeSteward, give: Give) -> None:
    steward.decided = steward.decided._replace(
        candidate=candidate(), done=False, message="your copy changed since"
    )

    text, found = give("accept", UPDATE, "--yes"), give("accept", UPDATE, "--yes", "--json")

    assert (1, 1, False) == (text.code, found.code, document(found)["done"])
    assert text.out.startswith("not yet: an update of palette")
    assert text.out.endswith(f"your copy changed since\n\nnext: metier review show {UPDATE}\n")


def test_what_was_superseded_leads_to_what_took_its_place(steward: FakeSteward, give: Give) -> None:
    steward.decided = steward.decided._replace(
        candidate=candidate(status="superseded", replaced_by="plugin-update:newer"), done=False
    )

    assert give("accept", UPDATE, "--yes").out.endswith(
        "\nnext: metier review show plugin-update:newer\n"
    )


def test_what_is_refused_is_shown_with_its_findings(steward: FakeSteward, give: Give) -> None:
    steward.refusal = RefusedError(
        "Plugin skill safety check failed: palette", code="unsafe", hint="look at its findings"
    )
    steward.refusal.details["findings"] = [FINDING._asdict()]

    text, found = give("accept", UPDATE, "--yes"), give("accept", UPDATE, "--yes", "--json")

    assert (1, 1, "SC230") == (text.code, found.code, document(found)["findings"][0]["rule"])
    assert "    scripts/x.sh:3: SC230 high Sends data\n" in text.out
    assert text.err.startswith("error: Plugin skill safety check failed: palette\n")


@pytest.mark.parametrize("verb", ["accept", "reject"])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_without_a_terminal_only_a_yes_decides(
    verb: str, more: tuple[str, ...], steward: FakeSteward, give: Give
) -> None:
    answer = give(verb, UPDATE, *more)

    assert (2, True) == (answer.code, "--yes" in answer.out + answer.err)
    assert [] == steward.asked


def test_a_yes_to_what_others_changed_meanwhile_does_not_count(
    steward: FakeSteward, give: Give, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(_values: object, question: str) -> None:
        assert "1 file, 2 lines added, 1 line removed" in question
        steward.waiting = [candidate(evidence=Evidence(proposed_tree_hash="another"))]

    monkeypatch.setattr(review, "require_yes", slow)

    answer = give("accept", UPDATE)

    assert (2, True, []) == (
        answer.code,
        "changed while you looked at it" in answer.err,
        steward.asked,
    )


def test_rejecting_keeps_the_skill_as_it_is(steward: FakeSteward, give: Give) -> None:
    steward.decided = steward.decided._replace(
        candidate=candidate(status="rejected"), message="palette stays as it is"
    )

    answer = give("reject", "palette", "--yes", "--reason", "no")

    assert (0, [("reject", UPDATE, {"reason": "no"})]) == (answer.code, steward.asked)
    assert answer.out.startswith("rejected: ")


def test_editing_says_where_and_what_next(steward: FakeSteward, give: Give) -> None:
    text, found = give("edit", "palette"), document(give("edit", "palette", "--json"))

    assert (0, True, "/desk/palette") == (text.code, "  /desk/palette\n" in text.out, found["desk"])
    assert f"metier review accept {UPDATE}" in text.out
    assert [UPDATE] == [row["id"] for row in found["candidates"]]
    assert [("edit", UPDATE, {})] * 2 == steward.asked


# --- wrong usage


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("shwo", "x"), "unknown command 'metier review shwo'"),
        (("show",), "metier review show needs one ID"),
        (("list", "x"), "takes no ID"),
        (("accept", "a", "b"), "unexpected 'b'"),
        (("show", UPDATE, "--ours"), "metier review show takes no --ours"),
        (("list", "--reason", "x"), "metier review list takes no --reason"),
        (("accept", UPDATE, "--ours", "--theirs"), "contradict"),
        (("list", "--user", "--project"), "contradict"),
        (("show", "nobody"), "there is no candidate 'nobody'"),
        (("accept", UPDATE, "--all", "--yes"), "metier review accept takes no --all"),
        (("show", ""), "there is no candidate"),
    ],
)
def test_what_cannot_be_meant_is_said_and_nothing_is_decided(
    words: tuple[str, ...], said: str, steward: FakeSteward, give: Give
) -> None:
    answer = give(*words)

    assert answer.code in {1, 2}
    assert said in answer.err
    assert "\n\nhint: " in answer.err
    assert [] == steward.asked

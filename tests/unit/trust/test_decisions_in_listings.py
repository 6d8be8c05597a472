"""What the decisions mean for a listing."""

from __future__ import annotations

import pytest

from metier.model import Digest, Entry, Root, Said, Scope
from metier.trust.decision_records import (
    DecisionRow,
    Decisions,
    TrustedProject,
    read_said,
    state_bytes,
)
from metier.trust.model import Approval

A, B = Digest("sha256:aa"), Digest("sha256:bb")
PDF = Entry("skill-md", "/skills/pdf", "SKILL.md", "", "pdf", "", "", "", 0, 0, None, None, ())
YES = Approval("pdf", A, "approved", "verified", "2026-03-01T10:00:00Z")
TRUSTED = TrustedProject("/work", "2026-03-01")


def said(
    *records: Approval, path: str = "/skills/pdf", projects: tuple[TrustedProject, ...] = (TRUSTED,)
) -> Said:
    return read_said(
        state_bytes(Decisions(tuple(DecisionRow(record, path) for record in records), projects))
    )


def root(scope: Scope = "user", project: str = "") -> Root:
    return Root("/skills", scope, "", "", project=project)


def test_decisions_that_cannot_be_read_say_nothing_but_why() -> None:
    found = read_said(b"{")

    assert found.broken.startswith("the record of your decisions cannot be read")
    assert Said(broken=found.broken, all_blocked=True) == found._replace(decided=None)


def test_without_a_decision_about_a_skill_only_the_projects_are_known() -> None:
    assert Said(frozenset({"/work"})) == said()._replace(decided=None)


def test_a_skill_somebody_decided_about_is_found_by_its_folded_name_and_by_its_place() -> None:
    found = said(YES._replace(name="\uff30DF"))

    assert (frozenset({"/work"}), frozenset({"pdf"}), frozenset({"/skills/pdf"})) == found[:3]
    assert "pdf" == found.fold("\uff30DF")
    assert "" == found.broken


def test_a_decision_without_a_place_marks_no_place() -> None:
    assert frozenset() == said(YES, path="").paths


@pytest.mark.parametrize(
    ("record", "scope", "project", "digest", "expected"),
    [
        (YES, "user", "", A, "visible"),
        (YES, "user", "", B, "ask"),  # changed since it was approved
        (YES, "user", "", None, "ask"),  # nobody could look at the bytes
        (YES, "external", "", B, "ask"),
        (YES._replace(state="blocked"), "user", "", A, "blocked"),
        (YES._replace(state="blocked"), "user", "", B, "quarantined"),
        (YES._replace(state="blocked"), "external", "", A, "blocked"),
        (YES._replace(state="quarantined"), "user", "", A, "quarantined"),
        (YES._replace(at="2199-01-01"), "user", "", A, "visible"),  # a listing has no clock
        (
            YES._replace(at="soon"),
            "user",
            "",
            A,
            "visible",
        ),  # what was said on no day was not said; nothing else is known
        (YES._replace(at="soon"), "user", "/other", A, "ask"),
        (YES, "user", "/other", A, "visible"),  # an approval holds in a project that nobody trusts
        (YES._replace(name="doc"), "project", "/other", A, "visible"),  # by its place
        (YES._replace(name="doc"), "project", "/other", B, "ask"),
    ],
)
def test_the_state_of_a_skill_is_what_people_have_said_about_it(
    record: Approval, scope: Scope, project: str, digest: Digest | None, expected: str
) -> None:  # MT-13, MT-18, MT-29
    found = said(record)

    assert found.state_of is not None
    assert expected == found.state_of(root(scope, project), PDF, digest, None)[0]


@pytest.mark.parametrize(
    ("project", "expected"),
    [("/work", "visible"), ("/work/inner", "ask"), ("/other", "ask"), ("", "visible")],
)
def test_an_untrusted_project_s_skill_waits_whatever_the_scope_of_its_root(
    project: str, expected: str
) -> None:  # MT-18
    found = said(YES._replace(name="elsewhere"), path="/skills/elsewhere")

    assert found.state_of is not None
    assert [expected, expected] == [
        found.state_of(root(scope, project), PDF, B, None)[0] for scope in ("user", "external")
    ]


def test_the_reasons_are_what_people_have_said_and_not_what_loading_will_weigh() -> None:
    found = said(YES._replace(by="kim", reason="read it"))

    assert found.state_of is not None
    assert (
        "visible",
        ("this version was approved on 2026-03-01 by kim: read it",),
    ) == found.state_of(root(), PDF, A, None)
    assert (
        "metier trust project /other"
        in found.state_of(root(project="/other"), PDF._replace(name="new", path="/x"), B, None)[1][
            0
        ]
    )


def test_an_installed_skill_that_was_edited_in_its_place_stays_in_a_listing() -> None:
    found = said(YES._replace(installed=True))
    elsewhere = PDF._replace(path="/other/pdf")
    linked = PDF._replace(path="/other/pdf", real="/skills/pdf")

    assert found.state_of is not None
    assert [
        ("visible", ("edited after it was installed on 2026-03-01",)),
        ("visible", ("edited after it was installed on 2026-03-01",)),
    ] == [found.state_of(root(project="/other"), entry, B, None) for entry in (PDF, linked)]
    assert ["ask", "ask"] == [
        found.state_of(root(), entry, digest, None)[0]
        for entry, digest in ((elsewhere, B), (PDF, None))
    ]


@pytest.mark.parametrize("name", ["\u0440df", "PDF", "p\u200bdf", "\uff50df", "-pdf_"])
def test_a_name_that_looks_like_a_blocked_one_is_quarantined_in_a_listing(name: str) -> None:
    found = said(YES._replace(state="blocked"))
    stranger = PDF._replace(name=name, path="/skills/stranger")

    assert found.fold(name) in found.names
    assert found.state_of is not None
    state, reasons = found.state_of(root(), stranger, B, None)
    assert ("quarantined", True) == (
        state,
        reasons[0].startswith("its name looks like 'pdf', which you blocked"),
    )

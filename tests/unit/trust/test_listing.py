"""What the decisions mean for a listing."""

from __future__ import annotations

import pytest

from metier.model import Digest, Entry, Root, Said, Scope
from metier.trust.facts import Approval
from metier.trust.listing import said_in
from metier.trust.state import Project, Row, State, state_bytes

A, B = Digest("sha256:aa"), Digest("sha256:bb")
PDF = Entry("skill-md", "/skills/pdf", "SKILL.md", "", "pdf", "", "", "", 0, 0, None, None, ())
YES = Approval("pdf", A, "approved", "verified", "2026-03-01T10:00:00Z")
TRUSTED = Project("/work", "2026-03-01")


def said(*records: Approval, path: str = "/skills/pdf", projects: tuple[Project, ...] = (TRUSTED,)) -> Said:
    return said_in(state_bytes(State(tuple(Row(record, path) for record in records), projects)))


def root(scope: Scope = "user", project: str = "") -> Root:
    return Root("/skills", scope, "", "", project=project)


def test_decisions_that_cannot_be_read_say_nothing_but_why() -> None:
    found = said_in(b"{")

    assert found.broken.startswith("the record of your decisions cannot be read")
    assert Said(broken=found.broken) == found


def test_without_a_decision_about_a_skill_only_the_projects_are_known() -> None:
    assert Said(frozenset({"/work"})) == said()


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
        (YES._replace(at="soon"), "user", "", A, "visible"),  # what was said on no day was not said; nothing else is known
        (YES._replace(at="soon"), "user", "/other", A, "ask"),
        (YES, "user", "/other", A, "visible"),  # an approval holds in a project that nobody trusts
        (YES._replace(name="doc"), "project", "/other", A, "visible"),  # by its place
        (YES._replace(name="doc"), "project", "/other", B, "ask"),
    ],
)
def test_the_state_of_a_skill_is_what_people_have_said_about_it(record: Approval, scope: Scope, project: str, digest: Digest | None, expected: str) -> None:  # decisions 13, 18, 29
    found = said(record)

    assert found.state_of is not None
    assert expected == found.state_of(root(scope, project), PDF, digest)[0]


@pytest.mark.parametrize(("project", "expected"), [("/work", "visible"), ("/work/inner", "ask"), ("/other", "ask"), ("", "visible")])
def test_an_untrusted_project_s_skill_waits_whatever_the_scope_of_its_root(project: str, expected: str) -> None:  # decision 18
    found = said(YES._replace(name="elsewhere"), path="/skills/elsewhere")

    assert found.state_of is not None
    assert [expected, expected] == [found.state_of(root(scope, project), PDF, B)[0] for scope in ("user", "external")]


def test_the_reasons_are_what_people_have_said_and_not_what_loading_will_weigh() -> None:
    found = said(YES._replace(by="kim", reason="read it"))

    assert found.state_of is not None
    assert ("visible", ("these bytes were approved on 2026-03-01 by kim: read it",)) == found.state_of(root(), PDF, A)
    assert "metier trust project /other" in found.state_of(root(project="/other"), PDF._replace(name="new", path="/x"), B)[1][0]

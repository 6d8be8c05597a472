"""What a person's word does and does not write down: a block is lifted first, danger is accepted only where there is some."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import metier
from metier.errors import RefusedError
from metier.trust import approve
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Home, Writer

    from metier.library import Library
    from metier.trust.model import Approval


@pytest.fixture
def library(home: Home, tmp_path: Path, skill: Writer) -> Iterator[Library]:
    """Open a library with one harmless skill."""
    skill("skills/pdf")
    with metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")]) as opened:
        yield opened


def said(library: Library) -> list[Approval]:
    return list(decisions_file.read_decisions(library.context.data).approvals)


def events(library: Library) -> list[tuple[str, str]]:
    return [(one["event"], one["outcome"]) for one in library.audit_tail()]


def test_what_is_blocked_is_not_approved_and_that_somebody_tried_is_noted_down(
    library: Library,
) -> None:
    library.trust("pdf", "block", reason="odd")

    with pytest.raises(RefusedError, match="'pdf' is blocked") as caught:
        library.trust("pdf", "approve", reason="fine")

    assert "first: metier trust unblock pdf" == caught.value.hint
    assert (["blocked"], ("refuse", "refused")) == (
        [one.state for one in said(library)],
        events(library)[-1],
    )


def test_a_block_that_came_after_the_look_still_keeps_an_approval_out(library: Library) -> None:
    path = library.resolve("pdf").path
    approval = approve.statement(
        library.context, "pdf", library.context.machine.digest(path), "approve", "fine"
    )
    library.trust("pdf", "block", reason="odd")  # by somebody else, just now

    with pytest.raises(RefusedError, match="'pdf' is blocked"):
        approve.record_statement(library.context, path, "approve", approval)

    assert ["blocked"] == [one.state for one in said(library)]
    assert ("approve", "failed") == events(library)[-1]


def test_of_many_approvals_none_is_written_when_one_is_of_what_is_blocked(
    library: Library, skill: Writer
) -> None:
    skill("skills/ocr")
    library.reload()
    paths = {name: library.resolve(name).path for name in ("ocr", "pdf")}
    both = [
        (
            path,
            approve.statement(
                library.context, name, library.context.machine.digest(path), "approve", ""
            ),
            "safe",
        )
        for name, path in paths.items()
    ]
    library.trust("pdf", "block")

    with pytest.raises(RefusedError):
        approve.record_statements(library.context, "approve", both)

    assert [("pdf", "blocked")] == [(one.name, one.state) for one in said(library)]


@pytest.mark.parametrize("accept", [False, True])
def test_danger_that_is_not_there_is_not_accepted_for_later(library: Library, accept: bool) -> None:
    library.trust("pdf", "approve", reason="read it", accept_dangerous=accept)

    assert [("approved", False)] == [(one.state, one.accept_dangerous) for one in said(library)]


def test_a_block_is_lifted_from_what_lies_there_under_a_new_name_and_with_new_bytes(
    library: Library, skill: Writer
) -> None:
    folder = skill("skills/pdf")
    library.trust("pdf", "block", reason="odd")
    skill("skills/pdf", name="other")
    library.reload()

    found = library.trust(str(folder), "unblock", reason="it is another one now")

    assert ("other", "quarantined") == (found.name, found.state)
    assert [("pdf", "blocked"), ("pdf", "quarantined"), ("other", "quarantined")] == [
        (one.name, one.state) for one in said(library)
    ]


def test_what_nobody_has_blocked_cannot_be_unblocked(library: Library, skill: Writer) -> None:
    skill("skills/ocr")
    library.reload()
    library.trust("ocr", "block")

    with pytest.raises(RefusedError, match="'pdf' is not blocked"):
        library.trust("pdf", "unblock")

    assert [("ocr", "blocked")] == [(one.name, one.state) for one in said(library)]

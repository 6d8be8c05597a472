"""`metier adopt`: a skill on disk comes under the lock, and no byte of it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doors.command import error_of
from doors.upstream import text_of

if TYPE_CHECKING:
    from doors.upstream import Project, Upstream


def lying(project: Project, body: str = "Mine.\n") -> str:
    """Write a skill by hand, where agents look."""
    project.file("pdf").parent.mkdir(parents=True)
    project.file("pdf").write_text(text_of("pdf", body))
    return str(project.file("pdf").parent)


def test_a_skill_on_disk_comes_under_the_lock_unchanged(project: Project) -> None:
    lying(project)

    answer = project("adopt", ".agents/skills/pdf")

    assert (0, "adopted pdf: .agents/skills/pdf\n", "") == answer
    assert text_of("pdf", "Mine.\n") == project.file("pdf").read_text()
    assert '"pdf"' in (project.folder / "metier.lock").read_text()
    assert 0 == project("sync", "--frozen").code


def test_the_document_says_what_was_adopted(project: Project) -> None:
    lying(project)

    answer = project("adopt", ".agents/skills/pdf", "--json")

    assert (0, ["pdf"]) == (answer.code, [one["name"] for one in answer.json["installed"]])


def test_with_a_source_it_can_be_updated(project: Project, upstream: Upstream) -> None:
    lying(project, text_of("pdf").partition("---\n\n")[2])
    adopted = project("adopt", ".agents/skills/pdf", "--source", upstream.url)

    upstream.commit({"skills/pdf/SKILL.md": text_of("pdf", "New.\n")})
    waits = project("update", "--check")

    assert (0, 1) == (adopted.code, waits.code)


def test_a_second_time_is_refused(project: Project) -> None:
    lying(project)
    project("adopt", ".agents/skills/pdf")

    answer = project("adopt", ".agents/skills/pdf")

    assert (1, True) == (answer.code, "already in the lock" in error_of(answer)[0])


def test_a_folder_that_is_not_there_is_not_found(project: Project) -> None:
    answer = project("adopt", "nowhere")

    assert (1, True) == (answer.code, "there is no folder nowhere" in error_of(answer)[0])

"""Between a scan and what follows from it nobody exchanges a byte: what is put in place, accepted or packed is what was judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conformance.folders import Place, write

from metier.errors import IntegrityError
from metier.review.drafts import DraftReviews
from metier.scan import service

if TYPE_CHECKING:
    from metier.context import Context
    from metier.scan.waive import Scanned

TEXT = "---\nname: notes\ndescription: Writes notes. Use it for notes.\n---\n\n# Notes\n\nWrite the note down.\n"
NEWER = TEXT.replace("down", "up")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a machine with a skill of the user's own."""
    found = Place(tmp_path)
    write(found.home / ".agents/skills/notes/SKILL.md", TEXT)
    return found


def text(place: Place, name: str = "notes") -> str:
    return (place.home / f".agents/skills/{name}/SKILL.md").read_text()


def exchange(monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
    """Have somebody change the document of whatever is scanned, just before that or just after it."""
    scan = service.scan_tree

    def quicker(context: Context, path: str, name: str = "") -> Scanned:
        found = scan(context, path, name) if after else None
        document = Path(path, "SKILL.md")
        document.write_text(document.read_text() + "What nobody has seen.\n")
        return found or scan(context, path, name)

    monkeypatch.setattr(service, "scan_tree", quicker)


@pytest.mark.parametrize(("action", "name"), [("edit", "notes"), ("create", "other")])
def test_an_agent_s_change_that_was_exchanged_after_its_scan_is_not_made(
    place: Place, monkeypatch: pytest.MonkeyPatch, action: str, name: str
) -> None:
    library = place.scopes()
    exchange(monkeypatch, after=True)

    with pytest.raises(IntegrityError, match="changed after it was scanned"):
        library.manage(action, name, content=NEWER.replace("notes", name, 1))

    assert TEXT == text(place)
    assert ["notes"] == [card.name for card in place.scopes().skills()]


def test_a_draft_that_was_exchanged_before_its_scan_is_not_accepted(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.configure('[manage]\nreview = "always"\n')
    library = place.scopes()
    ident = f"draft:{library.manage('edit', 'notes', content=NEWER).staged}"
    exchange(monkeypatch, after=False)

    with pytest.raises(IntegrityError):
        DraftReviews(library.context).accept(ident, "", reason="it is right")

    assert TEXT == text(place)


def test_a_skill_that_changes_while_it_is_packed_is_not(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = place.scopes()
    exchange(monkeypatch, after=False)

    with pytest.raises(IntegrityError, match="changed while it was read"):
        library.pack(str(place.home / ".agents/skills/notes"), str(place.base / "notes.tar.gz"))

    assert not (place.base / "notes.tar.gz").exists()

"""A file that is swapped while it is read and judged: a model gets what was judged, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from conformance.folders import Place, skill

from metier.disclose import offer

if TYPE_CHECKING:
    from pathlib import Path

    from metier.trust.assess import TrustCase
    from metier.trust.decide import Usable


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a machine with a home and a project, both empty."""
    return Place(tmp_path)


def test_bytes_that_were_read_before_the_judging_and_put_back_are_not_given(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = skill(place.home / ".agents/skills/pdf", body="Fill in the form.\n")
    file = folder / "references.md"
    file.write_text("The honest text.\n")
    library = place.scopes()
    library.skills()
    real = offer.admit
    file.write_text("The planted one.\n")  # of the same length: only its bytes tell

    def put_back_and_admit(*given: Any, **named: Any) -> Usable[TrustCase]:
        file.write_text("The honest text.\n")
        return real(*given, **named)

    monkeypatch.setattr(offer, "admit", put_back_and_admit)

    found = library.view("pdf", "references.md", consent=True)

    assert "The honest text.\n" == found.content

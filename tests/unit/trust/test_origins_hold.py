"""Of several places that the same bytes were fetched from, the one that says most for them counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import metier
from metier.supply import places
from metier.trust.assess import fetched_from

if TYPE_CHECKING:
    from conftest import Home

DIGEST = "sha256:" + "ab" * 32
TRUSTED, REQUEST, OTHER = (
    ("anthropics/skills", "v1", "1" * 40),
    ("anthropics/skills", "pull/7/head", "2" * 40),
    ("a/skills", "main", "3" * 40),
)


@pytest.mark.parametrize(
    ("noted", "expected"),
    [
        ((), ("", "", "")),
        ((OTHER, TRUSTED), TRUSTED),
        ((TRUSTED, OTHER), TRUSTED),
        ((REQUEST, TRUSTED), TRUSTED),  # what somebody asked to have taken in was taken in
        ((REQUEST, OTHER), OTHER),
        ((REQUEST,), REQUEST),
    ],
)
def test_what_was_taken_in_says_more_than_what_was_only_asked_for(
    home: Home, noted: tuple[tuple[str, str, str], ...], expected: tuple[str, str, str]
) -> None:
    with metier.open(env=home.env, roots=[]) as library:
        for where in noted:
            places.store_of(library.context).note(DIGEST, *where)

        assert expected == fetched_from(library.context, DIGEST)

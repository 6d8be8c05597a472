"""The token of the HTTP server: made once, kept for its owner alone, refused when others could have read it."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from metier.errors import RefusedError, StoreError
from metier.mcp import http_access

if TYPE_CHECKING:
    from pathlib import Path


def test_a_token_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    first, second = (
        http_access.own_token(str(tmp_path), None),
        http_access.own_token(str(tmp_path), None),
    )

    kept = tmp_path / "mcp" / "token"
    assert (first, "") == (second, http_access.token_fault(first))
    assert (0o600, 0o700) == (
        stat.S_IMODE(kept.stat().st_mode),
        stat.S_IMODE(kept.parent.stat().st_mode),
    )


def test_two_machines_have_two_tokens(tmp_path: Path) -> None:
    assert http_access.own_token(str(tmp_path / "a"), None) != http_access.own_token(
        str(tmp_path / "b"), None
    )


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_token_that_others_can_read_is_refused(mode: int, tmp_path: Path) -> None:
    http_access.own_token(str(tmp_path), None)
    (tmp_path / "mcp" / "token").chmod(mode)

    with pytest.raises(RefusedError) as caught:
        http_access.own_token(str(tmp_path), None)

    assert "unsafe-store" == caught.value.code


@pytest.mark.parametrize(
    "text", ["", "short", "has a blank in the middle of it", "\udcff" * 3 + "x" * 20]
)
def test_a_token_of_ones_own_has_to_be_good_and_is_never_repeated(
    text: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    file.chmod(0o600)

    with pytest.raises(RefusedError) as caught:
        http_access.read_token(str(file))

    assert "weak-token" == caught.value.code
    assert not text or text not in caught.value.message


def test_a_token_of_ones_own_may_be_linked_to_but_the_one_of_metier_may_not(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_text("a-token-of-thirty-two-characters\n")
    real.chmod(0o600)
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "token").symlink_to(real)

    assert "a-token-of-thirty-two-characters" == http_access.read_token(
        str(tmp_path / "mcp" / "token")
    )
    with pytest.raises(StoreError):
        http_access.own_token(str(tmp_path), None)


def test_without_a_place_there_is_no_token(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        http_access.own_token(None, None)
    with pytest.raises(StoreError):
        http_access.read_token(str(tmp_path / "missing"))

    assert [] == list(tmp_path.iterdir())

"""What looks like a trusted source and could be another one earns nothing, even where somebody has listed the very like of it."""

from __future__ import annotations

import pytest

from metier.trust.model import level_of_source, repository

OWN = "https://git.example.com/team/skills"


@pytest.mark.parametrize("scheme", ["http", "git", "ssh", "file", "ftp", "HTTPS"])
def test_what_is_not_fetched_over_https_is_trusted_by_nobody_s_list(scheme: str) -> None:
    source = f"{scheme}://git.example.com/team/skills"

    assert ("", "community") == (repository(source), level_of_source(source, [source, OWN]))


@pytest.mark.parametrize("odd", ["@", "%", "\\", "?", "#"])
@pytest.mark.parametrize("trusted", ["anthropics/skills", OWN])
def test_a_sign_that_could_make_a_path_below_a_trusted_source_mean_another_one_is_not_trusted(
    odd: str, trusted: str
) -> None:
    below, beside = f"{trusted}/pdf{odd}elsewhere", f"{trusted}/{odd}elsewhere/x"

    assert ["trusted", "community", "community"] == [
        level_of_source(one, [trusted]) for one in (f"{trusted}/pdf", below, beside)
    ]

"""Versions and ranges of versions, as skills write them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from metier.standard.semver import can_meet, highest, read_range, read_version, satisfies


@pytest.mark.parametrize(
    ("wanted", "taken", "not_taken"),
    [
        ("^1.2", "1.2.0 1.9.9", "1.1.9 2.0.0 2.0.0-rc.1 1.3.0-rc.1"),
        ("^0.2", "0.2.0 0.2.9", "0.3.0 1.0.0"),
        ("^0.0.3", "0.0.3", "0.0.4"),
        ("~1.2", "1.2.0 1.2.9", "1.3.0"),
        ("~1", "1.0.0 1.9.0", "2.0.0"),
        ("~=1.2", "1.2.0 1.9.0", "2.0.0 1.1.0"),
        ("~=1.2.1", "1.2.9", "1.3.0"),
        (">=1,<2", "1.0.0 1.5.0", "2.0.0 0.9.0"),
        (">=1 <2", "1.5.0", "2.0.0"),
        ("(>=1.0)", "1.0.0 7.0.0", "0.9.9"),
        ("1.x", "1.7.0", "2.0.0"),
        ("1", "1.7.0", "2.0.0"),
        ("1.2.3", "1.2.3 1.2.3+build", "1.2.4"),
        ("=v1.2.3", "1.2.3", "1.2.2"),
        ("<=1.2", "1.2.9 0.1.0", "1.3.0"),
        (">1.2", "1.3.0", "1.2.9 1.2.0"),
        ("!=1.3.0", "1.2.0 1.4.0", "1.3.0"),
        ("^1.2 || ^3", "1.2.0 3.1.0", "2.0.0"),
        ("^1.3.0-rc.1", "1.3.0-rc.2 1.3.0", "1.3.0-beta.9"),
        ("*", "0.0.0 9.9.9", ""),
        ("latest", "1.0.0", ""),
    ],
)
def test_a_range_takes_what_npm_cargo_and_python_agree_on(
    wanted: str, taken: str, not_taken: str
) -> None:
    found = read_range(wanted)

    assert found is not None
    both = [(text, True) for text in taken.split()] + [(text, False) for text in not_taken.split()]
    versions = [(text, read_version(text)) for text, _fits in both]
    assert both == [
        (text, version is not None and satisfies(version, found)) for text, version in versions
    ]


@pytest.mark.parametrize("text", ["banana", "^", "1.2.3.4", "^1 ||", "1" * 300, "1||" * 40])
def test_what_is_no_range_is_none(text: str) -> None:
    assert read_range(text) is None


@pytest.mark.parametrize(
    ("ranges", "meet"),
    [
        (["^1", "^2"], False),
        (["^1", ">=1.5"], True),
        (["=1.2.3", "!=1.2.3"], False),
        (["^1 || ^3", ">=2"], True),
        (["<1", ">=1"], False),
        (["^1 || ^2 || ^3 || ^4 || ^5 || ^6 || ^7 || ^8"] * 40, True),
    ],
)
def test_whether_ranges_can_meet_is_known_without_versions(ranges: list[str], meet: bool) -> None:
    assert meet is can_meet([read_range(one) or () for one in ranges])


@given(st.text(max_size=60))
def test_no_text_breaks_the_readers(text: str) -> None:
    version, wanted = read_version(text), read_range(text)

    assert version is None or read_version(version.text) == version
    assert wanted is None or isinstance(can_meet([wanted]), bool)


PART = st.integers(0, 5)
VERSIONS = st.builds(lambda a, b, c: read_version(f"{a}.{b}.{c}"), PART, PART, PART)
RANGES = st.builds(
    lambda sign, a, b: f"{sign}{a}.{b}",
    st.sampled_from(["^", "~", ">=", "<", ">", "<=", "=", "!="]),
    PART,
    PART,
)


@given(st.lists(VERSIONS, max_size=20), st.lists(RANGES, min_size=1, max_size=4))
def test_the_highest_that_fits_is_only_found_where_the_ranges_meet(
    versions: list[object], texts: list[str]
) -> None:
    ranges = [read_range(text) or () for text in texts]

    found = highest(versions, ranges)  # type: ignore[arg-type]

    fitting = [one for one in versions if all(satisfies(one, each) for each in ranges)]  # type: ignore[arg-type]
    assert max(fitting, default=None) == found  # type: ignore[type-var]
    assert found is None or can_meet(ranges)

"""The lists of approved code: what they say, and that a broken one approves nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from metier.trust.code_lists import MAX_LIST_BYTES, CodeManifest, parse_manifest, sha256_of

ONE = sha256_of(b"one")
TWO = sha256_of(b"two")


def test_a_manifest_binds_names_to_hashes() -> None:  # CO-7
    data = json.dumps(
        {"schema": 1, "_comment": "mine", "skills": {"a.py": ONE, "b.py": TWO.upper()}}
    ).encode()

    manifest = parse_manifest(data)

    assert CodeManifest({"a.py": ONE, "b.py": TWO}) == manifest


def test_a_missing_manifest_trusts_nothing_and_says_nothing() -> None:  # CO-7
    assert CodeManifest({}, "") == parse_manifest(None)


BROKEN = {
    "not json": b"{",
    "empty": b"",
    "not utf-8": b'{"skills": {"\xff": 1}}',
    "a list": b"[]",
    "no skills": b'{"schema": 1}',
    "skills is a list": b'{"skills": []}',
    "a short hash": b'{"skills": {"a.py": "abc"}}',
    "a hash that is a number": b'{"skills": {"a.py": 1}}',
    "one bad among good": json.dumps({"skills": {"a.py": ONE, "b.py": "?"}}).encode(),
    "a key twice": f'{{"skills": {{"a.py": "{ONE}", "a.py": "{TWO}"}}}}'.encode(),
    "skills twice": f'{{"skills": {{}}, "skills": {{"a.py": "{ONE}"}}}}'.encode(),
    "a path for a name": json.dumps({"skills": {"../a.py": ONE}}).encode(),
    "a backslash in a name": json.dumps({"skills": {"x\\a.py": ONE}}).encode(),
    "no name": json.dumps({"skills": {"": ONE}}).encode(),
    "nul in a name": json.dumps({"skills": {"a\0.py": ONE}}).encode(),
    "too deep": b'{"skills":' * 100_000,
    "a trailing line end in a hash": json.dumps({"skills": {"a.py": ONE + "\n"}}).encode(),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_manifest_trusts_nothing_and_says_so(data: bytes) -> None:  # CO-7
    manifest = parse_manifest(data)

    assert {} == manifest.skills
    assert manifest.problem.startswith("The manifest of trusted skills cannot be used: ")


def test_a_manifest_may_be_as_long_as_the_limit_and_no_longer() -> None:
    data = json.dumps({"skills": {"a.py": ONE}}).encode()
    longest, longer = data.ljust(MAX_LIST_BYTES), data.ljust(MAX_LIST_BYTES + 1)

    assert {"a.py": ONE} == parse_manifest(longest).skills
    assert CodeManifest(
        {},
        f"The manifest of trusted skills cannot be used: it is longer than {MAX_LIST_BYTES} bytes",
    ) == parse_manifest(longer)


def test_the_problem_tells_what_is_wrong() -> None:
    twice = parse_manifest(BROKEN["a key twice"]).problem
    deep = parse_manifest(BROKEN["too deep"]).problem

    assert twice.endswith("a key is written twice")
    assert deep.endswith("it is nested too deeply")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_make_the_reader_raise(data: bytes) -> None:
    manifest = parse_manifest(data)

    assert not manifest.problem or not manifest.skills

"""The lists of approved code: what they say, and that a broken one approves nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from metier.trust.manifest import (
    MOST_BYTES,
    Allowlist,
    Approval,
    Manifest,
    allowlist_bytes,
    approve,
    manifest_bytes,
    objection,
    parse_allowlist,
    parse_manifest,
    sha256_of,
)

ONE = sha256_of(b"one")
TWO = sha256_of(b"two")


def test_a_manifest_binds_names_to_hashes() -> None:  # CO-7
    data = json.dumps({"schema": 1, "_comment": "mine", "skills": {"a.py": ONE, "b.py": TWO.upper()}}).encode()

    manifest = parse_manifest(data)

    assert Manifest({"a.py": ONE, "b.py": TWO}) == manifest


def test_a_missing_manifest_trusts_nothing_and_says_nothing() -> None:  # CO-7
    assert Manifest({}, "") == parse_manifest(None)


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
    longest, longer = data.ljust(MOST_BYTES), data.ljust(MOST_BYTES + 1)

    assert {"a.py": ONE} == parse_manifest(longest).skills
    assert Manifest({}, f"The manifest of trusted skills cannot be used: it is longer than {MOST_BYTES} bytes") == parse_manifest(longer)


def test_the_problem_tells_what_is_wrong() -> None:
    twice = parse_manifest(BROKEN["a key twice"]).problem
    deep = parse_manifest(BROKEN["too deep"]).problem

    assert twice.endswith("a key is written twice")
    assert deep.endswith("it is nested too deeply")


def test_a_manifest_survives_being_written() -> None:
    manifest = Manifest({"b.py": TWO, "ä.py": ONE})

    data = manifest_bytes(manifest)

    assert manifest == parse_manifest(data)
    assert data == manifest_bytes(Manifest({"ä.py": ONE, "b.py": TWO}))
    assert 1 == json.loads(data)["schema"]


# --- the allowlist


def test_an_allowlist_is_read_with_who_and_when() -> None:  # CO-27
    data = json.dumps({"a.py": {"sha256": ONE.upper(), "approved_at": "2030-01-01T00:00:00Z", "approved_by": "ann"}}).encode()

    allowlist = parse_allowlist(data)

    assert Allowlist({"a.py": Approval(ONE, "2030-01-01T00:00:00Z", "ann")}) == allowlist


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.py", b"one", None),
        ("a.py", b"two", "hash_mismatch"),
        ("b.py", b"one", "not_in_allowlist"),
        ("A.py", b"one", "not_in_allowlist"),
        ("a.py", None, "file_unreadable"),
        ("b.py", None, "file_unreadable"),
    ],
)
def test_a_file_is_approved_by_name_and_content(name: str, data: bytes | None, expected: str | None) -> None:  # CO-27
    allowlist = approve(Allowlist({}), "a.py", b"one", at="now", by="ann")

    assert expected == objection(allowlist, name, data)


def test_approving_again_replaces_what_was_approved() -> None:
    before = approve(Allowlist({}), "a.py", b"one", at="1", by="ann")

    after = approve(before, "a.py", b"two", at="2", by="bob")

    assert Approval(TWO, "2", "bob") == after.files["a.py"]
    assert Approval(ONE, "1", "ann") == before.files["a.py"]


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"{",
        json.dumps({"a.py": ONE}).encode(),
        json.dumps({"a.py": {"sha256": "x"}}).encode(),
        json.dumps({"a.py": {}}).encode(),
        json.dumps({"a.py": {"sha256": ONE, "approved_at": 1}}).encode(),
        json.dumps({"a.py": {"sha256": ONE, "approved_by": None}}).encode(),
        f'{{"a.py": {{"sha256": "{ONE}", "sha256": "{TWO}"}}}}'.encode(),
    ],
)
def test_a_broken_allowlist_approves_nothing_and_says_so(data: bytes) -> None:  # CO-27
    allowlist = parse_allowlist(data)

    assert {} == allowlist.files
    assert allowlist.problem.startswith("The list of approved files cannot be used: ")
    assert "not_in_allowlist" == objection(allowlist, "a.py", b"one")


def test_approving_a_file_does_not_hide_what_is_wrong_with_the_list() -> None:
    broken = parse_allowlist(b"{")

    assert broken.problem == approve(broken, "a.py", b"one", at="now", by="ann").problem


def test_who_and_when_may_be_missing() -> None:
    assert Approval(ONE, "", "") == parse_allowlist(json.dumps({"a.py": {"sha256": ONE}}).encode()).files["a.py"]


def test_an_allowlist_survives_being_written() -> None:
    allowlist = approve(Allowlist({}), "a.py", b"one", at="now", by="änn")

    assert allowlist == parse_allowlist(allowlist_bytes(allowlist))
    assert Allowlist({}) == parse_allowlist(None)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_make_either_reader_raise(data: bytes) -> None:
    manifest, allowlist = parse_manifest(data), parse_allowlist(data)

    assert not manifest.problem or not manifest.skills
    assert not allowlist.problem or not allowlist.files

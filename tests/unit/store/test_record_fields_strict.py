"""JSON that leaves no room for two readings."""

from __future__ import annotations

import pytest

from metier.store.record_fields import load_strict


def test_a_document_is_read_as_json_reads_it() -> None:
    assert {"a": [1, {"b": None}]} == load_strict(b'{"a": [1, {"b": null}]}')


@pytest.mark.parametrize("data", [b'{"a": 1, "a": 1}', b'{"x": {"a": 1, "b": 2, "a": 3}}'])
def test_a_key_that_stands_twice_is_an_error_in_the_readers_own_words(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^a key is written twice$"):
        load_strict(data)
    with pytest.raises(ValueError, match=r"^said twice$"):
        load_strict(data, "said twice")


@pytest.mark.parametrize("data", [b"", b"{", b"\xff{}", b"[1,]"])
def test_what_is_no_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        load_strict(data)

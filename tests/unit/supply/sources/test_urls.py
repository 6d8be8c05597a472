from __future__ import annotations

import pytest

from metier.errors import SourceError
from metier.supply.sources.addresses import (
    escape_step,
    join_url,
    parse_url,
    url_below,
    url_for_message,
)


@pytest.mark.parametrize(
    ("text", "whole", "place"),
    [
        ("https://Example.com", "https://example.com/", "example.com"),
        ("https://a.b:443/x", "https://a.b/x", "a.b"),
        ("http://h:8080/p?q=1#f", "http://h:8080/p?q=1", "h:8080"),
        ("HTTPS://h/a b/ü", "https://h/a%20b/%C3%BC", "h"),
        ("https://[2606:4700::1]:8/x", "https://[2606:4700::1]:8/x", "[2606:4700::1]:8"),
        ("https://h?x", "https://h/?x", "h"),
        ("https://h/a\r\nHost: evil", "https://h/a%0D%0AHost:%20evil", "h"),
    ],
)
def test_an_address_is_taken_apart_and_put_together(text: str, whole: str, place: str) -> None:
    found = parse_url(text)

    assert (whole, place) == (str(found), found.place)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "h",
        "ftp://h/",
        "file:///etc/passwd",
        "https://",
        "https:///x",
        "https://user@h/",
        "https://u:p@h/",
        "https://h:0/",
        "https://h:99999/",
        "https://h:x/",
        "https://h\\@evil/",
        "https://ü.de/",
        "https://h\r\nx/",
        "https://[::1/",
        "javascript:x",
        "https://-h/",
        "https://h/" + "a" * 5000,
        "http\u017f://h/",
    ],
)
def test_what_is_not_plainly_an_address_is_an_error(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_url(text)

    assert "malformed" == caught.value.code


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("c", "https://h/a/c"),
        ("/c", "https://h/c"),
        ("./c", "https://h/a/c"),
        ("../c", "https://h/c"),
        ("../../../c", "https://h/c"),
        ("?q", "https://h/a/b?q"),
        ("", "https://h/a/b?x=1"),
        ("//o/c", "https://o/c"),
        ("http://o/c", "http://o/c"),
        ("c/d?e#f", "https://h/a/c/d?e"),
        ("..", "https://h/"),
        (".", "https://h/a/"),
        ("c/../d", "https://h/a/d"),
    ],
)
def test_a_reference_means_an_address_on_its_page(reference: str, expected: str) -> None:
    assert expected == str(join_url(parse_url("https://h/a/b?x=1"), reference))


@pytest.mark.parametrize("reference", ["file:///etc/passwd", "gopher://h/", "//u@h/", "https://"])
def test_a_reference_to_another_kind_of_place_is_an_error(reference: str) -> None:
    with pytest.raises(SourceError) as caught:
        join_url(parse_url("https://h/"), reference)

    assert "malformed" == caught.value.code


def test_a_step_never_becomes_two_or_a_query() -> None:
    assert "https://h/a/b%2F..%3Fx%26y%23%25" == str(
        url_below(parse_url("https://h/a?q"), "b/..?x&y#%")
    )
    assert "caf%C3%A9%20%2B" == escape_step("café +")


def test_what_lets_somebody_in_is_not_part_of_a_message() -> None:
    with pytest.raises(SourceError) as caught:
        parse_url("https://ada:secret@h/x?token=secret")

    assert "secret" not in caught.value.message
    assert "https://h/x" == url_for_message("https://ada:secret@h/x?token=secret")
    assert "https://h/x" == parse_url("https://h/x?signature=secret").shown

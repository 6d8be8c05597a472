"""What a script printed, without the values that it was lent, in whatever usual form it printed them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given, strategies as st

from metier.secrets.mask import mask

VALUE = "ab\"c'd/é+ \\ñ\t-hunter2"
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": json.dumps,
    "json with letters": lambda value: json.dumps({"key": value}, ensure_ascii=False),
    "json twice": lambda value: json.dumps({"url": f"https://x/{value}"}).replace("/", "\\/"),
    "repr": repr,
    "repr inside a map": lambda value: repr({"key": value}),
    "ascii": ascii,
    "bytes": lambda value: repr(value.encode()),
    "quoted": quote,
    "quoted whole": lambda value: quote(value, safe=""),
    "quoted in small letters": lambda value: quote(value, safe="").replace("%C3%A9", "%c3%a9").replace("%C3%B1", "%c3%b1").replace("%2F", "%2f")
    .replace("%5C", "%5c").replace("%2B", "%2b"),
    "a form": lambda value: urlencode({"key": value}),
    "a form's value": quote_plus,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 for addresses": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "base64 inside": lambda value: base64.b64encode(f"user:{value}:more".encode()).decode(),
    "base64 inside, moved": lambda value: base64.b64encode(f"me:{value}".encode()).decode(),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_masked_in_every_usual_form(form: str) -> None:
    printed = FORMS[form](VALUE)

    shown = mask(f"before {printed} after", {"STORM_KEY": VALUE})

    assert "[STORM_KEY]" in shown
    assert printed not in shown
    assert "hunter2" not in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")


def test_the_longer_of_two_values_goes_first() -> None:
    assert "[LONG] [SHORT]" == mask(
        "secret-and-more secret", {"SHORT": "secret", "LONG": "secret-and-more"}
    )


def test_a_value_that_is_in_every_text_is_not_masked() -> None:
    assert "a 1 on" == mask("a 1 on", {"A": "1", "B": "on", "C": ""})


@given(st.text(min_size=1, max_size=60), st.text(max_size=200))
def test_no_value_and_no_text_can_break_it(value: str, text: str) -> None:
    shown = mask(text + value, {"K_KEY": value})

    assert isinstance(shown, str)
    assert len(value) < 4 or value in "[K_KEY]" or value not in shown.replace("[K_KEY]", "\0")

"""A header that two readers could read in two ways is refused before either reads it."""

from __future__ import annotations

import pytest

from metier.mcp import http_access
from metier.mcp.http_access import RequestHead

TOKEN = "a-token-of-thirty-two-characters"
GATE = http_access.gate_of("127.0.0.1", 7331, TOKEN)
RIGHT = {
    "host": "127.0.0.1:7331", "authorization": f"Bearer {TOKEN}", "content-type": "application/json", "content-length": "2",
    "origin": "http://127.0.0.1:7331",
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("first", [False, True])
def test_a_second_header_of_a_kind_that_is_judged_is_refused_though_both_are_right(
    name: str, first: bool
) -> None:
    headers = tuple(RIGHT.items())
    twice = ((name, RIGHT[name]), *headers) if first else (*headers, (name, RIGHT[name]))

    once, refused = (
        http_access.request_refusal(RequestHead("POST", "/mcp", one), GATE)
        for one in (headers, twice)
    )

    assert once is None
    assert refused is not None
    assert (400, f"there is more than one header {name}") == (refused.status, refused.detail)

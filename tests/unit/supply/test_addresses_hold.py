"""An address that means something only on this machine's own network is none of the open internet's, whatever its number."""

from __future__ import annotations

import pytest

from metier.supply.sources.addresses import is_public


@pytest.mark.parametrize("address", ["2606:4700:4700::1111", "2a00:1450:4001:82b::200e"])
def test_a_zone_makes_an_address_a_local_one(address: str) -> None:
    assert (True, False, False) == tuple(
        is_public(text) for text in (address, f"{address}%eth0", f"{address}%1")
    )

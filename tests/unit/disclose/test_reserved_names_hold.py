"""A name that a door keeps to itself is kept there with and without the name of its plugin, however it is spelt."""

from __future__ import annotations

import pytest
from fakes.cards import card

from metier.disclose import offer
from metier.disclose.offer import is_reserved, reserved_keys
from metier.settings.model import ServeSettings


@pytest.mark.parametrize(
    ("name", "plugin", "expected"),
    [
        ("payroll", "", True),
        ("Pay-Roll", "", False),
        ("PAYROLL", "", True),
        ("kit:payroll", "kit", True),
        ("kit:other", "kit", False),
        ("kit:payroll", "", False),  # a skill of no plugin may call itself so
        ("other:payroll", "kit", False),
    ],
)
@pytest.mark.parametrize("door", ["tools", "stdio", "http"])
def test_a_plugin_s_skill_is_blocked_by_its_own_name_too(
    door: offer.Door, name: str, plugin: str, expected: bool
) -> None:
    keys = reserved_keys(door, ServeSettings(blocked=("payroll",)))

    assert expected == is_reserved(card(name, plugin=plugin), keys)

"""Settings below a policy: for every key, whatever the layers say, never wider than any of them."""

from __future__ import annotations

import tomllib
from itertools import product
from typing import Any

import pytest

from metier.errors import ConfigError
from metier.settings.ceiling import _KEYS, NO_HOST, TABLES, lower, read_ceilings
from metier.settings.merge import ConfigSource, Settings, merge
from metier.settings.model import RunSettings, SupplySettings

VALUES: dict[str, tuple[Any, ...]] = {
    "network": ("none", "never", "trusted", "declared"),
    "dependencies": ("never", "ask", "allow"),
    "hosts": (("a", "b"), ("b",), ("c",)),
}
"""What a key may be, narrowest first where it has an order."""
LISTS = ((), ("/a",), ("/a", "/b"), ("/a/c",), ("/b/../a",))


def values_of(table: str, key: str) -> tuple[Any, ...]:
    default = getattr(getattr(Settings(), table), key)
    kinds = {bool: (False, True), int: (1, 7, 10_000_000_000), tuple: LISTS}
    return VALUES.get(key) or kinds[type(default)]


def width(key: str, value: Any) -> Any:
    """Give what two values are compared by: a number, or the set of what is allowed."""
    if key in {"network", "dependencies"}:
        return VALUES[key].index(value)
    return frozenset(value) - {NO_HOST} if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("table", "key"), [(table, key) for table in TABLES for key in _KEYS[table]]
)
def test_no_key_is_ever_wider_than_a_policy_or_than_what_it_was(table: str, key: str) -> None:
    for ours, one, two in product(values_of(table, key), repeat=3):
        before = Settings()._replace(**{table: getattr(Settings(), table)._replace(**{key: ours})})
        after = lower(lower(before, {table: {key: one}}), {table: {key: two}})
        found = getattr(getattr(after, table), key)

        assert width(key, found) <= width(key, ours), (ours, one, two, found)
        if key not in {"reads", "writes"}:  # which keep folders below the allowed ones
            assert width(key, found) <= width(key, one), (ours, one, two, found)
            assert width(key, found) <= width(key, two), (ours, one, two, found)
        if key == "hosts":
            assert found  # an empty list would mean every host


def test_folders_below_the_allowed_ones_are_kept_and_none_climbs_out() -> None:
    ours = Settings(run=RunSettings(reads=("/a", "/a/b", "/ab", "/a/../c")))

    assert ("/a", "/a/b") == lower(ours, {"run": {"reads": ("/a",)}}).run.reads


def test_without_hosts_of_ones_own_those_of_the_policy_count() -> None:
    ours = Settings(supply=SupplySettings(hosts=()))

    assert ("a",) == lower(ours, {"supply": {"hosts": ("a",)}}).supply.hosts
    assert (NO_HOST,) == lower(ours, {"supply": {"hosts": ()}}).supply.hosts


@pytest.mark.parametrize(
    "text",
    [
        "run = 1",
        "[run]\nnetwork = 'all'",
        "[run]\nhook_ms = 1",
        "[mcp]\nrun = 'no'",
        "[run]\nseconds = 0",
    ],
)
def test_what_no_policy_may_say_is_an_error(text: str) -> None:
    values = tomllib.loads(text)
    (table,) = values

    with pytest.raises(ConfigError):
        read_ceilings(ConfigSource("organisation", "/p", text, values), table, values[table])


def test_a_user_may_say_that_no_script_has_the_network() -> None:
    source = ConfigSource("user", "/u", "", {"run": {"network": "none"}})

    assert "none" == merge([source]).run.network

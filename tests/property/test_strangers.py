"""What sites, registries and other tools write: JSON of any shape is read, or refused with an error of ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings, strategies as some

from metier.errors import MetierError
from metier.settings.model import SupplySettings
from metier.supply import local_state, lock
from metier.supply.model import Item, Lock
from metier.supply.records import apm, clawhub, gh, hermes, npx
from metier.supply.sources import addresses, marketplace, registries

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = (
    "skills name type url digest files description skill owner handle latestVersion version moderation isMalwareBlocked tags latest slug results "
    "items apiBase registry plugins source path repo sha ref metadata pluginRoot renames strict installed lockfile_version dependencies repo_url "
    "host virtual_path deployed_files deployed_file_hashes resolved_ref resolved_commit sourceType sourceUrl skillPath computedHash ownerHandle "
    "installedAt identifier install_path content_hash revisions pending forgotten lock number verdict targets kind base commit"
)
KEYS = WORDS.split()
TEXTS = [
    "sha256:" + "0" * 64,
    "../x",
    "SKILL.md",
    "https://x/y",
    "github",
    "git",
    "url",
    "1",
    "http\u017f://x/",
    "//a@b/",
    "/x\0",
    "\ud800",
]
SCALARS = (
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats()
    | some.text(max_size=20)
    | some.sampled_from([*TEXTS, 1, 2, 3, 10**30])
)
VALUES = some.recursive(
    SCALARS,
    lambda inner: (
        some.lists(inner, max_size=4)
        | some.dictionaries(some.sampled_from(KEYS) | some.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=25,
)
VERSIONED = some.fixed_dictionaries(
    {
        "version": some.sampled_from([1, 2, 3, "1"]),
        "lockfile_version": some.sampled_from(["1", "2"]),
        "skills": VALUES,
        "installed": VALUES,
        "dependencies": VALUES,
        "plugins": VALUES,
        "latestVersion": VALUES,
        "results": VALUES,
    }
)
NOW = "2026-01-01T00:00:00Z"


def market(data: bytes) -> tuple[object, ...]:
    items = [
        Item(place, len(data), "file", place) for place in (*marketplace.MARKETS[:1], "plugin.json")
    ]
    found = marketplace.marketplace_in(items, lambda wanted: {item.path: data for item in wanted})
    return (found.owners(), found.problems, found.leading_to(["a:b"])) if found is not None else ()


def carried(
    read: Callable[[bytes], Any], *writers: Callable[[Lock, bytes, str], bytes]
) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        read(data)
        for write in writers:
            read(write(Lock(), data, NOW))

    return run


READERS: list[Callable[[bytes], Any]] = [
    lambda data: registries.read_offers(data, registries.NEW_INDEX_PATH, SupplySettings()),
    lambda data: registries.read_offers(data, registries.OLD_INDEX_PATH, SupplySettings()),
    lambda data: registries.api_of(addresses.parse_url("https://h/a"), data),
    lambda data: registries.read_skill(data, registries.registry_address("https://h/pdf"), ""),
    registries.read_results,
    market,
    lock.read_lock,
    local_state.read_state,
    carried(npx.read, npx.write),
    carried(npx.read, npx.write_user),
    carried(gh.read, gh.write_user),
    carried(hermes.read, hermes.write),
    carried(clawhub.read, clawhub.write),
    carried(apm.read, apm.write),
    clawhub.origin_version,
]


@settings(max_examples=600)
@given(VALUES | VERSIONED, some.sampled_from(READERS))
def test_json_of_any_shape_is_read_or_refused(value: object, read: Callable[[bytes], Any]) -> None:
    assert is_read(read, json.dumps(value).encode()) in {True, False}


@settings(max_examples=300)
@given(
    some.binary(max_size=200) | some.text().map(lambda text: text.encode("utf-8", "surrogatepass")),
    some.sampled_from(READERS),
)
def test_bytes_of_any_kind_are_read_or_refused(data: bytes, read: Callable[[bytes], Any]) -> None:
    assert is_read(read, data) in {True, False}


def test_what_is_nested_or_numbered_beyond_reason_is_refused() -> None:
    hostile = [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"version":1,"skills":' + b"[" * 100_000,
        b'{"version":' + b"1" * 10_000 + b"}",
        b"a: " * 10_000,
        b"{a: " * 10_000,
        b"? " * 10_000,
        b"<<<<<<< a\n" * 1000,
        b"<<<<<<< a\n=======\n>>>>>>> b\n" * 1000,
    ]
    kept = {market, clawhub.origin_version}  # for these, what cannot be read says nothing

    read = [
        data[:20]
        for data in hostile
        for reader in READERS
        if reader not in kept and is_read(reader, data)
    ]

    assert [] == read


def is_read(read: Callable[[bytes], Any], data: bytes) -> bool:
    """Tell whether something was read or refused; anything else is a fault."""
    try:
        read(data)
    except MetierError:
        return False
    return True

"""What one run is granted, row by row: wishes as skills write them, and what remains of them."""

from __future__ import annotations

from posixpath import normpath
from typing import Any

import pytest

from metier.run.model import DeclaredPermissions, Lent, Mount, RunLimits
from metier.run.plan import (
    MAX_PERMISSIONS,
    bounds_of,
    grant,
    permissions_of,
    read_permissions,
    seen_at,
)
from metier.settings.model import RunSettings

PLAIN, ASKING = Lent(), DeclaredPermissions(network=True)
FOLDERS = {"/docs", "/docs/work", "/docs/out", "/out", "/home/me/pages", "/zone"}


def place(path: str) -> tuple[str, str]:
    """Find paths on a made-up machine, on which `~` is /home/me, one is in the root folder, and a `link` leads to `out` beside it."""
    path = path.replace("~", "/home/me").replace("/link", "/out").replace("/etc/localtime", "/zone")
    real = normpath("/" + path.lstrip("/"))
    return (real, "") if real in FOLDERS else ("", "it is not there")


@pytest.mark.parametrize(
    ("fields", "wishes"),
    [
        ({}, DeclaredPermissions()),
        ({"permissions": "network"}, DeclaredPermissions(network=True)),
        (
            {"permissions": [" network ", "read:~/a", "write: /b"]},
            DeclaredPermissions(True, ("~/a",), ("/b",)),
        ),
        ({"metadata": {"permissions": ["network"]}}, DeclaredPermissions(network=True)),
        (
            {"metadata": {"metier": {"permissions": ["read:/a"]}}},
            DeclaredPermissions(reads=("/a",)),
        ),
        (
            {"metadata": {"metier": {"permissions": []}, "permissions": ["network"]}},
            DeclaredPermissions(),
        ),
        ({"permissions": [], "metadata": {"permissions": ["network"]}}, DeclaredPermissions()),
        (
            {"permissions": ["NETWORK", "read:", "write", "exec:/bin/sh"]},
            DeclaredPermissions(unknown=("NETWORK", "read:", "write", "exec:/bin/sh")),
        ),
        (
            {"permissions": [None, 7, ["network"], {"network": True}]},
            DeclaredPermissions(unknown=("None", "7", "['network']", "{'network': True}")),
        ),
        ({"permissions": {"network": True}}, DeclaredPermissions()),
        ({"permissions": 7}, DeclaredPermissions()),
        ({"metadata": "network"}, DeclaredPermissions()),
        ({"metadata": {"metier": "network"}}, DeclaredPermissions()),
    ],
)
def test_wishes_are_read_wherever_they_stand_and_what_means_nothing_is_kept_as_that(
    fields: dict[str, Any], wishes: DeclaredPermissions
) -> None:
    assert wishes == permissions_of(fields)


def test_only_so_many_wishes_are_read_and_long_ones_are_cut() -> None:
    found = read_permissions(["x" * 1000] * 100)

    assert (MAX_PERMISSIONS, 80) == (len(found.unknown), len(found.unknown[0]))


NEVER, TRUSTED, DECLARED = (RunSettings(network=word) for word in ("never", "trusted", "declared"))


@pytest.mark.parametrize(
    ("wishes", "lent", "policy", "level", "granted"),
    [
        (DeclaredPermissions(), PLAIN, DECLARED, "builtin", False),
        (DeclaredPermissions(), Lent(network=True), DECLARED, "builtin", False),
        (ASKING, PLAIN, NEVER, "builtin", False),
        (ASKING, Lent(network=True), NEVER, "community", True),
        (ASKING, PLAIN, TRUSTED, "builtin", True),
        (ASKING, PLAIN, TRUSTED, "trusted", True),
        (ASKING, PLAIN, TRUSTED, "verified", True),
        (ASKING, PLAIN, TRUSTED, "community", False),
        (ASKING, Lent(network=True), TRUSTED, "community", True),
        (ASKING, PLAIN, DECLARED, "community", True),
    ],
)
def test_the_network_needs_the_declaration_and_the_user_both(
    wishes: DeclaredPermissions, lent: Lent, policy: RunSettings, level: Any, granted: bool
) -> None:
    given = grant(wishes, lent, policy, level, place)

    assert granted is given.network


@pytest.mark.parametrize(
    ("wishes", "lent", "policy", "why"),
    [
        (
            DeclaredPermissions(),
            Lent(network=True),
            NEVER,
            (
                "network access. This skill doesn't declare that it needs it: add 'permissions: "
                "[network]' under metadata.metier in its SKILL.md"
            ),
        ),
        (
            ASKING,
            PLAIN,
            NEVER,
            "which this skill declares (run.network is 'never'). Allow it for one run with --network",
        ),
        (
            ASKING,
            PLAIN,
            TRUSTED,
            "its trust level is community). Allow it for one run with --network",
        ),
        (
            DeclaredPermissions(unknown=("banana",)),
            PLAIN,
            NEVER,
            "'banana' is no permission that metier knows",
        ),
        (
            DeclaredPermissions(reads=("/docs",)),
            PLAIN,
            NEVER,
            "/docs to read: the user's configuration does not allow it",
        ),
        (
            DeclaredPermissions(writes=("/docs",)),
            PLAIN,
            RunSettings(reads=("/docs",)),
            "/docs to change: the user's configuration does not allow it",
        ),
        (
            DeclaredPermissions(reads=("/nowhere",)),
            PLAIN,
            RunSettings(reads=("/nowhere",)),
            "/nowhere to read: it is not there",
        ),
    ],
)
def test_what_is_not_granted_is_said_with_the_reason(
    wishes: DeclaredPermissions, lent: Lent, policy: RunSettings, why: str
) -> None:
    given = grant(wishes, lent, policy, "community", place)

    assert (1, ()) == (len(given.refused), given.mounts)
    assert given.refused[0].endswith(why)


@pytest.mark.parametrize(
    ("wishes", "lent", "policy", "mounts"),
    [
        (DeclaredPermissions(), PLAIN, RunSettings(reads=("/docs",), writes=("/out",)), ()),
        (
            DeclaredPermissions(reads=("/docs",)),
            PLAIN,
            RunSettings(reads=("/docs",)),
            (Mount("/docs", "/docs"),),
        ),
        (
            DeclaredPermissions(reads=("/docs/work",)),
            PLAIN,
            RunSettings(reads=("/docs/",)),
            (Mount("/docs/work", "/docs/work"),),
        ),
        (DeclaredPermissions(reads=("/docs",)), PLAIN, RunSettings(reads=("/docs/work",)), ()),
        (
            DeclaredPermissions(reads=("~/pages",)),
            PLAIN,
            RunSettings(reads=("~/pages",)),
            (Mount("/home/me/pages", "/home/me/pages"),),
        ),
        (
            DeclaredPermissions(writes=("/link",)),
            PLAIN,
            RunSettings(writes=("/out",)),
            (Mount("/out", "/out", writable=True),),
        ),
        (DeclaredPermissions(), Lent(reads=("/docs",)), NEVER, (Mount("/docs", "/docs"),)),
        (
            DeclaredPermissions(),
            Lent(writes=("/out",)),
            NEVER,
            (Mount("/out", "/out", writable=True),),
        ),
        (
            DeclaredPermissions(),
            Lent(writes=("/link",)),
            NEVER,
            (Mount("/out", "/link", writable=True), Mount("/out", "/out", writable=True)),
        ),
        (
            DeclaredPermissions(),
            Lent(reads=("/out",), writes=("/link",)),
            NEVER,
            (Mount("/out", "/link", True), Mount("/out", "/out", True)),
        ),
        (
            DeclaredPermissions(),
            Lent(reads=("/docs", "/docs/link")),
            NEVER,
            (Mount("/docs", "/docs"), Mount("/docs/out", "/docs/out")),
        ),
        (DeclaredPermissions(), Lent(reads=("/etc/localtime",)), NEVER, (Mount("/zone", "/zone"),)),
        (
            DeclaredPermissions(),
            Lent(reads=("docs",), writes=("docs/work",)),
            NEVER,
            (
                Mount("/docs", "/docs"),
                Mount("/docs/work", "/docs/work", True),
                Mount("/docs", "/scratch/docs"),
                Mount("/docs/work", "/scratch/docs/work", True),
            ),
        ),
        (
            DeclaredPermissions(writes=("/out",)),
            Lent(reads=("/out",)),
            RunSettings(writes=("/out",)),
            (Mount("/out", "/out", writable=True),),
        ),
        (
            DeclaredPermissions(writes=("/out",)),
            Lent(reads=("/out",)),
            NEVER,
            (Mount("/out", "/out"),),
        ),
        (
            DeclaredPermissions(reads=("docs",)),
            PLAIN,
            RunSettings(reads=("/docs",)),
            (Mount("/docs", "/docs"),),
        ),
        (
            DeclaredPermissions(),
            Lent(reads=("./docs/",)),
            NEVER,
            (Mount("/docs", "/docs"), Mount("/docs", "/scratch/docs")),
        ),
        (
            DeclaredPermissions(),
            Lent(reads=("docs/../docs",)),
            NEVER,
            (Mount("/docs", "/docs"), Mount("/docs", "/scratch/docs")),
        ),
        (DeclaredPermissions(), Lent(reads=("../docs",)), NEVER, (Mount("/docs", "/docs"),)),
        (
            DeclaredPermissions(),
            Lent(reads=("docs",), writes=("docs",)),
            NEVER,
            (Mount("/docs", "/docs", True), Mount("/docs", "/scratch/docs", True)),
        ),
    ],
)
def test_a_folder_is_lent_by_the_caller_or_by_declaration_and_configuration_together(
    wishes: DeclaredPermissions, lent: Lent, policy: RunSettings, mounts: tuple[Mount, ...]
) -> None:
    given = grant(wishes, lent, policy, "community", place)

    assert mounts == given.mounts


@pytest.mark.parametrize("lent", [Lent(reads=("/nowhere",)), Lent(writes=("/nowhere",))])
def test_what_the_caller_lends_and_what_is_not_there_stands_against_the_run(lent: Lent) -> None:
    given = grant(DeclaredPermissions(), lent, NEVER, "trusted", place)

    assert ((), ()) == (given.refused, given.mounts)
    assert [f"/nowhere to {'change' if lent.writes else 'read'}: it is not there"] == list(
        given.unmet
    )


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("form.pdf", "/scratch/form.pdf"),
        ("./a/../form.pdf", "/scratch/form.pdf"),
        ("a/b", "/scratch/a/b"),
        ("..x", "/scratch/..x"),
        ("/docs", "/docs"),
        ("/docs/./work/", "/docs/work"),
        ("//docs", "/docs"),
        ("~/docs", "/real"),
        ("..", "/real"),
        ("../docs", "/real"),
        ("a/../../docs", "/real"),
        (".", "/real"),
    ],
)
def test_what_the_caller_names_from_where_they_are_a_script_names_alike(
    path: str, seen: str
) -> None:
    assert seen == seen_at(path, "/real")


def test_limits_are_the_user_s_and_only_the_time_is_the_caller_s() -> None:
    policy = RunSettings(
        seconds=9,
        memory_bytes=8,
        processes=7,
        output_bytes=6,
        scratch_bytes=5,
        file_bytes=4,
        lent_bytes=3,
    )

    assert RunLimits(9, 8, 7, 6, 5, 4, 3) == bounds_of(policy, PLAIN)
    assert RunLimits(60, 8, 7, 6, 5, 4, 3) == bounds_of(policy, Lent(seconds=60))

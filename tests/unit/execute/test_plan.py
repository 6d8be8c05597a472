"""What one run is granted, row by row: wishes as skills write them, and what remains of them."""

from __future__ import annotations

from posixpath import normpath
from typing import Any

import pytest

from metier.execute.plan import WORDS, allowance, bounds_of, read_wishes, seen_at, wishes_of
from metier.runs import Bounds, Lent, Mount, Wishes
from metier.settings import Running

PLAIN, ASKING = Lent(), Wishes(network=True)
FOLDERS = {"/docs", "/docs/work", "/docs/out", "/out", "/home/me/pages", "/zone"}


def place(path: str) -> tuple[str, str]:
    """Find paths on a made-up machine, on which `~` is /home/me, one is in the root folder, and a `link` leads to `out` beside it."""
    path = path.replace("~", "/home/me").replace("/link", "/out").replace("/etc/localtime", "/zone")
    real = normpath("/" + path.lstrip("/"))
    return (real, "") if real in FOLDERS else ("", "it is not there")


@pytest.mark.parametrize(
    ("fields", "wishes"),
    [
        ({}, Wishes()),
        ({"permissions": "network"}, Wishes(network=True)),
        ({"permissions": [" network ", "read:~/a", "write: /b"]}, Wishes(True, ("~/a",), ("/b",))),
        ({"metadata": {"permissions": ["network"]}}, Wishes(network=True)),
        ({"metadata": {"metier": {"permissions": ["read:/a"]}}}, Wishes(reads=("/a",))),
        ({"metadata": {"metier": {"permissions": []}, "permissions": ["network"]}}, Wishes()),
        ({"permissions": [], "metadata": {"permissions": ["network"]}}, Wishes()),
        (
            {"permissions": ["NETWORK", "read:", "write", "exec:/bin/sh"]},
            Wishes(unknown=("NETWORK", "read:", "write", "exec:/bin/sh")),
        ),
        (
            {"permissions": [None, 7, ["network"], {"network": True}]},
            Wishes(unknown=("None", "7", "['network']", "{'network': True}")),
        ),
        ({"permissions": {"network": True}}, Wishes()),
        ({"permissions": 7}, Wishes()),
        ({"metadata": "network"}, Wishes()),
        ({"metadata": {"metier": "network"}}, Wishes()),
    ],
)
def test_wishes_are_read_wherever_they_stand_and_what_means_nothing_is_kept_as_that(fields: dict[str, Any], wishes: Wishes) -> None:
    assert wishes == wishes_of(fields)


def test_only_so_many_wishes_are_read_and_long_ones_are_cut() -> None:
    found = read_wishes(["x" * 1000] * 100)

    assert (WORDS, 80) == (len(found.unknown), len(found.unknown[0]))


NEVER, TRUSTED, DECLARED = (Running(network=word) for word in ("never", "trusted", "declared"))


@pytest.mark.parametrize(
    ("wishes", "lent", "policy", "level", "granted"),
    [
        (Wishes(), PLAIN, DECLARED, "builtin", False),
        (Wishes(), Lent(network=True), DECLARED, "builtin", False),
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
    wishes: Wishes, lent: Lent, policy: Running, level: Any, granted: bool
) -> None:  # fmt: skip
    given = allowance(wishes, lent, policy, level, place)

    assert granted is given.network


@pytest.mark.parametrize(
    ("wishes", "lent", "policy", "why"),
    [
        (Wishes(), Lent(network=True), NEVER, "the network: the skill does not declare that it needs it"),
        (ASKING, PLAIN, NEVER, "the setting run.network is 'never', and nobody said yes to it for this run"),
        (ASKING, PLAIN, TRUSTED, "its trust level is community, and nobody said yes to it for this run"),
        (Wishes(unknown=("banana",)), PLAIN, NEVER, "'banana' is no permission that metier knows"),
        (Wishes(reads=("/docs",)), PLAIN, NEVER, "/docs to read: the user's configuration does not allow it"),
        (
            Wishes(writes=("/docs",)),
            PLAIN,
            Running(reads=("/docs",)),
            "/docs to change: the user's configuration does not allow it",
        ),
        (Wishes(reads=("/nowhere",)), PLAIN, Running(reads=("/nowhere",)), "/nowhere to read: it is not there"),
    ],
)
def test_what_is_not_granted_is_said_with_the_reason(wishes: Wishes, lent: Lent, policy: Running, why: str) -> None:
    given = allowance(wishes, lent, policy, "community", place)

    assert (1, ()) == (len(given.refused), given.mounts)
    assert given.refused[0].endswith(why)


@pytest.mark.parametrize(
    ("wishes", "lent", "policy", "mounts"),
    [
        (Wishes(), PLAIN, Running(reads=("/docs",), writes=("/out",)), ()),
        (Wishes(reads=("/docs",)), PLAIN, Running(reads=("/docs",)), (Mount("/docs", "/docs"),)),
        (Wishes(reads=("/docs/work",)), PLAIN, Running(reads=("/docs/",)), (Mount("/docs/work", "/docs/work"),)),
        (Wishes(reads=("/docs",)), PLAIN, Running(reads=("/docs/work",)), ()),
        (Wishes(reads=("~/pages",)), PLAIN, Running(reads=("~/pages",)), (Mount("/home/me/pages", "/home/me/pages"),)),
        (Wishes(writes=("/link",)), PLAIN, Running(writes=("/out",)), (Mount("/out", "/out", writable=True),)),
        (Wishes(), Lent(reads=("/docs",)), NEVER, (Mount("/docs", "/docs"),)),
        (Wishes(), Lent(writes=("/out",)), NEVER, (Mount("/out", "/out", writable=True),)),
        (Wishes(), Lent(writes=("/link",)), NEVER, (Mount("/out", "/link", writable=True), Mount("/out", "/out", writable=True))),
        (Wishes(), Lent(reads=("/out",), writes=("/link",)), NEVER, (Mount("/out", "/link", True), Mount("/out", "/out", True))),
        (Wishes(), Lent(reads=("/docs", "/docs/link")), NEVER, (Mount("/docs", "/docs"), Mount("/docs/out", "/docs/out"))),
        (Wishes(), Lent(reads=("/etc/localtime",)), NEVER, (Mount("/zone", "/zone"),)),
        (
            Wishes(),
            Lent(reads=("docs",), writes=("docs/work",)),
            NEVER,
            (
                Mount("/docs", "/docs"),
                Mount("/docs/work", "/docs/work", True),
                Mount("/docs", "/scratch/docs"),
                Mount("/docs/work", "/scratch/docs/work", True),
            ),
        ),
        (Wishes(writes=("/out",)), Lent(reads=("/out",)), Running(writes=("/out",)), (Mount("/out", "/out", writable=True),)),
        (Wishes(writes=("/out",)), Lent(reads=("/out",)), NEVER, (Mount("/out", "/out"),)),
        (Wishes(reads=("docs",)), PLAIN, Running(reads=("/docs",)), (Mount("/docs", "/docs"),)),
        (Wishes(), Lent(reads=("./docs/",)), NEVER, (Mount("/docs", "/docs"), Mount("/docs", "/scratch/docs"))),
        (Wishes(), Lent(reads=("docs/../docs",)), NEVER, (Mount("/docs", "/docs"), Mount("/docs", "/scratch/docs"))),
        (Wishes(), Lent(reads=("../docs",)), NEVER, (Mount("/docs", "/docs"),)),
        (
            Wishes(),
            Lent(reads=("docs",), writes=("docs",)),
            NEVER,
            (Mount("/docs", "/docs", True), Mount("/docs", "/scratch/docs", True)),
        ),
    ],
)
def test_a_folder_is_lent_by_the_caller_or_by_declaration_and_configuration_together(
    wishes: Wishes, lent: Lent, policy: Running, mounts: tuple[Mount, ...]
) -> None:
    given = allowance(wishes, lent, policy, "community", place)

    assert mounts == given.mounts


@pytest.mark.parametrize("lent", [Lent(reads=("/nowhere",)), Lent(writes=("/nowhere",))])
def test_what_the_caller_lends_and_what_is_not_there_stands_against_the_run(lent: Lent) -> None:
    given = allowance(Wishes(), lent, NEVER, "trusted", place)

    assert ((), ()) == (given.refused, given.mounts)
    assert [f"/nowhere to {'change' if lent.writes else 'read'}: it is not there"] == list(given.unmet)


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("form.pdf", "/scratch/form.pdf"), ("./a/../form.pdf", "/scratch/form.pdf"), ("a/b", "/scratch/a/b"), ("..x", "/scratch/..x"),
        ("/docs", "/docs"), ("/docs/./work/", "/docs/work"), ("//docs", "/docs"), ("~/docs", "/real"), ("..", "/real"), ("../docs", "/real"), ("a/../../docs", "/real"), (".", "/real"),
    ],
)  # fmt: skip
def test_what_the_caller_names_from_where_they_are_a_script_names_alike(path: str, seen: str) -> None:
    assert seen == seen_at(path, "/real")


def test_limits_are_the_user_s_and_only_the_time_is_the_caller_s() -> None:
    policy = Running(seconds=9, memory_bytes=8, processes=7, output_bytes=6, scratch_bytes=5, file_bytes=4)

    assert Bounds(9, 8, 7, 6, 5, 4) == bounds_of(policy, PLAIN)
    assert Bounds(60, 8, 7, 6, 5, 4) == bounds_of(policy, Lent(seconds=60))

"""`metier history`, `diff` and `rollback` of a mirrored skill; one that the lock has is treated as ever."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from doors.command import Answer
from fakes.steward import DIFF, FakeSteward

if TYPE_CHECKING:
    from collections.abc import Callable

    Give = Callable[..., Answer]


# --- history


@pytest.mark.usefixtures("steward")
def test_every_version_is_listed_with_the_one_in_place_marked(here: Give) -> None:
    text, found = here("history", "palette"), json.loads(here("history", "palette", "--json").out)

    name, _gap, head, newest, oldest, *_rest = text.out.splitlines()
    assert (0, "", "palette  plugin:brand-kit") == (text.code, text.err, name)
    assert ["VERSION", "WHEN", "BY", "STATE", "DIGEST", "REASON"] == head.split()
    assert (
        "* v0002 2026-02-03 04:05:06 user published sha256:cdcdcdcdcd edited in place"
        == " ".join(newest.split())
    )
    assert (
        "v0001 2026-02-03 04:05:06 plugin:brand-kit published sha256:ababababab mirrored from brand-kit 1.2.0"
        == " ".join(oldest.split())
    )
    assert ("palette", "v0002", ["v0002", "v0001"]) == (
        found["name"],
        found["current"],
        [row["version"] for row in found["versions"]],
    )


def test_one_version_is_shown_harmless_with_the_names_of_its_files(
    steward: FakeSteward, here: Give
) -> None:
    whole, file = (
        here("history", "palette", "v0001"),
        here("history", "palette", "v0002", "--file", "x.sh"),
    )
    found = json.loads(here("history", "palette", "v0002", "--json").out)

    assert (0, 0) == (whole.code, file.code)
    assert whole.out.startswith(
        "palette v0001  2026-02-03 04:05:06 by plugin:brand-kit\nmirrored from brand-kit 1.2.0\n\nPick a colour.\\x1b[2J\\u202e\n"
    )
    assert whole.out.endswith("files (--file PATH)\n  x.sh\n")
    assert "Pick a colour.\\x1b[2J\\u202e\n" == file.out
    assert (True, "v0002") == (found["current"], found["version"]["version"])
    assert [
        ("version", "palette", "v0001", "", {"user": None}),
        ("version", "palette", "v0002", "x.sh", {"user": None}),
    ] == steward.asked[:2]


def test_a_disabled_skill_says_why_agents_do_not_see_it(steward: FakeSteward, here: Give) -> None:
    steward.skill = steward.skill._replace(status="disabled", why="plugin_disabled:brand-kit")

    assert (
        "agents do not see it: its plugin brand-kit is disabled\n" in here("history", "palette").out
    )


@pytest.mark.usefixtures("steward")
def test_a_skill_of_the_lock_has_revisions_and_no_versions(here: Give) -> None:
    listed, shown, nobody = (
        here("history", "locked"),
        here("history", "locked", "v0001"),
        here("history", "nobody"),
    )

    assert (0, True) == (listed.code, listed.out.startswith("REV "))
    assert (2, True) == (shown.code, "'locked' has revisions" in shown.err)
    assert (1, True) == (nobody.code, "'nobody' is not in the lock" in nobody.err)


# --- diff


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ((), ("base", "")),
        (("--against", "v0001"), ("v0001", "")),
        (("--against", "v0001..v0002"), ("v0001", "v0002")),
    ],
)
def test_versions_are_compared_with_the_copy_or_with_each_other(
    more: tuple[str, ...], asked: tuple[str, str], steward: FakeSteward, here: Give
) -> None:
    steward.edits = DIFF

    text, found = (
        here("diff", "palette", *more),
        json.loads(here("diff", "palette", *more, "--json").out),
    )

    assert (0, DIFF, "") == text
    assert {"name": "palette", "diff": DIFF} == found
    assert ("compare", "palette", *asked, {"user": None}) == steward.asked[0]


@pytest.mark.usefixtures("steward")
def test_theirs_is_what_waits_to_be_reviewed(here: Give) -> None:
    assert (0, DIFF, "") == here("diff", "palette", "--against", "theirs")


@pytest.mark.parametrize("against", ["..", "v0001..", "..v0002"])
def test_half_a_pair_of_versions_is_nothing_to_compare_with(
    against: str, steward: FakeSteward, here: Give
) -> None:
    answer = here("diff", "palette", "--against", against)

    assert (2, True, []) == (answer.code, "is nothing to compare with" in answer.err, steward.asked)


def test_a_skill_of_the_lock_is_compared_as_ever(steward: FakeSteward, here: Give) -> None:
    answer = here("diff", "locked", "--against", "v0001")

    assert (0, [("diff", "locked", "v0001", {"user": None})]) == (answer.code, steward.asked)


# --- rollback


def test_a_version_is_put_in_place_again_and_the_way_back_is_named(
    steward: FakeSteward, here: Give
) -> None:
    text, found = (
        here("rollback", "palette", "v0001"),
        json.loads(here("rollback", "palette", "v0001", "--json").out),
    )

    assert (0, "palette is at v0001 now\nundo it with: metier rollback palette v0002\n", "") == text
    assert "v0001" == found["current"]
    assert [("make_current", "palette", "v0001", {"user": None})] * 2 == steward.asked


@pytest.mark.parametrize(
    ("edits", "to", "back"), [("", "v0001", "v0002"), (DIFF, "v0002", "v0003")]
)
def test_without_a_version_edits_are_undone_first_and_then_the_version_before_comes(
    edits: str, to: str, back: str, steward: FakeSteward, here: Give
) -> None:
    steward.edits = edits

    answer = here("rollback", "palette")

    assert (
        0,
        f"palette is at {to} now\nundo it with: metier rollback palette {back}\n",
        "",
    ) == answer


def test_where_there_is_no_version_before_nothing_is_done(steward: FakeSteward, here: Give) -> None:
    steward.skill = steward.skill._replace(current="v0001")

    answer = here("rollback", "palette")

    assert (1, True) == (answer.code, "there is no version of 'palette' before v0001" in answer.err)
    assert ["compare"] == [one[0] for one in steward.asked]

"""The one table, cell by cell, and how far each layer may change it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from metier.model import Action, Level, Phase, Trust
from metier.settings.merge import ConfigLayer
from metier.trust.model import LEVELS
from metier.trust.policy import (
    ACTIONS,
    DEFAULT_TABLE,
    FLOOR_TABLE,
    PHASES,
    PRESETS,
    VERDICTS,
    PolicyOverride,
    TrustPolicy,
    stricter,
    tighten,
)

if TYPE_CHECKING:
    from metier.trust.policy import Preset

EVERY_CELL: list[tuple[Trust, Phase, Level, Action]] = [
    ("builtin", "install", "safe", "allow"),  # HE-35
    ("builtin", "install", "caution", "allow"),
    ("builtin", "install", "dangerous", "allow"),
    ("builtin", "load", "safe", "allow"),
    ("builtin", "load", "caution", "allow"),
    ("builtin", "load", "dangerous", "allow"),
    ("builtin", "run", "safe", "allow"),
    ("builtin", "run", "caution", "allow"),
    ("builtin", "run", "dangerous", "allow"),
    ("own", "install", "safe", "allow"),
    ("own", "install", "caution", "allow"),
    ("own", "install", "dangerous", "block"),  # MT-5
    ("own", "load", "safe", "allow"),
    ("own", "load", "caution", "allow"),
    ("own", "load", "dangerous", "block"),  # MT-5
    ("own", "run", "safe", "allow"),
    ("own", "run", "caution", "allow"),
    ("own", "run", "dangerous", "block"),  # MT-5
    ("trusted", "install", "safe", "allow"),  # HE-35
    ("trusted", "install", "caution", "allow"),
    ("trusted", "install", "dangerous", "block"),  # MT-5
    ("trusted", "load", "safe", "allow"),
    ("trusted", "load", "caution", "allow"),
    ("trusted", "load", "dangerous", "block"),
    ("trusted", "run", "safe", "allow"),
    ("trusted", "run", "caution", "allow"),
    ("trusted", "run", "dangerous", "block"),
    ("verified", "install", "safe", "allow"),
    ("verified", "install", "caution", "allow"),
    ("verified", "install", "dangerous", "block"),
    ("verified", "load", "safe", "allow"),
    ("verified", "load", "caution", "warn"),
    ("verified", "load", "dangerous", "block"),
    ("verified", "run", "safe", "allow"),
    ("verified", "run", "caution", "ask"),
    ("verified", "run", "dangerous", "block"),
    ("community", "install", "safe", "allow"),  # HE-35
    ("community", "install", "caution", "block"),  # MT-3 and MT-4
    ("community", "install", "dangerous", "block"),
    ("community", "load", "safe", "allow"),
    ("community", "load", "caution", "warn"),  # MT-3, HE-3
    ("community", "load", "dangerous", "block"),
    ("community", "run", "safe", "ask"),
    ("community", "run", "caution", "ask"),
    ("community", "run", "dangerous", "block"),
    ("quarantined", "install", "safe", "block"),
    ("quarantined", "install", "caution", "block"),
    ("quarantined", "install", "dangerous", "block"),
    ("quarantined", "load", "safe", "warn"),  # ZE-25: read, marked, with its tools cut
    ("quarantined", "load", "caution", "warn"),
    ("quarantined", "load", "dangerous", "block"),
    ("quarantined", "run", "safe", "block"),  # ZE-22
    ("quarantined", "run", "caution", "block"),
    ("quarantined", "run", "dangerous", "block"),
    ("blocked", "install", "safe", "block"),
    ("blocked", "install", "caution", "block"),
    ("blocked", "install", "dangerous", "block"),
    ("blocked", "load", "safe", "block"),
    ("blocked", "load", "caution", "block"),
    ("blocked", "load", "dangerous", "block"),
    ("blocked", "run", "safe", "block"),
    ("blocked", "run", "caution", "block"),
    ("blocked", "run", "dangerous", "block"),
]


@pytest.mark.parametrize(("level", "phase", "verdict", "expected"), EVERY_CELL)
def test_the_default_table(level: Trust, phase: Phase, verdict: Level, expected: Action) -> None:
    assert expected == DEFAULT_TABLE.action(level, verdict, phase)
    assert expected == TrustPolicy().action(level, verdict, phase)


def test_the_table_has_no_other_cells() -> None:
    assert len(LEVELS) * len(PHASES) * len(VERDICTS) == len(EVERY_CELL) == len(DEFAULT_TABLE.cells)
    assert len(EVERY_CELL) == len({cell[:3] for cell in EVERY_CELL})


def test_less_trust_and_a_worse_verdict_are_never_treated_better() -> None:
    def at(level: Trust, verdict: Level, phase: Phase) -> int:
        return ACTIONS.index(DEFAULT_TABLE.action(level, verdict, phase))

    for phase in PHASES:
        for one, worse in pairwise(LEVELS):
            assert all(at(one, verdict, phase) <= at(worse, verdict, phase) for verdict in VERDICTS)
        for verdict, graver in pairwise(VERDICTS):
            assert all(at(level, verdict, phase) <= at(level, graver, phase) for level in LEVELS)


def test_what_nobody_has_scanned_counts_as_the_worst_it_could_be() -> None:
    found = {level: TrustPolicy().action(level, None, "load") for level in LEVELS}

    assert {"builtin": "allow", **dict.fromkeys(LEVELS[1:], "block")} == found


@pytest.mark.parametrize(
    ("preset", "verdict", "expected"),
    [
        ("strict", "safe", "safe"),
        ("strict", "caution", "dangerous"),
        ("strict", "dangerous", "dangerous"),
        ("balanced", "safe", "safe"),
        ("balanced", "caution", "caution"),
        ("balanced", "dangerous", "dangerous"),
        ("permissive", "safe", "safe"),
        ("permissive", "caution", "safe"),
        ("permissive", "dangerous", "dangerous"),
    ],
)
def test_a_preset_says_what_a_verdict_counts_as_and_never_softens_dangerous(
    preset: Preset, verdict: Level, expected: Level
) -> None:
    policy = TrustPolicy(preset=preset)

    assert expected == policy.counted(verdict)
    assert DEFAULT_TABLE.action("community", expected, "install") == policy.action(
        "community", verdict, "install"
    )
    assert ["strict", "balanced", "permissive"] == list(PRESETS)


def test_the_stricter_of_two_actions() -> None:
    assert ("allow", "warn", "ask", "block") == ACTIONS
    assert "block" == stricter("block", "ask") == stricter("ask", "block")
    assert "ask" == stricter("ask", "warn")
    assert "warn" == stricter("allow", "warn")


LAYERS: list[tuple[ConfigLayer, PolicyOverride, bool]] = [
    ("organisation", PolicyOverride("community", "caution", "load", "block"), True),
    ("organisation", PolicyOverride("community", "caution", "load", "ask"), True),
    ("organisation", PolicyOverride("community", "caution", "load", "warn"), True),
    ("organisation", PolicyOverride("community", "caution", "load", "allow"), False),
    ("organisation", PolicyOverride("trusted", "dangerous", "run", "ask"), False),
    ("organisation", PolicyOverride("builtin", "dangerous", "run", "block"), True),
    ("user", PolicyOverride("community", "caution", "install", "allow"), True),
    ("user", PolicyOverride("community", "safe", "run", "allow"), True),
    ("user", PolicyOverride("trusted", "safe", "load", "block"), True),
    ("user", PolicyOverride("quarantined", "safe", "run", "ask"), True),
    ("user", PolicyOverride("trusted", "dangerous", "load", "ask"), False),  # MT-5
    ("user", PolicyOverride("community", "dangerous", "install", "warn"), False),
    ("user", PolicyOverride("blocked", "safe", "load", "ask"), False),
    ("session", PolicyOverride("community", "safe", "run", "allow"), True),
    ("session", PolicyOverride("verified", "dangerous", "run", "allow"), False),
    ("project", PolicyOverride("community", "safe", "load", "ask"), True),
    ("project", PolicyOverride("community", "caution", "load", "warn"), True),
    ("project", PolicyOverride("community", "caution", "load", "allow"), False),  # MT-17
    ("project", PolicyOverride("community", "safe", "run", "warn"), False),
]


@pytest.mark.parametrize(("layer", "rule", "applies"), LAYERS)
def test_a_layer_changes_a_cell_or_is_told_that_it_may_not(
    layer: ConfigLayer, rule: PolicyOverride, applies: bool
) -> None:
    table, problems = tighten(DEFAULT_TABLE, [rule], layer, path="/a/metier.toml")

    cell = (rule.level, rule.verdict, rule.phase)
    assert (rule.action if applies else DEFAULT_TABLE.action(*cell)) == table.action(*cell)
    assert [] == [
        at
        for at in EVERY_CELL
        if (at[0], at[2], at[1]) != cell and table.action(at[0], at[2], at[1]) != at[3]
    ]
    assert (0 if applies else 1) == len(problems)
    assert all("/a/metier.toml" == problem.path for problem in problems)
    assert all(("WK012" if layer == "project" else "TR001") == problem.code for problem in problems)


def test_a_refused_rule_says_which_and_why() -> None:
    _table, user = tighten(
        DEFAULT_TABLE, [PolicyOverride("trusted", "dangerous", "load", "ask")], "user"
    )
    _table, project = tighten(
        DEFAULT_TABLE, [PolicyOverride("community", "caution", "load", "allow")], "project"
    )

    assert (
        "Ignored: 'ask' for trusted, dangerous, load; nothing softer than 'block' may be set there."
        == user[0].message
    )
    assert (
        "Ignored: 'allow' for community, caution, load; a project may only narrow what you allow."
        == project[0].message
    )


def test_a_project_narrows_the_table_that_its_user_has_set() -> None:
    mine, _problems = tighten(
        DEFAULT_TABLE, [PolicyOverride("community", "safe", "run", "allow")], "user"
    )

    theirs, problems = tighten(
        mine,
        [
            PolicyOverride("community", "safe", "run", "warn"),
            PolicyOverride("community", "safe", "run", "allow"),
        ],
        "project",
    )

    assert "warn" == mine.with_cell("community", "safe", "run", "warn").action(
        "community", "safe", "run"
    )
    assert "allow" == theirs.action(
        "community", "safe", "run"
    )  # the last rule of a file counts, and it is no softer than the user's
    assert () == problems


def test_an_organisation_is_measured_by_the_defaults_and_not_by_a_softer_table() -> None:
    soft = DEFAULT_TABLE.with_cell("community", "safe", "run", "allow")

    table, problems = tighten(
        soft, [PolicyOverride("community", "safe", "run", "warn")], "organisation"
    )

    assert soft == table
    assert ["nothing softer than 'ask' may be set there."] == [
        problem.message.partition("; ")[2] for problem in problems
    ]
    assert [""] == [problem.path for problem in problems]


def test_what_the_organisation_set_is_the_user_s_floor() -> None:
    floor = FLOOR_TABLE.with_cell("community", "caution", "load", "block")

    table, problems = tighten(
        DEFAULT_TABLE, [PolicyOverride("community", "caution", "load", "ask")], "user", floor=floor
    )

    assert "warn" == table.action("community", "caution", "load")
    assert 1 == len(problems)


def test_nobody_softens_dangerous_below_builtin_nor_a_blocked_level() -> None:  # MT-5
    soft = {
        (level, verdict)
        for level in LEVELS
        for verdict in VERDICTS
        for phase in PHASES
        if FLOOR_TABLE.action(level, verdict, phase) != "block"
    }

    assert {("builtin", verdict) for verdict in VERDICTS} | {
        (level, verdict) for level in LEVELS[:-1] for verdict in ("safe", "caution")
    } == soft

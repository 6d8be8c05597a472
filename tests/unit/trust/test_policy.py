"""The one table, cell by cell, and how far each layer may change it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from metier.model import Action, Level, Phase, Trust
from metier.settings import Layer
from metier.trust.levels import LEVELS
from metier.trust.policy import ACTIONS, DEFAULT, FLOOR, PHASES, PRESETS, VERDICTS, Override, Policy, Preset, stricter, tightened

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
    ("trusted", "install", "safe", "allow"),  # HE-35
    ("trusted", "install", "caution", "allow"),
    ("trusted", "install", "dangerous", "block"),  # decision 5
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
    ("community", "install", "caution", "block"),  # decisions 3 and 4
    ("community", "install", "dangerous", "block"),
    ("community", "load", "safe", "allow"),
    ("community", "load", "caution", "warn"),  # decision 3, HE-3
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
    assert expected == DEFAULT.action(level, verdict, phase)
    assert expected == Policy().action(level, verdict, phase)


def test_the_table_has_no_other_cells() -> None:
    assert len(LEVELS) * len(PHASES) * len(VERDICTS) == len(EVERY_CELL) == len(DEFAULT.cells)
    assert len(EVERY_CELL) == len({cell[:3] for cell in EVERY_CELL})


def test_less_trust_and_a_worse_verdict_are_never_treated_better() -> None:
    def at(level: Trust, verdict: Level, phase: Phase) -> int:
        return ACTIONS.index(DEFAULT.action(level, verdict, phase))

    for phase in PHASES:
        for one, worse in pairwise(LEVELS):
            assert all(at(one, verdict, phase) <= at(worse, verdict, phase) for verdict in VERDICTS)
        for verdict, graver in pairwise(VERDICTS):
            assert all(at(level, verdict, phase) <= at(level, graver, phase) for level in LEVELS)


def test_what_nobody_has_scanned_counts_as_the_worst_it_could_be() -> None:
    found = {level: Policy().action(level, None, "load") for level in LEVELS}

    assert {"builtin": "allow", **dict.fromkeys(LEVELS[1:], "block")} == found


@pytest.mark.parametrize(
    ("preset", "verdict", "expected"),
    [
        ("strict", "safe", "safe"), ("strict", "caution", "dangerous"), ("strict", "dangerous", "dangerous"),
        ("balanced", "safe", "safe"), ("balanced", "caution", "caution"), ("balanced", "dangerous", "dangerous"),
        ("permissive", "safe", "safe"), ("permissive", "caution", "safe"), ("permissive", "dangerous", "dangerous"),
    ],
)  # fmt: skip
def test_a_preset_says_what_a_verdict_counts_as_and_never_softens_dangerous(preset: Preset, verdict: Level, expected: Level) -> None:
    policy = Policy(preset=preset)

    assert expected == policy.counted(verdict)
    assert DEFAULT.action("community", expected, "install") == policy.action("community", verdict, "install")
    assert ["strict", "balanced", "permissive"] == list(PRESETS)


def test_the_stricter_of_two_actions() -> None:
    assert ("allow", "warn", "ask", "block") == ACTIONS
    assert "block" == stricter("block", "ask") == stricter("ask", "block")
    assert "ask" == stricter("ask", "warn")
    assert "warn" == stricter("allow", "warn")


LAYERS: list[tuple[Layer, Override, bool]] = [
    ("organisation", Override("community", "caution", "load", "block"), True),
    ("organisation", Override("community", "caution", "load", "ask"), True),
    ("organisation", Override("community", "caution", "load", "warn"), True),
    ("organisation", Override("community", "caution", "load", "allow"), False),
    ("organisation", Override("trusted", "dangerous", "run", "ask"), False),
    ("organisation", Override("builtin", "dangerous", "run", "block"), True),
    ("user", Override("community", "caution", "install", "allow"), True),
    ("user", Override("community", "safe", "run", "allow"), True),
    ("user", Override("trusted", "safe", "load", "block"), True),
    ("user", Override("quarantined", "safe", "run", "ask"), True),
    ("user", Override("trusted", "dangerous", "load", "ask"), False),  # decision 5
    ("user", Override("community", "dangerous", "install", "warn"), False),
    ("user", Override("blocked", "safe", "load", "ask"), False),
    ("session", Override("community", "safe", "run", "allow"), True),
    ("session", Override("verified", "dangerous", "run", "allow"), False),
    ("project", Override("community", "safe", "load", "ask"), True),
    ("project", Override("community", "caution", "load", "warn"), True),
    ("project", Override("community", "caution", "load", "allow"), False),  # decision 17
    ("project", Override("community", "safe", "run", "warn"), False),
]


@pytest.mark.parametrize(("layer", "rule", "applies"), LAYERS)
def test_a_layer_changes_a_cell_or_is_told_that_it_may_not(layer: Layer, rule: Override, applies: bool) -> None:
    table, problems = tightened(DEFAULT, [rule], layer, path="/a/metier.toml")

    cell = (rule.level, rule.verdict, rule.phase)
    assert (rule.action if applies else DEFAULT.action(*cell)) == table.action(*cell)
    assert [] == [at for at in EVERY_CELL if (at[0], at[2], at[1]) != cell and table.action(at[0], at[2], at[1]) != at[3]]
    assert (0 if applies else 1) == len(problems)
    assert all("/a/metier.toml" == problem.path for problem in problems)
    assert all(("WK012" if layer == "project" else "TR001") == problem.code for problem in problems)


def test_a_refused_rule_says_which_and_why() -> None:
    _table, user = tightened(DEFAULT, [Override("trusted", "dangerous", "load", "ask")], "user")
    _table, project = tightened(DEFAULT, [Override("community", "caution", "load", "allow")], "project")

    assert "Ignored: 'ask' for trusted, dangerous, load; nothing softer than 'block' may be set there." == user[0].message
    assert "Ignored: 'allow' for community, caution, load; a project may only narrow what you allow." == project[0].message


def test_a_project_narrows_the_table_that_its_user_has_set() -> None:
    mine, _problems = tightened(DEFAULT, [Override("community", "safe", "run", "allow")], "user")

    theirs, problems = tightened(mine, [Override("community", "safe", "run", "warn"), Override("community", "safe", "run", "allow")], "project")

    assert "warn" == mine.with_cell("community", "safe", "run", "warn").action("community", "safe", "run")
    assert "allow" == theirs.action("community", "safe", "run")  # the last rule of a file counts, and it is no softer than the user's
    assert () == problems


def test_an_organisation_is_measured_by_the_defaults_and_not_by_a_softer_table() -> None:
    soft = DEFAULT.with_cell("community", "safe", "run", "allow")

    table, problems = tightened(soft, [Override("community", "safe", "run", "warn")], "organisation")

    assert soft == table
    assert ["nothing softer than 'ask' may be set there."] == [problem.message.partition("; ")[2] for problem in problems]
    assert [""] == [problem.path for problem in problems]


def test_what_the_organisation_set_is_the_user_s_floor() -> None:
    floor = FLOOR.with_cell("community", "caution", "load", "block")

    table, problems = tightened(DEFAULT, [Override("community", "caution", "load", "ask")], "user", floor=floor)

    assert "warn" == table.action("community", "caution", "load")
    assert 1 == len(problems)


def test_nobody_softens_dangerous_below_builtin_nor_a_blocked_level() -> None:  # decision 5
    soft = {(level, verdict) for level in LEVELS for verdict in VERDICTS for phase in PHASES if FLOOR.action(level, verdict, phase) != "block"}

    assert {("builtin", verdict) for verdict in VERDICTS} | {(level, verdict) for level in LEVELS[:-1] for verdict in ("safe", "caution")} == soft

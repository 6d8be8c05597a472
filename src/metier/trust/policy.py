"""The one table, level, verdict and phase → action, as data; and how far each layer of configuration may change it.

A floor says how soft a cell may become at most. It begins with what nobody may soften, and the organisation's own
rules are added to it, so that a user moves freely above it and a project only upwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.model import Problem
from metier.trust.levels import LEVELS, TRUSTED_SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal

    from metier.model import Action, Level, Phase, Trust
    from metier.settings import Layer
    from metier.trust.waivers import Waiver

    Preset = Literal["strict", "balanced", "permissive"]
else:
    Preset = str

VERDICTS: tuple[Level, ...] = ("safe", "caution", "dangerous")
PHASES: tuple[Phase, ...] = ("install", "load", "run")
ACTIONS: tuple[Action, ...] = ("allow", "warn", "ask", "block")
"""Softest first."""

PRESETS: Mapping[Preset, Mapping[Level, Level]] = {
    "strict": {"safe": "safe", "caution": "dangerous", "dangerous": "dangerous"},
    "balanced": {"safe": "safe", "caution": "caution", "dangerous": "dangerous"},
    "permissive": {"safe": "safe", "caution": "safe", "dangerous": "dangerous"},
}
"""What each verdict counts as, strictest first. Dangerous is never softened."""

# The three words of a cell group are for the verdicts safe, caution and dangerous.
_DEFAULTS: Mapping[Trust, tuple[str, str, str]] = {
    #               install              load                 run
    "builtin":     ("allow allow allow", "allow allow allow", "allow allow allow"),  # HE-35
    "trusted":     ("allow allow block", "allow allow block", "allow allow block"),  # HE-35
    "verified":    ("allow allow block", "allow warn block", "allow ask block"),
    "community":   ("allow block block", "allow warn block", "ask ask block"),  # HE-35, HE-3, decisions 3 and 4
    "quarantined": ("block block block", "warn warn block", "block block block"),  # ZE-22, ZE-25: read, marked, tools cut
    "blocked":     ("block block block", "block block block", "block block block"),
}  # fmt: skip


class Table(NamedTuple):
    """Every action, one per level, phase and verdict, in that order."""

    cells: tuple[Action, ...]

    def action(self, level: Trust, verdict: Level, phase: Phase) -> Action:
        """Look one cell up."""
        return self.cells[_place(level, verdict, phase)]

    def with_cell(self, level: Trust, verdict: Level, phase: Phase, action: Action) -> Table:
        """Give a table in which one cell differs."""
        at = _place(level, verdict, phase)
        return Table((*self.cells[:at], action, *self.cells[at + 1 :]))


class Override(NamedTuple):
    """One rule of configuration: what these levels, verdicts and phases do instead."""

    level: Trust
    verdict: Level
    phase: Phase
    action: Action


def _place(level: Trust, verdict: Level, phase: Phase) -> int:
    return (LEVELS.index(level) * len(PHASES) + PHASES.index(phase)) * len(VERDICTS) + VERDICTS.index(verdict)


def _known(word: str) -> Action:
    return next(action for action in ACTIONS if action == word)


def _floor(level: Trust, verdict: Level) -> Action:
    """Give the softest action of a cell that any configuration may set (decision 5)."""
    return "block" if level == "blocked" or (verdict == "dangerous" and level != "builtin") else "allow"


DEFAULT = Table(tuple(_known(word) for level in LEVELS for group in _DEFAULTS[level] for word in group.split()))
FLOOR = Table(tuple(_floor(level, verdict) for level in LEVELS for _phase in PHASES for verdict in VERDICTS))


class Bounds(NamedTuple):
    """The softest that each setting may still become: what nobody may cross, and what the organisation has set."""

    table: Table = FLOOR
    preset: Preset = "permissive"
    local_default: Trust = "trusted"
    hash_mismatch_level: Trust = "community"
    trusted_sources: tuple[str, ...] | None = None
    """The organisation's list, of which others may only take; `None` when it has none."""


class Policy(NamedTuple):
    """Everything that configuration says about trust."""

    table: Table = DEFAULT
    local_default: Trust = "community"
    """The level of what lies in the user's own folders without a known source (decision 12)."""
    hash_mismatch_level: Trust = "quarantined"
    """The level of what is not the bytes that a lock or a manifest promises (ZE-24)."""
    trusted_sources: tuple[str, ...] = TRUSTED_SOURCES
    preset: Preset = "balanced"
    waivers: tuple[Waiver, ...] = ()
    baseline: str = ""
    """A file of findings that are known and accepted."""
    bounds: Bounds = Bounds()
    problems: tuple[Problem, ...] = ()
    """What a layer asked for and may not have."""

    def action(self, level: Trust, verdict: Level | None, phase: Phase) -> Action:
        """Give what the table says under the preset; a skill that nobody has scanned counts as the worst it could be."""
        return self.table.action(level, self.counted(verdict), phase)

    def counted(self, verdict: Level | None) -> Level:
        """Give what a verdict counts as under the preset."""
        return PRESETS[self.preset][verdict] if verdict else "dangerous"


def stricter(one: Action, other: Action) -> Action:
    """Give the stricter of two actions."""
    return max(one, other, key=ACTIONS.index)


def tightened(table: Table, overrides: Iterable[Override], layer: Layer, *, floor: Table = FLOOR, path: str = "",
              ) -> tuple[Table, tuple[Problem, ...]]:  # fmt: skip
    """Apply a layer's rules: what is too soft for it is reported, and that cell stays as it is.

    The organisation may not be softer than the defaults, a project not softer than the table it meets, and the user
    only not softer than the floor. A session's flags are the user's.
    """
    before, problems = table, []
    for rule in overrides:
        cell = (rule.level, rule.verdict, rule.phase)
        least_allowed = floor.action(*cell)
        if layer in {"organisation", "project"}:
            least_allowed = stricter(least_allowed, (DEFAULT if layer == "organisation" else before).action(*cell))
        if ACTIONS.index(rule.action) < ACTIONS.index(least_allowed):
            problems.append(_refused(rule, layer, least_allowed, path))
        else:
            table = table.with_cell(*cell, rule.action)
    return table, tuple(problems)


def _refused(rule: Override, layer: Layer, allowed: Action, path: str) -> Problem:
    what = f"Ignored: '{rule.action}' for {rule.level}, {rule.verdict}, {rule.phase}"
    if layer == "project":
        return Problem(path, "WK012", f"{what}; a project may only narrow what you allow.")
    return Problem(path, "TR001", f"{what}; nothing softer than '{allowed}' may be set there.")

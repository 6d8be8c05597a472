"""Evidence into a level: every rule that was met adds its weight, once; the strongest passage adds its own.

Weights never subtract, so nothing that is added to a skill makes it look safer. What is shown as an example or quoted
weighs less than what is told. How the weights were learnt, and how well they do, is in docs/explanation/scanning.md.
"""

from __future__ import annotations

from array import array
from binascii import a2b_base64
from functools import cache
from math import log
from typing import TYPE_CHECKING, NamedTuple
from zlib import decompress

from metier.scan import learned
from metier.scan.examine import QUIET
from metier.scan.passages import strongest
from metier.scan.ruleset import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from metier.model import Level
    from metier.scan.examine import Examined, Seen
    from metier.scan.rule import Rule

HIDDEN = frozenset(("encoded", "hidden", "html-comment", "alt"))
WEIGHTY = frozenset(("critical", "high", "medium"))
EXPECTED = {"critical": 0.06, "high": 0.03, "medium": 0.012, "low": 0.002, "info": 0.0}
"""In what share of malicious skills we expect a rule of this severity to be met: an assumption, not a measurement."""
BESIDE = 0.005
"""The same for two categories that meet within a few lines."""
MOST = {"critical": 3.5, "high": 2.2, "medium": 1.3, "low": 0.4, "info": 0.0}
"""What one rule may weigh however rare it is: a grave one is enough for *dangerous*, a medium one for *caution*."""
BESIDE_MOST = 1.0
TOGETHER = {"critical": 99.0, "high": 99.0, "medium": 1.6, "low": 0.8, "info": 0.0, "near": 1.6, "hidden": 1.0, "quiet": 1.4,
            "passage": 1.5, "guard's passage": 0.5}  # fmt: skip
"""What all evidence of one kind may weigh together. Of these, only grave rules reach *dangerous* by themselves."""
UNHEARD = 5e-4
"""In what share of honest skills a rule is met that no labelled one has met."""
PROSE = frozenset(("markdown", "text", "html", "yaml", "toml"))
"""Kinds of files whose passages are weighed."""
NEAR = 400
"""Characters within which two hits are neighbours."""
NEIGHBOURS = 12
ALONE = 0.7
"""How much of a passage counts when no rule was met at all: words alone are slight evidence."""
TOLD = 0.5
"""What a passage must weigh to be told of."""
DOUBT = frozenset((
    "SC163", "SC336", "SC603", "SC605", "SC607", "SC608", "SC609", "SC611", "SC612", "SC616", "SC617", "SC618", "SC619",
    "SC802",
))  # fmt: skip
"""What could not be read, or only in part: such a skill is never called safe."""


class Weighed(NamedTuple):
    """The result: the level, a score from 0 to 100, and the passage that weighed most."""

    level: Level
    score: int
    passage: tuple[str, int, int] | None
    """File, start and end in its normalised text; only when it weighed anything."""


def features(seen: Iterable[Seen], table: Mapping[str, Rule] = RULES) -> set[str]:
    """Give the evidence as names: rules met aloud, rules met quietly (`~`), what was hidden, and what stands beside what."""
    found: set[str] = set()
    places: list[tuple[str, int, str]] = []
    for one in seen:
        rule = table[one.rule]
        if one.place in QUIET:
            found.add(one.rule + "~")
            continue
        found.add(one.rule)
        if one.place in HIDDEN:
            found.add(f"hidden:{rule.category}")
        if one.place != "tree":
            places.append((one.path, one.start, rule.category if rule.severity in WEIGHTY else rule.category + "."))
    found.update(_neighbours(sorted(places)))
    return found


def _neighbours(places: list[tuple[str, int, str]]) -> Iterator[str]:
    """Name the categories that meet within a few lines of one file: reading a key *and* sending it."""
    for at, (path, start, category) in enumerate(places):
        for other, place, second in places[at + 1 : at + 1 + NEIGHBOURS]:
            if other != path or place - start > NEAR:
                break
            if second != category:
                yield "near:{}+{}".format(*sorted((category, second)))


def expected(feature: str, table: Mapping[str, Rule] = RULES) -> float:
    """Give the share of malicious skills that we expect to show a piece of evidence."""
    if feature.startswith("near:"):
        return BESIDE * (0.3 if "." in feature else 1.3)
    if feature.startswith("hidden:"):
        return 0.01
    rule = table.get(feature.rstrip("~"))
    return 0.0 if rule is None else EXPECTED[rule.severity] * (0.3 if feature.endswith("~") else 1)


def weight(feature: str, honest: float, table: Mapping[str, Rule] = RULES) -> float:
    """Turn the share of honest skills that show a piece of evidence into its weight: rare among them is grave."""
    share = expected(feature, table)
    if share <= honest:
        return 0.0
    rule = table.get(feature.rstrip("~"))
    most = BESIDE_MOST if rule is None else MOST[rule.severity]
    return min(0.6 * log(share / honest), most) * (0.6 if feature.endswith("~") else 1)


def weight_of(feature: str, table: Mapping[str, Rule] = RULES) -> float:
    """Give what a piece of evidence weighs: as learnt, or for a rule that nobody has measured, by its severity."""
    return learned.RULES[feature] if feature in learned.RULES else weight(feature, UNHEARD, table)


def _is_grave(one: Seen, table: Mapping[str, Rule]) -> bool:
    """Tell whether a finding is enough to look twice, however often honest skills have it too."""
    return one.place not in QUIET and table[one.rule].severity in {"critical", "high"}


def summed(weights: Mapping[str, float], table: Mapping[str, Rule] = RULES) -> float:
    """Add weights up, group by group: no amount of slight evidence is worth one grave finding."""
    groups: dict[str, float] = {}
    for name, value in weights.items():
        group = _group(name, table)
        groups[group] = groups.get(group, 0.0) + value
    return sum(min(value, TOGETHER[group]) for group, value in groups.items())


def _group(feature: str, table: Mapping[str, Rule]) -> str:
    if feature.startswith(("near:", "hidden:")):
        return feature.partition(":")[0]
    rule = table.get(feature.rstrip("~"))
    return "quiet" if feature.endswith("~") else rule.severity if rule is not None else "info"


def weigh(examined: Examined, table: Mapping[str, Rule] = RULES) -> Weighed:
    """Judge all that was seen."""
    total = summed({name: weight_of(name, table) for name in features(examined.seen, table)}, table)
    best: tuple[int, str, int, int] = (0, "", 0, 0)
    for sheet, cut in zip(examined.sheets, examined.sentences, strict=True):
        if sheet.kind not in PROSE:
            continue  # code has analyzers; its words alone tell an uploader from a thief no better than a guess would
        weighed, start, end = strongest(sheet.text.plain, cut, _table())
        best = max(best, (weighed, sheet.path, start, end))
    most = TOGETHER["guard's passage" if examined.guards else "passage"]
    extra = min(max(0.0, best[0] * learned.PASSAGE_UNIT - learned.PASSAGE_FLOOR), most) * (1 if total else ALONE)
    level = level_of(total + extra)
    if level == "safe" and any(one.rule in DOUBT or _is_grave(one, table) for one in examined.seen):
        level, total, extra = "caution", learned.CAUTION, 0.0
    return Weighed(level, score_of(total + extra), best[1:] if extra >= TOLD else None)


@cache
def _table() -> Sequence[int]:
    """Unpack the weights of passages: signed bytes."""
    return array("b", decompress(a2b_base64(learned.PASSAGES)))


def level_of(total: float) -> Level:
    """Give the level of a sum of weights."""
    return "dangerous" if total >= learned.DANGEROUS else "caution" if total >= learned.CAUTION else "safe"


def score_of(total: float) -> int:
    """Give the sum as 0 to 100: from 70 on dangerous, from 30 on caution."""
    low, high = learned.CAUTION, learned.DANGEROUS
    if total >= high:
        return min(100, 70 + int(30 * (1 - 2 ** -((total - high) / 2))))
    return 30 + int(40 * (total - low) / (high - low)) if total >= low else int(29 * total / low)

"""Evidence into a level. One grave finding about behaviour, told and not quoted, makes *dangerous*;
all else together makes *caution* at most: slight rules by their weights, and the worst passage that
the model has read.

Weights never subtract, so nothing that is added to a skill makes it look safer. What is shown as an
example or quoted weighs less than what is told. How the weights were learnt, and how well they do,
is in docs/explanation/scanning.md.
"""

from __future__ import annotations

from collections import defaultdict
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

from metier.scan import learned
from metier.scan.examine import QUIET_PLACES
from metier.scan.model import GRAVE_SEVERITIES, NOT_BEHAVIOUR, word_set
from metier.scan.ruleset import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from metier.model import Level
    from metier.scan.examine import Examined, Sighting
    from metier.scan.model import ScanRule

    RuleTable = Mapping[str, ScanRule]

SLIGHT_SEVERITIES = word_set("medium low")
BEHAVIOURS = word_set(
    "exfiltration credential execution persistence evasion injection social privilege destructive "
    "mining supply obfuscation network escalation"
)
"""Categories of what a skill does, as opposed to what it is made of."""
SURE = 1.0
"""From here on a passage that the model minds makes *caution* by itself."""
HIDDEN_PLACES = word_set("encoded hidden html-comment alt")
WEIGHTY_SEVERITIES = word_set("critical high medium")
EXPECTED_RATE = {"critical": 0.06, "high": 0.03, "medium": 0.012, "low": 0.002, "info": 0.0}
"""In what share of malicious skills we expect a rule of this severity to be met: an assumption, not
a measurement."""
EXPECTED_PAIR_RATE = 0.005
"""The same for two categories that meet within a few lines."""
MAX_RULE_WEIGHT = {"critical": 3.5, "high": 2.8, "medium": 2.0, "low": 0.4, "info": 0.0}
"""What one rule may weigh however rare it is: a grave one is enough for *dangerous*, a medium one
for *caution*."""
MAX_PAIR_WEIGHT = 1.0
MAX_GROUP_WEIGHT = {
    "critical": 99.0,
    "high": 99.0,
    "medium": 2.4,
    "low": 0.8,
    "info": 0.0,
    "near": 1.6,
    "hidden": 1.0,
    "quiet": 1.4,
}
"""What all evidence of one kind may weigh together."""
UNMET_RULE_RATE = 5e-4
"""In what share of honest skills a rule is met that no labelled one has met."""
NEIGHBOUR_CHARS = 400
"""Characters within which two hits are neighbours."""
MAX_NEIGHBOURS = 12
READING_SPREAD = 1.5
"""How fast a passage of which the model is not sure loses its weight."""
BELOW_SHARE = 0.3
"""How much of it counts at all: beside rules, never alone."""
READING_GAIN = 0.12
"""What a passage adds for each step beyond sure."""
GUARD_SHARE = 0.5
"""How much of a passage counts in a skill that is there to find attacks."""
NEVER_SAFE_RULES = word_set(
    "SC163 SC336 SC603 SC605 SC607 SC608 SC609 SC611 SC612 SC616 SC617 SC618 SC619 SC802 "
    "SC640 SC641 SC642 SC643 SC644"
)
"""What could not be read, or only in part, and keys that anybody can read: such a skill is never
called safe."""


MAX_WITHOUT_REASON = learned.DANGEROUS - 0.01


class ReadPassage(NamedTuple):
    """A passage that the model has read: its place in the file as it lies on disk, and how much the
    model minds it: from 1 on it is sure.
    """

    path: str
    start: int
    end: int
    value: float


class WeighedEvidence(NamedTuple):
    """The result: the level, a score from 0 to 100, the passage that the model minds, and what it
    bears out.
    """

    level: Level
    score: int
    passage: ReadPassage | None
    confirmed: frozenset[Sighting]
    """Slight findings about behaviour that stand in a passage of which the model is sure: together
    they are grave."""


def features(seen: Iterable[Sighting], table: RuleTable = RULES) -> set[str]:
    """Give the evidence as names: rules met aloud, rules met quietly (`~`), what was hidden, and
    what stands beside what.
    """
    found = set()
    places = []
    for one in seen:
        rule = table[one.rule]
        if one.place in QUIET_PLACES:
            found.add(one.rule + "~")
            continue
        found.add(one.rule)
        if one.place in HIDDEN_PLACES:
            found.add(f"hidden:{rule.category}")
        if one.place != "tree":
            slight = "" if rule.severity in WEIGHTY_SEVERITIES else "."
            places.append((one.path, one.start, rule.category + slight))
    found.update(_neighbours(sorted(places)))
    return found


def _neighbours(places: list[tuple[str, int, str]]) -> Iterator[str]:
    """Name the categories that meet within a few lines of one file: reading a key *and* sending
    it.
    """
    for at, (path, start, category) in enumerate(places):
        for other, place, second in places[at + 1 : at + 1 + MAX_NEIGHBOURS]:
            if other != path or place - start > NEIGHBOUR_CHARS:
                break
            if second != category:
                yield "near:{}+{}".format(*sorted((category, second)))


def expected_rate(feature: str, table: RuleTable = RULES) -> float:
    """Give the share of malicious skills that we expect to show a piece of evidence."""
    if feature.startswith("near:"):
        return EXPECTED_PAIR_RATE * (0.3 if "." in feature else 1.3)
    if feature.startswith("hidden:"):
        return 0.01
    rule = table.get(feature.rstrip("~"))
    share = 0.0 if rule is None else EXPECTED_RATE[rule.severity]
    return share * (0.3 if feature.endswith("~") else 1)


def weight(feature: str, honest: float, table: RuleTable = RULES) -> float:
    """Turn the share of honest skills that show a piece of evidence into its weight: rare among
    them is grave.
    """
    share = expected_rate(feature, table)
    if share <= honest:
        return 0.0
    rule = table.get(feature.rstrip("~"))
    most = MAX_PAIR_WEIGHT if rule is None else MAX_RULE_WEIGHT[rule.severity]
    return min(0.6 * log(share / honest), most) * (0.6 if feature.endswith("~") else 1)


def weight_of(feature: str, table: RuleTable = RULES) -> float:
    """Give what a piece of evidence weighs: as learnt, or for a rule that nobody has measured, by
    its severity.
    """
    if feature in learned.RULES:
        return learned.RULES[feature]
    return weight(feature, UNMET_RULE_RATE, table)


def total_weight(weights: Mapping[str, float], table: RuleTable = RULES) -> float:
    """Add weights up, group by group: no amount of slight evidence is worth one grave finding."""
    groups: dict[str, float] = defaultdict(float)
    for name, value in weights.items():
        groups[_group(name, table)] += value
    return sum(min(value, MAX_GROUP_WEIGHT[group]) for group, value in groups.items())


def _group(feature: str, table: RuleTable) -> str:
    if feature.startswith(("near:", "hidden:")):
        return feature.partition(":")[0]
    rule = table.get(feature.rstrip("~"))
    return "quiet" if feature.endswith("~") else rule.severity if rule is not None else "info"


def weigh(
    examined: Examined, table: RuleTable = RULES, read: Sequence[ReadPassage] = ()
) -> WeighedEvidence:
    """Judge all that was seen, and what the model has read."""
    total = total_weight(
        {name: weight_of(name, table) for name in features(examined.seen, table)}, table
    )
    worst = max(read, key=lambda one: one.value, default=None)
    extra = _reading_weight(worst.value, guards=examined.guards) if worst else 0.0
    confirmed = frozenset(_confirmed(examined.seen, read, table))
    if confirmed or any(is_reason(one, table) for one in examined.seen):
        total = max(total, learned.DANGEROUS)
    else:
        # no sum of slight things, and nothing learnt, is a reason that a reader could check
        total = min(total, MAX_WITHOUT_REASON)
        extra = min(extra, MAX_WITHOUT_REASON - total)
        if total + extra < learned.CAUTION and any(map(_wants_a_look, examined.seen)):
            total = learned.CAUTION
            extra = 0.0
    minded = worst if worst and extra and worst.value >= SURE else None
    return WeighedEvidence(level_of(total + extra), score_of(total + extra), minded, confirmed)


def _confirmed(
    seen: Iterable[Sighting], read: Iterable[ReadPassage], table: RuleTable
) -> Iterator[Sighting]:
    """Give the slight findings about behaviour that a sure reading bears out."""
    sure = [one for one in read if one.value >= SURE]
    for one in seen if sure else ():
        rule = table[one.rule]
        if (
            one.place not in QUIET_PLACES
            and rule.severity in SLIGHT_SEVERITIES
            and rule.category in BEHAVIOURS
            and not one.rule.startswith(NOT_BEHAVIOUR)
            and any(
                one.path == passage.path and one.start < passage.end and passage.start < one.end
                for passage in sure
            )
        ):
            yield one


def _reading_weight(value: float, *, guards: bool) -> float:
    """Give what a passage weighs that the model has read: where it is sure, as much as *caution*
    needs.
    """
    share = GUARD_SHARE if guards else 1.0
    beyond = value - SURE
    if beyond < 0:
        return learned.CAUTION * exp(beyond / READING_SPREAD) * share * BELOW_SHARE
    return (learned.CAUTION + READING_GAIN * beyond) * share


def is_reason(one: Sighting, table: RuleTable = RULES) -> bool:
    """Tell whether a sighting alone is a reason to call a skill dangerous: grave behaviour, told
    and not quoted.
    """
    return (
        one.place not in QUIET_PLACES
        and table[one.rule].severity in GRAVE_SEVERITIES
        and not one.rule.startswith(NOT_BEHAVIOUR)
    )


def _wants_a_look(one: Sighting) -> bool:
    return one.rule in NEVER_SAFE_RULES


def level_of(total: float) -> Level:
    """Give the level of a sum of weights."""
    if total >= learned.DANGEROUS:
        return "dangerous"
    return "caution" if total >= learned.CAUTION else "safe"


def score_of(total: float) -> int:
    """Give the sum as 0 to 100: from 70 on dangerous, from 30 on caution."""
    low = learned.CAUTION
    high = learned.DANGEROUS
    if total >= high:
        return min(100, 70 + int(30 * (1 - 2 ** -((total - high) / 2))))
    return 30 + int(40 * (total - low) / (high - low)) if total >= low else int(29 * total / low)

"""The catalogue keeps its budget, loses no skill without a word, and keeps its beginning, whatever the library and its edits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest
from fakes.cards import card
from hypothesis import given, settings, strategies as st

from metier.disclose.catalogue import Disclosure, Telling, disclose, ordered, remembered
from metier.disclose.delta import recalled
from metier.disclose.forms import FORMS, closing, head, size
from metier.disclose.layout import shares
from metier.disclose.plan import FULL, NAMES, SHARED, Plan, Stock, fresh, sheet
from metier.disclose.tokens import BYTES_PER_TOKEN, estimate
from metier.disclose.wire import plain
from metier.model import SCOPES
from metier.settings import PROMPT_ORDER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.model import Card, Scope

EXAMPLES = settings(max_examples=150, deadline=None)
TEXTS = st.text(st.one_of(st.sampled_from('ab <>&"\\-:('), st.characters()), max_size=60)
NAMES_OF_SKILLS = st.one_of(st.text("abcdef-", min_size=1, max_size=12), TEXTS.filter(bool))
FORMATS = st.sampled_from(sorted(FORMS))


class Skill(NamedTuple):
    """What a made-up card differs in."""

    name: str
    description: str
    root: str
    scope: Scope
    category: str


SKILLS = st.builds(Skill, NAMES_OF_SKILLS, TEXTS, st.sampled_from(["/home/someone/skills", "/srv/a", "/srv/a/deep<er>"]),
                   st.sampled_from(SCOPES), st.sampled_from(["", "quiet"]))  # fmt: skip
LIBRARIES = st.lists(SKILLS, max_size=12)
BUDGETS = st.one_of(st.integers(1, 120), st.integers(120, 700))


def cards_of(skills: Sequence[Skill], at: int = 0) -> list[Card]:
    """Make cards, each at a place of its own, in the order of a prompt."""
    made = [
        card(one.name, one.description, path=f"{one.root}/{number}", root=one.root, scope=one.scope, category=one.category)
        for number, one in enumerate(skills, at)
    ]
    return ordered(made, PROMPT_ORDER)


class Exact:
    """A counter that disagrees with the estimate: one token for three characters, and one for every space."""

    def count(self, text: str) -> int:
        """Count."""
        return -(-len(text) // 3) + text.count(" ")


def share(skills: list[Skill], form: str, percent: int) -> int:
    """Give a budget that is such a share of what everything costs: nearly all of them cut something."""
    return max(disclose(cards_of(skills), Telling(1_000_000, form)).tokens * percent // 100, 1)


def holds(told: Disclosure, cards: Sequence[Card], counted: int) -> None:
    """Check what is true of every catalogue."""
    assert counted <= told.budget
    assert told.included + len(told.omitted) == len(cards)
    assert sorted([str(row[0]) for row in told.rows] + told.omitted) == sorted(card.name for card in cards)
    assert bool(told.text) == bool(told.included) == bool(told.instructions)
    if told.text:
        assert told.text.isprintable() or {char for char in told.text if not char.isprintable()} == {"\n"}
        assert told.included == len(recalled(told).rows)


@EXAMPLES
@given(LIBRARIES, BUDGETS, FORMATS, st.booleans(), st.sampled_from(["", "ab cd"]))
def test_the_budget_is_never_exceeded_and_every_skill_is_in_the_text_or_in_the_report(
    skills: list[Skill], budget: int, form: str, compact: bool, task: str
) -> None:
    cards = cards_of(skills)

    told = disclose(cards, Telling(budget, form, compact, frozenset({"quiet"}), task))

    holds(told, cards, estimate(told.text))
    assert told == disclose(cards, Telling(budget, form, compact, frozenset({"quiet"}), task))


@EXAMPLES
@given(LIBRARIES, BUDGETS, FORMATS)
def test_an_exact_counter_is_obeyed(skills: list[Skill], budget: int, form: str) -> None:
    cards = cards_of(skills)

    told = disclose(cards, Telling(budget, form, counter=Exact()))

    holds(told, cards, Exact().count(told.text) if told.text else 0)


@EXAMPLES
@given(LIBRARIES, BUDGETS)
def test_the_json_form_is_json_however_it_is_cut(skills: list[Skill], budget: int) -> None:
    told = disclose(cards_of(skills), Telling(budget, "json"))

    assert told.included == (len(json.loads(told.text)["skills"]) if told.text else 0)


# --- the shares


def by_turns(costs: Sequence[Sequence[int]], first: int, room: int) -> list[int]:
    """Hand out one character at a time, round after round, until nobody can take another."""
    shown = [0] * len(costs)
    taken = True
    while taken:
        taken = False
        for at, cost in enumerate(costs):
            if shown[at] < len(cost):
                price = cost[shown[at]] + (0 if shown[at] else first)
                if price <= room:
                    room -= price
                    shown[at] += 1
                    taken = True
    return shown


@EXAMPLES
@given(st.lists(st.integers(0, 40), max_size=12), st.integers(0, 30), st.integers(0, 400))
def test_shares_of_plain_text_are_those_of_taking_turns(lengths: list[int], first: int, room: int) -> None:
    assert by_turns([[1] * length for length in lengths], first, room) == shares(lengths, first, room)


@EXAMPLES
@given(st.lists(st.one_of(st.integers(0, 20), st.lists(st.integers(1, 12), max_size=20)), max_size=12), st.integers(0, 30),
       st.integers(0, 400))  # fmt: skip
def test_shares_of_any_text_are_those_of_taking_turns(costs: list[int | list[int]], first: int, room: int) -> None:
    spelt = [[1] * cost if isinstance(cost, int) else cost for cost in costs]

    assert by_turns(spelt, first, room) == shares(costs, first, room)


# --- the past

EDITS = st.lists(st.tuples(st.sampled_from(["add", "drop", "describe", "rename", "budget", "nothing"]), st.integers(0, 30), SKILLS), max_size=6)


class World:
    """A library that is edited, in which each skill keeps its place."""

    def __init__(self, skills: list[Skill]) -> None:
        """Begin with these."""
        self.skills = dict(enumerate(skills))
        self.next = len(skills)

    def edit(self, what: str, where: int, skill: Skill) -> None:
        """Add, drop or change one skill."""
        if what == "add":
            self.skills[self.next] = skill
            self.next += 1
        elif self.skills and what in {"drop", "describe", "rename"}:
            key = sorted(self.skills)[where % len(self.skills)]
            old = self.skills.pop(key)
            if what == "describe":
                self.skills[key] = old._replace(description=skill.description)
            elif what == "rename":
                self.skills[key] = old._replace(name=skill.name)

    def cards(self) -> list[Card]:
        """Give the cards in the order of a prompt."""
        return ordered([card for key, one in self.skills.items() for card in cards_of([one], key)], PROMPT_ORDER)


@settings(max_examples=200, deadline=None)
@given(LIBRARIES, st.integers(1, 120), FORMATS, EDITS)
def test_over_edits_the_budget_holds_and_the_beginning_is_the_longest_that_the_rule_allows(
    skills: list[Skill], percent: int, form: str, edits: list[tuple[str, int, Skill]]
) -> None:
    world = World(skills)
    budget = share(skills, form, percent)
    told = disclose(world.cards(), Telling(budget, form))
    for what, where, skill in edits:
        world.edit(what, where, skill)
        budget = share(skills, form, 4 * where) if what == "budget" else budget
        cards = world.cards()

        after = disclose(cards, Telling(budget, form), remembered(json.loads(json.dumps(plain(told)))))

        holds(after, cards, estimate(after.text))
        assert longest(cards, form, budget, told) == kept_lines(told, after)
        told = after


def kept_lines(old: Disclosure, new: Disclosure) -> int:
    """Count the first lines of a text that are those of an earlier one, after the same opening."""
    if not old.text or not new.text or old.aliases != new.aliases:
        return 0
    count = 0
    for one, other in zip(recalled(old).rows, recalled(new).rows, strict=False):
        if one.line != other.line:
            break
        count += 1
    return count


def longest(cards: list[Card], form: str, budget: int, old: Disclosure) -> int:
    """Try every number of old lines, from all of them downwards: the first with which the rest can still be had."""
    stock = Stock(FORMS[form], cards)
    plan = fresh(stock, budget * BYTES_PER_TOKEN)
    past = recalled(old)
    if not plan.order or not past.rows:
        return 0
    return max((k for k in range(len(past.rows) + 1) if possible(stock, plan, budget * BYTES_PER_TOKEN, old, k)), default=0)


def possible(stock: Stock, plan: Plan, allowance: int, old: Disclosure, k: int) -> bool:
    """Tell whether the first k old lines can stay, with what the tier owes to all the others."""
    past = recalled(old)
    page = sheet(stock, past.table)
    at = {card.path: number for number, card in enumerate(stock.cards)}
    kept = past.rows[:k]
    if any(row.path not in at for row in kept):
        return False
    whole = {row.path: stock.text(at[row.path]) for row in kept}
    shown = [whole[row.path] if plan.tier == FULL else "" if plan.tier == NAMES else whole[row.path][: row.shown] for row in kept]
    if any(page.line(at[row.path], text) != row.line for row, text in zip(kept, shown, strict=True)):
        return False
    least, between = page.least(), len(stock.form.between)
    others = [number for number, card in enumerate(stock.cards) if card.path not in whole]
    charged = sum(max(size(row.line) + between, least[at[row.path]] if plan.tier != FULL else 0) for row in kept)
    names = [page.price(number, least[number]) for number in range(len(stock.cards))]
    room = page.room(allowance, len(stock.cards) if plan.tier == NAMES else 0)
    if plan.tier != NAMES and sum(names) > room:
        return False
    whole_lines = sum(size(page.line(number, stock.text(number))) + between for number in others)
    owed = {FULL: whole_lines, SHARED: sum(names[number] for number in others), NAMES: 0}
    return charged + owed[plan.tier] <= room


@EXAMPLES
@given(LIBRARIES, st.integers(1, 120), FORMATS, st.sampled_from(["", "ab cd"]))
def test_an_unchanged_library_gives_the_same_bytes_and_no_delta(skills: list[Skill], percent: int, form: str, task: str) -> None:
    cards = cards_of(skills)
    budget = share(skills, form, percent)
    before = disclose(cards, Telling(budget, form, task=task))

    again = disclose(cards, Telling(budget, form, task=task), before)

    assert (before.text, "") == (again.text, again.delta)


@EXAMPLES
@given(LIBRARIES, FORMATS, EDITS)
def test_what_a_host_was_told_and_every_delta_since_add_up_to_the_library(
    skills: list[Skill], form: str, edits: list[tuple[str, int, Skill]]
) -> None:
    world = World(skills)
    told = disclose(world.cards(), Telling(100_000, form))
    for what, where, skill in edits:
        before = {row.path: row.line for row in recalled(told).rows}
        world.edit(what, where, skill)

        told = disclose(world.cards(), Telling(100_000, form), told)

        now = {row.path: row.line for row in recalled(told).rows}
        new = [line for path, line in now.items() if before.get(path) != line]
        assert all(line in told.delta for line in new)
        assert bool(told.delta) or not new


@pytest.mark.parametrize("form", sorted(FORMS))
def test_the_opening_and_the_closing_are_what_the_text_begins_and_ends_with(form: str) -> None:
    told = disclose(cards_of([Skill("a", "b", "/r", "user", "")]), Telling(100, form))

    assert told.text.startswith(head(FORMS[form], ()))
    assert told.text.endswith(closing(FORMS[form], 0))


@EXAMPLES
@given(st.lists(SKILLS, min_size=4, max_size=12), st.integers(60, 160), FORMATS)
def test_the_core_does_not_depend_on_the_task(skills: list[Skill], budget: int, form: str) -> None:
    cards = cards_of(skills)
    plans = [disclose(cards, Telling(budget, form, task=task)) for task in ("", "ab cd", "b", "fe")]

    cores = [len([row for row in told.rows if row[4]]) for told in plans]
    texts = [[row.line for row in recalled(told).rows][: min(cores)] for told in plans]

    assert all(text == texts[0] for text in texts)

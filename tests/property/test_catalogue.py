"""The catalogue keeps its budget, loses no skill without a word, and keeps its beginning, whatever the library and its edits."""

from __future__ import annotations

import json
from html import unescape
from typing import TYPE_CHECKING, NamedTuple

import pytest
from fakes.cards import card
from hypothesis import given, settings, strategies as st

from metier.catalogue.wire import plain
from metier.disclose.formats import FORMS, LineMark, clean, closing, head, shares, size
from metier.disclose.plan import PromptLines, PromptSkills, lines_with, recall
from metier.disclose.prompt import (
    Disclosure,
    PromptOptions,
    disclose,
    order_for_prompt,
    previous_from_json,
)
from metier.model import SCOPES
from metier.settings.model import PROMPT_ORDER
from metier.standard.plain_text import BYTES_PER_TOKEN, estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.model import Card, Readiness, Scope

EXAMPLES = settings(max_examples=150, deadline=None)
TEXTS = st.text(st.one_of(st.sampled_from('ab <>&"\\-:([\uff3b'), st.characters()), max_size=60)
NAMES_OF_SKILLS = st.one_of(st.text("abcdef-", min_size=1, max_size=12), TEXTS.filter(bool))
FORMATS = st.sampled_from(sorted(FORMS))


class Skill(NamedTuple):
    """What a made-up card differs in."""

    name: str
    description: str
    root: str
    scope: Scope
    category: str
    readiness: Readiness = "available"


SKILLS = st.builds(
    Skill,
    NAMES_OF_SKILLS,
    TEXTS,
    st.sampled_from(["/home/someone/skills", "/srv/a", "/srv/a/deep<er>"]),
    st.sampled_from(SCOPES),
    st.sampled_from(["", "quiet"]),
    st.sampled_from(["available", "available", "setup_needed"]),
)
LIBRARIES = st.lists(SKILLS, max_size=12)
BUDGETS = st.one_of(st.integers(1, 120), st.integers(120, 700))


def cards_of(skills: Sequence[Skill], at: int = 0) -> list[Card]:
    """Make cards, each at a place of its own, in the order of a prompt."""
    made = [
        card(
            one.name,
            one.description,
            path=f"{one.root}/{number}",
            root=one.root,
            scope=one.scope,
            category=one.category,
        )._replace(readiness=one.readiness)
        for number, one in enumerate(skills, at)
    ]
    return order_for_prompt(made, PROMPT_ORDER)


def stock_of(form: str, cards: Sequence[Card]) -> PromptSkills:
    """Put cards into stock, with the mark of those that are not ready."""
    return PromptSkills(
        FORMS[form],
        cards,
        marks={
            card.path: LineMark(card.readiness) for card in cards if card.readiness != "available"
        },
    )


class Exact:
    """A counter that disagrees with the estimate: one token for three characters, and one for every space."""

    def count(self, text: str) -> int:
        """Count."""
        return -(-len(text) // 3) + text.count(" ")


def share(skills: list[Skill], form: str, percent: int) -> int:
    """Give a budget that is such a share of what everything costs: nearly all of them cut something."""
    return max(
        disclose(cards_of(skills), PromptOptions(1_000_000, form)).tokens * percent // 100, 1
    )


def holds(told: Disclosure, cards: Sequence[Card], counted: int) -> None:
    """Check what is true of every catalogue."""
    assert counted <= told.budget
    assert told.included + len(told.omitted) == len(cards)
    listed = {row[1]: str(row[0]) for row in told.rows}
    assert sorted([*listed.values(), *told.omitted]) == sorted(card.name for card in cards)
    assert sorted(told.unready) == sorted(
        card.name for card in cards if card.path in listed and card.readiness != "available"
    )
    assert bool(told.text) == bool(told.included) == bool(told.instructions)
    if told.text:
        assert told.text.isprintable() or {
            char for char in told.text if not char.isprintable()
        } == {"\n"}
        assert (told.included, len(told.rows)) == (len(listed), len(recall(told).rows))


@EXAMPLES
@given(LIBRARIES, BUDGETS, FORMATS, st.booleans(), st.sampled_from(["", "ab cd"]))
def test_the_budget_is_never_exceeded_and_every_skill_is_in_the_text_or_in_the_report(
    skills: list[Skill], budget: int, form: str, compact: bool, task: str
) -> None:
    cards = cards_of(skills)

    told = disclose(cards, PromptOptions(budget, form, compact, frozenset({"quiet"}), task))

    holds(told, cards, estimate(told.text))
    assert told == disclose(cards, PromptOptions(budget, form, compact, frozenset({"quiet"}), task))


@EXAMPLES
@given(LIBRARIES, BUDGETS, FORMATS)
def test_an_exact_counter_is_obeyed(skills: list[Skill], budget: int, form: str) -> None:
    cards = cards_of(skills)

    told = disclose(cards, PromptOptions(budget, form, counter=Exact()))

    holds(told, cards, Exact().count(told.text) if told.text else 0)
    everything = disclose(cards, PromptOptions(1_000_000, form))
    if everything.text and Exact().count(everything.text) <= budget:
        assert everything.text == told.text


@EXAMPLES
@given(LIBRARIES, BUDGETS)
def test_the_json_form_is_json_however_it_is_cut(skills: list[Skill], budget: int) -> None:
    told = disclose(cards_of(skills), PromptOptions(budget, "json"))

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
def test_shares_of_plain_text_are_those_of_taking_turns(
    lengths: list[int], first: int, room: int
) -> None:
    assert (
        by_turns([[1] * length for length in lengths], first, room)
        == shares(lengths, first, room)[0]
    )


@EXAMPLES
@given(
    st.lists(st.one_of(st.integers(0, 20), st.lists(st.integers(1, 12), max_size=20)), max_size=12),
    st.integers(0, 30),
    st.integers(0, 400),
)
def test_shares_of_any_text_are_those_of_taking_turns(
    costs: list[int | list[int]], first: int, room: int
) -> None:
    spelt = [[1] * cost if isinstance(cost, int) else cost for cost in costs]

    assert by_turns(spelt, first, room) == shares(costs, first, room)[0]


# --- the past

EDITS = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "drop", "describe", "rename", "ready", "budget", "task", "nothing"]
        ),
        st.integers(0, 30),
        SKILLS,
    ),
    max_size=6,
)


class World:
    """A library that is edited, in which each skill keeps its place."""

    def __init__(self, skills: list[Skill]) -> None:
        """Begin with these."""
        self.skills = dict(enumerate(skills))
        self.next = len(skills)
        self.before: dict[str, Card] = {}

    def edit(self, what: str, where: int, skill: Skill) -> None:
        """Add, drop or change one skill."""
        self.before = {card.path: card for card in self.cards()}
        if what == "add":
            self.skills[self.next] = skill
            self.next += 1
        elif self.skills and what in {"drop", "describe", "rename", "ready"}:
            key = sorted(self.skills)[where % len(self.skills)]
            old = self.skills.pop(key)
            if what == "describe":
                self.skills[key] = old._replace(description=skill.description)
            elif what == "rename":
                self.skills[key] = old._replace(name=skill.name)
            elif what == "ready":
                self.skills[key] = old._replace(readiness=skill.readiness)

    def cards(self) -> list[Card]:
        """Give the cards in the order of a prompt."""
        return order_for_prompt(
            [card for key, one in self.skills.items() for card in cards_of([one], key)],
            PROMPT_ORDER,
        )


TASKS = st.sampled_from(["", "", "ab cd", "fe"])


@settings(max_examples=200, deadline=None)
@given(LIBRARIES, st.integers(1, 120), FORMATS, EDITS)
def test_over_edits_the_budget_holds_and_the_beginning_is_the_longest_that_the_rule_allows(
    skills: list[Skill], percent: int, form: str, edits: list[tuple[str, int, Skill]]
) -> None:
    world = World(skills)
    budget = share(skills, form, percent)
    told = disclose(world.cards(), PromptOptions(budget, form))
    for what, where, skill in edits:
        world.edit(what, where, skill)
        budget = share(skills, form, 4 * where) if what == "budget" else budget
        cards = world.cards()

        after = disclose(cards, PromptOptions(budget, form), back(told))

        new = disclose(cards, PromptOptions(budget, form))
        holds(after, cards, estimate(after.text))
        kept = Oracle(cards, form, budget, told, new).kept()
        if kept:
            assert kept == kept_lines(told, after)
            fair(after, new, kept)
        else:
            assert new.text == after.text
        told = after


def back(told: Disclosure) -> Disclosure | None:
    """Send a catalogue through its JSON."""
    return previous_from_json(json.loads(json.dumps(plain(told))))


def kept_lines(old: Disclosure, new: Disclosure) -> int:
    """Count the first lines of a text that are those of an earlier one, after the same opening."""
    if not old.text or not new.text or old.aliases != new.aliases:
        return 0
    count = 0
    for one, other in zip(recall(old).rows, recall(new).rows, strict=False):
        if one.line != other.line:
            break
        count += 1
    return count


def fair(after: Disclosure, new: Disclosure, kept: int) -> None:
    """Check that no skill gets less than half of what it would get without a past, unless its old line was kept."""
    if not new.omitted:
        owed = {row[1]: -(-int(row[2]) // 2) for row in new.rows}
        assert all(int(row[2]) >= owed[row[1]] for row in after.rows[kept:])


class Oracle:
    """The rule about a past, tried out: every number of old lines, in texts that are written and measured."""

    def __init__(
        self, cards: list[Card], form: str, budget: int, old: Disclosure, new: Disclosure
    ) -> None:
        """Take the library, and the texts before and without a past."""
        self.form, self.bytes, self.old, self.new = FORMS[form], budget * BYTES_PER_TOKEN, old, new
        self.cards = {card.path: card for card in cards}
        self.told = [(row.path, row.shown, row.line) for row in recall(old).rows]
        self.page = lines_with(stock_of(form, cards), tuple(old.aliases.items()))
        self.least = self.page.least()
        self.at = {card.path: at for at, card in enumerate(cards)}
        known = dict.fromkeys(path for path, _shown, _line in self.told if path in self.cards)
        self.order = [*known, *(path for path in self.cards if path not in known)]

    def text(self, path: str) -> str:
        """Give a description as it may be told."""
        return clean(self.cards[path].description)

    def line(self, path: str, shown: int) -> str:
        """Write a line under the old aliases."""
        return self.page.line(self.at[path], self.text(path)[:shown])

    def cost(self, path: str, shown: int) -> int:
        """Give what a line is charged: its name at least the characters of what was to be written."""
        bare = size(self.line(path, 0))
        return (
            max(bare + len(self.form.between), self.least[self.at[path]])
            + size(self.line(path, shown))
            - bare
        )

    def room(self, omitted: int) -> int:
        """Give the bytes for lines."""
        ends = size(head(self.form, self.old.aliases.items())) + size(closing(self.form, omitted))
        return self.bytes - ends + len(self.form.between)

    def kept(self) -> int:
        """Give the number of old lines that stay; 0 where the text without a past is the better one."""
        if not self.new.text or not self.told:
            return 0
        if self.new.omitted:
            return self.names()
        whole = {path: len(self.text(path)) for path in self.cards}
        if not any(int(row[2]) < whole[str(row[1])] for row in self.new.rows):
            fits = sum(self.cost(path, whole[path]) for path in self.order) <= self.room(0)
            return (
                self.same([self.line(path, whole[path]) for path in self.order], self.order)
                if fits
                else 0
            )
        half = -(-max(int(row[2]) for row in self.new.rows) // 2)
        k = max((k for k in range(1, len(self.told) + 1) if self.possible(k, half)), default=0)
        return k if k and self.aliases_used(self.order) and self.filled(k) else 0

    def same(self, lines: list[str], listed: list[str]) -> int:
        """Count the old lines that stay, if all aliases are still used."""
        if not self.aliases_used(listed):
            return 0
        pairs = [one == line for one, (_path, _shown, line) in zip(lines, self.told, strict=False)]
        return pairs.index(False) if False in pairs else len(pairs)

    def names(self) -> int:
        """Take names one by one."""
        room, taken = self.room(max(len(self.cards), 2)), []
        for path in self.order:
            if self.cost(path, 0) <= room:
                room -= self.cost(path, 0)
                taken.append(path)
        enough = 100 * len(taken) >= 95 * self.new.included
        return self.same([self.line(path, 0) for path in taken], taken) if enough else 0

    def possible(self, k: int, half: int) -> bool:
        """Tell whether k old lines can stay, with what is owed to all the others."""
        paths = [path for path, _shown, _line in self.told[:k]]
        if not set(paths) <= set(self.cards) or any(
            self.line(path, shown) != line for path, shown, line in self.told[:k]
        ):
            return False
        owed = sum(self.cost(path, half) for path in self.cards if path not in paths)
        return sum(
            self.cost(path, shown) for path, shown, _line in self.told[:k]
        ) + owed <= self.room(0)

    def filled(self, k: int) -> bool:
        """Tell whether the text with k old lines uses its room: three quarters of it, or all that there is to say."""
        shown = {path: shown for path, shown, _line in self.told[:k]}
        room = self.room(0) - sum(self.cost(path, 0) for path in self.cards)
        left = room - sum(
            self.cost(path, count) - self.cost(path, 0) for path, count in shown.items()
        )
        others = [path for path in self.cards if path not in shown]
        spelt = [
            [self.cost(path, at + 1) - self.cost(path, at) for at in range(len(self.text(path)))]
            for path in others
        ]
        dealt = by_turns(spelt, 0, left)
        left -= sum(sum(cost[:count]) for cost, count in zip(spelt, dealt, strict=True))
        shown.update(zip(others, dealt, strict=True))
        return (
            all(count == len(self.text(path)) for path, count in shown.items()) or 4 * left <= room
        )

    def aliases_used(self, listed: list[str]) -> bool:
        """Tell whether every old alias has a skill."""
        return not self.old.aliases or set(self.old.aliases.values()) <= {
            self.page.owners[self.at[path]] for path in listed
        }


@settings(max_examples=200, deadline=None)
@given(
    LIBRARIES,
    st.integers(1, 120),
    FORMATS,
    EDITS,
    TASKS,
    st.sampled_from([None, None, Exact()]),
    st.booleans(),
)
def test_inside_every_chain_of_edits_an_unchanged_library_gives_the_same_bytes_and_no_delta(
    skills: list[Skill],
    percent: int,
    form: str,
    edits: list[tuple[str, int, Skill]],
    task: str,
    counter: Exact | None,
    compact: bool,
) -> None:
    world = World(skills)
    budget = share(skills, form, percent)
    told = None
    for what, where, skill in [("nothing", 0, None), *edits]:
        if skill is not None:
            world.edit(what, where, skill)
        telling = PromptOptions(
            budget,
            form,
            compact,
            task=task if what != "task" else skill.name if skill else "",
            counter=counter,
        )
        cards = world.cards()
        told = disclose(cards, telling, told)

        again = disclose(cards, telling, back(told))

        holds(told, cards, told.tokens)
        assert (told.text, told.rows, "") == (again.text, again.rows, again.delta)


@EXAMPLES
@given(LIBRARIES, st.one_of(st.just(1_000_000), st.integers(1, 120)), FORMATS, EDITS, TASKS)
def test_what_a_host_was_told_and_every_delta_since_add_up_to_the_library(
    skills: list[Skill], percent: int, form: str, edits: list[tuple[str, int, Skill]], task: str
) -> None:
    world = World(skills)
    budget = share(skills, form, percent)
    told = disclose(world.cards(), PromptOptions(budget, form, task=task))
    for what, where, skill in edits:
        before = {str(row[1]): row for row in told.rows}
        world.edit(what, where, skill)
        cards = world.cards()

        told = disclose(cards, PromptOptions(budget, form, task=task), told)

        told_of = {row[1] for row in told.rows}
        written = PromptLines(stock_of(form, cards), (), (), {})
        for at, one in enumerate(cards):
            known = before.get(one.path)
            wrong = known is not None and wrong_now(known, world.before[one.path], one, form)
            if (one.path in told_of and known is None) or wrong:
                assert written.line(at, clean(one.description)) in told.delta
        names = {one.name for one in cards}
        gone = {str(row[0]) for row in before.values()} - names
        assert gone_of(told.delta, form) == ({clean(name) for name in gone} if cards else set())
        assert not cards or bool(told.delta) or told_of <= set(before)


def wrong_now(row: list[str | int], old: Card, card: Card, form: str) -> bool:
    """Tell whether what a line said of a skill is no longer so."""
    shown, was, now = int(row[2]), clean(old.description), clean(card.description)
    ready = form != "markdown" and old.readiness != card.readiness
    return (
        ready
        or (clean(old.name), was[:shown]) != (clean(card.name), now[:shown])
        or (shown == len(was) != len(now))
    )


def gone_of(delta: str, form: str) -> set[str]:
    """Give the names that a delta calls gone."""
    if form == "json":
        return set(json.loads(delta).get("removed", [])) if delta else set()
    if form == "xml":
        rows = [line for line in delta.split("\n") if line.startswith("<removed>")]
        return {
            unescape(line.removeprefix("<removed>").removesuffix("</removed>")) for line in rows
        }
    _lines, _gap, gone = delta.rpartition("Skills no longer available:\n")
    return (
        {
            line.removeprefix("- ").replace("&lt;", "<").replace("&#91;", "[")
            for line in gone.split("\n")
        }
        if _gap
        else set()
    )


@pytest.mark.parametrize("form", sorted(FORMS))
def test_the_opening_and_the_closing_are_what_the_text_begins_and_ends_with(form: str) -> None:
    told = disclose(cards_of([Skill("a", "b", "/r", "user", "")]), PromptOptions(100, form))

    assert told.text.startswith(head(FORMS[form], ()))
    assert told.text.endswith(closing(FORMS[form], 0))


@EXAMPLES
@given(st.lists(SKILLS, min_size=4, max_size=12), st.integers(60, 160), FORMATS)
def test_the_core_does_not_depend_on_the_task(skills: list[Skill], budget: int, form: str) -> None:
    cards = cards_of(skills)
    plans = [
        disclose(cards, PromptOptions(budget, form, task=task)) for task in ("", "ab cd", "b", "fe")
    ]

    cores = [len([row for row in told.rows if row[4]]) for told in plans]
    texts = [[row.line for row in recall(told).rows][: min(cores)] for told in plans]

    assert all(text == texts[0] for text in texts)


# --- a budget for all that is printed


@EXAMPLES
@given(LIBRARIES, LIBRARIES, BUDGETS, FORMATS, st.sampled_from([None, Exact()]), st.booleans())
def test_a_budget_for_the_whole_is_kept_by_everything_that_is_printed(
    before: list[Skill],
    after: list[Skill],
    budget: int,
    form: str,
    counter: Exact | None,
    compact: bool,
) -> None:
    options = PromptOptions(budget, form, compact, counter=counter, whole=True)
    first = disclose(cards_of(before), options)

    then = disclose(cards_of(after), options, first)

    for told in (first, then):
        assert options.count(told.printed) <= budget
        assert not told.text or told.text in told.printed
        assert told.printed.endswith(told.instructions)
    assert not then.delta or options.count(f"{then.delta}\n") <= budget


@EXAMPLES
@given(LIBRARIES.filter(bool), FORMATS, st.integers(1, 100), st.sampled_from([None, Exact()]))
def test_the_whole_of_an_unchanged_library_is_the_same_again(
    skills: list[Skill], form: str, percent: int, counter: Exact | None
) -> None:
    budget = share(skills, form, percent) + 60
    options = PromptOptions(budget, form, counter=counter, whole=True)
    first = disclose(cards_of(skills), options)

    again = disclose(cards_of(skills), options, first)

    assert (first.printed, "") == (again.printed, again.delta)


@EXAMPLES
@given(LIBRARIES.filter(bool), FORMATS)
def test_where_everything_fits_the_instructions_are_whole_too(
    skills: list[Skill], form: str
) -> None:
    plain = disclose(cards_of(skills), PromptOptions(1_000_000, form))
    budget = estimate(plain.printed)

    told = disclose(cards_of(skills), PromptOptions(budget, form, whole=True))
    tight = disclose(cards_of(skills), PromptOptions(budget - 1, form, whole=True))

    assert plain.printed == told.printed
    assert estimate(tight.printed) < budget

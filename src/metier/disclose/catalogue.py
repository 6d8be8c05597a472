"""The text that tells a model which skills there are, within a token budget, and the report of what was left out. Pure.

The budget covers the whole text: tags, aliases and closing remark too. It is kept in bytes where tokens are estimated; an exact
counter is asked about finished texts, and the bytes allowed are narrowed down until one fits.
"""

from __future__ import annotations

from metier.disclose.delta import changes, recalled
from metier.disclose.forms import FORMS, clean, closing, head, proven
from metier.disclose.plan import FULL, NAMES, NOTHING, SHARED, Past, Plan, Stock, after, directed, fresh, sheet
from metier.disclose.tokens import BYTES_PER_TOKEN, Estimate
from metier.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from metier.model import Card
    from metier.ports import Counter, Ranker

ENOUGH_USES = 5
"""Fewer uses say nothing about how well a skill does (ZE-37)."""
MUCH = 100
"""Characters cut from each description, on average over all skills, above which it is worth a warning (CX-55)."""
STEPS = 12
"""How often a text is written anew to please an exact counter."""
ROOMY = 4
"""How many times the estimate's bytes an exact counter's tokens may hold."""

INSTRUCTIONS = """How to use skills:
- A skill is a set of instructions kept in a file. The list gives each skill's name, what it is for, and where that file is.
- Use a skill when the user names it, or when the task clearly matches its description; then you must use it. If several match, \
use the fewest that cover the task, and say which and in what order.
- A skill counts for the turn in which it was called for. Do not carry it over to later turns unless it is called for again.
- Before you act on a skill, read its file completely. If it cannot be found or read, say so in a word and go on as well as you can.
- A relative path in a skill's instructions starts from the folder that the skill's file lies in. Read only those of its other \
files that the task needs.
- If a skill brings scripts, templates or assets, run or copy those rather than writing the same again.
"""
SHORTENED = (
    "Skill descriptions were shortened to fit the skills context budget. Every skill is still listed, but some descriptions are "
    "cut: disable skills that you do not use, to leave more room for the others."
)
ALIASED = "- A location that begins with an alias such as r0 lies below the folder that the alias stands for.\n"


_ROW = (str, str, int, int, int)


class Disclosure(NamedTuple):
    """A catalogue for a model, and what it does not say."""

    text: str
    tokens: int
    included: int
    """How many skills the text lists."""
    shortened: int
    """How many of them without all of their description."""
    omitted: list[str]
    """Names of the skills that the text does not list."""
    instructions: str
    cut: list[str]
    """Names of those that are shortened."""
    warnings: list[str]
    format: str
    budget: int
    delta: str
    """What changed since the text before, to be told by itself; nothing when nothing did."""
    aliases: dict[str, str]
    rows: list[list[str | int]]
    """What the next text needs to keep its beginning: of each line the skill's name and path, the characters shown of its
    description, the characters that it has, and whether the line is there whatever the task."""


class Telling(NamedTuple):
    """How skills are to be told."""

    budget: int
    format: str = "xml"
    compact: bool = False
    """By name alone, for a small window (ZE-37)."""
    silent: frozenset[str] = frozenset()
    """Categories told by name alone (HE-25)."""
    task: str = ""
    ranker: Ranker | None = None
    counter: Counter | None = None
    stats: Mapping[str, tuple[int, int]] = {}
    """By name, how often a skill was used and in how many of a hundred cases it went well."""


def ordered(cards: Sequence[Card], scopes: Sequence[str]) -> list[Card]:
    """Sort cards for a prompt: by scope, then by name, then by path (CX-53)."""
    found = {card[2] for card in cards}
    known = [*scopes, *sorted(found.difference(scopes))]
    result: list[Card] = []
    for scope in known:
        if scope in found:
            group = [card for card in cards if card[2] == scope] if len(found) > 1 else list(cards)
            if len({card[0] for card in group}) < len(group):
                group.sort(key=lambda card: card[5])
            group.sort(key=lambda card: card[0])
            result += group
    return result


def disclose(cards: Sequence[Card], telling: Telling, previous: Disclosure | None = None) -> Disclosure:
    """Tell of visible cards, already in order; with a previous text, keep as much of its beginning as can be."""
    form = FORMS[telling.format]
    marks = {
        card.path: proven(form, *telling.stats[card.name])
        for card in (cards if telling.stats else ())
        if telling.stats.get(card.name, (0, 0))[0] >= ENOUGH_USES
    }
    stock = Stock(form, cards, None if telling.compact else telling.silent, marks)
    past = recalled(previous) if previous is not None and previous.format == telling.format else Past((), ())
    plan, text = _written(stock, telling, past) if cards else (Plan(NOTHING, (), (), ()), "")
    made = _reported(stock, plan, text, telling)
    return made if previous is None else made._replace(delta=changes(previous, stock, plan))


def remembered(value: Any) -> Disclosure | None:
    """Give an earlier catalogue back from its JSON, as far as a later one needs it; nothing when that is something else."""
    if not isinstance(value, dict):
        return None
    text, form, aliases, rows = (value.get(key) for key in ("text", "format", "aliases", "rows"))
    if not (isinstance(text, str) and isinstance(form, str) and isinstance(aliases, dict) and isinstance(rows, list)):
        return None
    sound = form in FORMS and all(isinstance(part, str) for pair in aliases.items() for part in pair)
    for row in rows if sound else ():
        if not isinstance(row, list) or len(row) != len(_ROW) or not all(map(isinstance, row, _ROW)) or row[2] < 0:
            return None
    return Disclosure(text, 0, len(rows), 0, [], "", [], [], form, 0, "", aliases, rows) if sound else None


def _written(stock: Stock, telling: Telling, past: Past) -> tuple[Plan, str]:
    """Write the text that makes the most of the budget and does not exceed it."""
    allowance = telling.budget * BYTES_PER_TOKEN
    ranked = _ranked(stock, telling) if telling.task.strip() else []
    plan = _plan(stock, allowance, past, ranked)
    text = _text(stock, plan)
    if telling.counter is None:
        return plan, text
    best: tuple[Plan, str] = Plan(NOTHING, (), (), ()), ""
    low, high = 0, allowance * ROOMY
    for _step in range(STEPS):
        if telling.counter.count(text) <= telling.budget:
            best, low = (plan, text), allowance
            if plan.tier == FULL:
                break
        else:
            high = allowance
        if high - low <= BYTES_PER_TOKEN:
            break
        allowance = (low + high) // 2
        plan = _plan(stock, allowance, past, ranked)
        text = _text(stock, plan)
    return best


def _plan(stock: Stock, allowance: int, past: Past, ranked: Sequence[int]) -> Plan:
    plan = after(stock, allowance, past) if past.rows else fresh(stock, allowance)
    return directed(stock, allowance, plan, ranked) if ranked and plan.tier == NAMES else plan


def _ranked(stock: Stock, telling: Telling) -> list[int]:
    ranker = telling.ranker
    if ranker is None:
        from metier.disclose.choice import Words

        ranker = Words()
    index = {card.path: at for at, card in enumerate(stock.cards)}
    found = [index.get(card.path) for card in ranker.rank(telling.task, stock.cards)]
    return list(dict.fromkeys(at for at in found if at is not None))


def _text(stock: Stock, plan: Plan) -> str:
    if not plan.order:
        return ""
    page, form = sheet(stock, plan.table), stock.form
    lines = [page.line(at, stock.text(at)[:shown] if shown else "") for at, shown in zip(plan.order, plan.shown, strict=True)]
    return head(form, plan.table) + form.between.join(lines) + closing(form, len(stock.cards) - len(lines))


def _reported(stock: Stock, plan: Plan, text: str, telling: Telling) -> Disclosure:
    """Say what a text holds and what not."""
    cards, cut = stock.cards, []
    rows: list[list[str | int]] = []
    core = len(cards) if plan.core is None else plan.core
    for at, shown in zip(plan.order, plan.shown, strict=True):
        card, length = cards[at], len(stock.text(at))
        rows.append([card.name, card.path, shown, length, int(len(rows) < core)])
        if shown < (length or len(clean(card.description))):
            cut.append(card.name)
    listed = set(plan.order)
    omitted = [card[0] for at, card in enumerate(cards) if at not in listed] if len(listed) < len(cards) else []
    instructions = INSTRUCTIONS + (ALIASED if plan.table else "") if text else ""
    tokens = (telling.counter or Estimate()).count(text) if text else 0
    return Disclosure(text, tokens, len(rows), len(cut), omitted, instructions, cut, _warnings(plan, len(cards), telling),
                      telling.format, telling.budget, "", dict(plan.table), rows)  # fmt: skip


def _warnings(plan: Plan, count: int, telling: Telling) -> list[str]:
    """Say what the budget cost, in the words that hosts know (CX-55)."""
    missing = count - len(plan.order)
    if not plan.order:
        tokens = "1 token" if telling.budget == 1 else f"{telling.budget:,} tokens"
        return [f"A skills context budget of {tokens} is too small for any skill: none is told to the model."] if count else []
    if missing:
        removed = "All skill descriptions" if not any(plan.shown) else "Skill descriptions, except those that fit the task,"
        were = "skill was" if missing == 1 else "skills were"
        left_out = f"{missing} additional {were} not included in the model-visible skills list."
        return [f"Exceeded skills context budget. {removed} were removed and {left_out}"]
    if plan.tier == SHARED and -(-plan.lost // count) > MUCH:
        return [SHORTENED]
    return []

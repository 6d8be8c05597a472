"""The text that tells a model which skills there are, within a token budget, and the report of what was left out. Pure.

The budget covers the whole text: tags, aliases and closing remark too. It is kept in bytes where tokens are estimated; an exact
counter is asked about finished texts: the bytes allowed are doubled while one fits, and then narrowed down.
"""

from __future__ import annotations

from metier.disclose.delta import changes, recalled
from metier.disclose.forms import FORMS, Mark, clean, closing, head
from metier.disclose.plan import CHOSEN, CORE, FULL, NOTHING, SHARED, USUAL, Past, Plan, Stock, planned, sheet
from metier.disclose.tokens import BYTES_PER_TOKEN, Estimate
from metier.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from metier.model import Card
    from metier.ports import Counter, Ranker

ENOUGH_USES = 5
"""Fewer uses say nothing about how well a skill does (ZE-37)."""
MUCH = 100
"""Characters cut from each description, on average over all skills, above which it is worth a warning (CX-55)."""
STEPS = 12
"""How often a text is written anew to please an exact counter, once it is known how many bytes are too many."""
UNREADY = ("setup_needed", "unsupported")
"""What a line says of a skill that cannot be used as things are."""

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
    description, the characters that it has, and why the line is where it is: 1 in the usual order, or with a task 2 in the part
    that does not depend on it and 0 in the other. A skill that is in the first part and fits the task has a line in both."""
    unready: list[str]
    """Names of the skills in the text that are not ready to be used."""
    room: int
    """Bytes that an exact counter was found to allow; 0 where tokens are estimated."""


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


class Written(NamedTuple):
    """A plan, its text, and the bytes that it was given."""

    plan: Plan
    text: str
    room: int


NONE = Written(Plan(NOTHING, (), (), ()), "", 0)


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
    stock = Stock(FORMS[telling.format], cards, None if telling.compact else telling.silent, _marks(cards, telling.stats))
    written = _written(stock, telling, previous) if cards else NONE
    made = _reported(stock, written, telling)
    return made if previous is None else made._replace(delta=changes(previous, stock, written.plan))


def _marks(cards: Sequence[Card], stats: Mapping[str, tuple[int, int]]) -> dict[str, Mark]:
    """Say what a model should know before it starts: which skills are not ready, and how well others did so far."""
    found = {card[5]: Mark(card[8]) for card in cards if card[8] in UNREADY}
    for card in cards if stats else ():
        uses, percent = stats.get(card.name, (0, 0))
        if uses >= ENOUGH_USES:
            mark = found.get(card.path, Mark())
            found[card.path] = mark._replace(uses=_step(uses), percent=percent // 10 * 10)
    return found


def _step(uses: int) -> int:
    """Round down to 5, 10, 20, 50, 100 and so on: a line that changed with every use would cost the model's cache each time."""
    step = ENOUGH_USES
    while 10 * step <= uses:
        step *= 10
    return next(times * step for times in (4, 2, 1) if times * step <= uses)


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
    tokens, budget, room = (value.get(key, 0) for key in ("tokens", "budget", "room"))
    if not (sound and isinstance(tokens, int) and isinstance(budget, int) and isinstance(room, int)):
        return None
    count = len({row[1] for row in rows})
    return Disclosure(text, tokens, count, 0, [], "", [], [], form, budget, "", aliases, rows, [], max(room, 0))


def _written(stock: Stock, telling: Telling, previous: Disclosure | None) -> Written:
    """Write the text that makes the most of the budget and does not exceed it."""
    past = recalled(previous) if previous is not None and previous.format == telling.format else Past((), ())
    ranked = _ranked(stock, telling) if telling.task.strip() else []

    def write(room: int) -> Written:
        plan = planned(stock, room, past, ranked)
        return Written(plan, _text(stock, plan), room)

    allowance = telling.budget * BYTES_PER_TOKEN
    if telling.counter is None:
        return write(allowance)
    if previous is not None and previous.room and previous.budget == telling.budget:
        same = write(previous.room)
        if same.text == previous.text and telling.counter.count(same.text) == previous.tokens <= telling.budget:
            return same  # nothing has changed: another search might end elsewhere
    return _searched(write, telling.counter, telling.budget, allowance)


def _searched(write: Callable[[int], Written], counter: Counter, budget: int, allowance: int) -> Written:
    """Find the bytes in which a text pleases an exact counter: everything if it fits, else about as many as it lets in."""
    best = NONE
    made = write(allowance)
    while counter.count(made.text) <= budget:
        best = made
        if made.plan.tier == FULL:
            return best
        made = write(2 * made.room)
    high = made.room
    for _step in range(STEPS):
        if high - best.room <= BYTES_PER_TOKEN:
            break
        made = write((best.room + high) // 2)
        if counter.count(made.text) <= budget:
            best = made
            if made.plan.tier == FULL:
                break
        else:
            high = made.room
    return best


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
    return head(form, plan.table) + form.between.join(lines) + closing(form, len(stock.cards) - len(set(plan.order)))


def _reported(stock: Stock, written: Written, telling: Telling) -> Disclosure:
    """Say what a text holds and what not."""
    cards, plan, text = stock.cards, written.plan, written.text
    rows: list[list[str | int]] = []
    listed: dict[int, int] = {}
    lengths: dict[int, int] = {}
    for at, shown in zip(plan.order, plan.shown, strict=True):
        card = cards[at]
        if at not in lengths:
            lengths[at] = len(clean(card.description))
        why = USUAL if plan.core is None else CORE if len(rows) < plan.core else CHOSEN
        rows.append([card.name, card.path, shown, lengths[at], why])
        listed[at] = max(shown, listed.get(at, 0))
    cut = [cards[at].name for at, shown in listed.items() if shown < lengths[at]]
    omitted = [card[0] for at, card in enumerate(cards) if at not in listed] if len(listed) < len(cards) else []
    unready = [cards[at].name for at in listed if cards[at].readiness in UNREADY]
    instructions = INSTRUCTIONS + (ALIASED if plan.table else "") if text else ""
    tokens = (telling.counter or Estimate()).count(text) if text else 0
    room = written.room if telling.counter else 0
    return Disclosure(text, tokens, len(listed), len(cut), omitted, instructions, cut, _warnings(plan, len(cards), telling),
                      telling.format, telling.budget, "", dict(plan.table), rows, unready, room)  # fmt: skip


def _warnings(plan: Plan, count: int, telling: Telling) -> list[str]:
    """Say what the budget cost, in the words that hosts know (CX-55)."""
    missing = count - len(set(plan.order))
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

"""Which skills a catalogue holds, in which order, and how much of each description. Pure: cards and a number of bytes in.

Without a past, one of three tiers holds (CX-53), and aliases are used only where something was cut and they help (CX-54):
`full`, everything; `shared`, every name and an even share of each description; `names`, names alone, in order, as many as fit.
A name's line is charged its bytes, or its characters as they were before cleaning when those are more.

With a past, the beginning of the old text is kept, so that a model's cache of it stays good. The rule, to the letter:

1. The tier is the one that holds without a past.
2. The old opening with its aliases is kept if that tier can be had with it, in `names` for one skill at least; otherwise there is
   nothing to keep.
3. Skills that the old text lists come first, in its order, a changed one too; the others follow in the usual order.
4. In `full` every line is whole, and in `names` it is the name alone; so the old lines that still read so stay.
   In `shared` the first k old lines stay byte for byte, where k is the largest number such that each of them is still true
   (the present description begins with what it says) and every other name still fits; the others share what is left.

With a task, and only in `names`, the lines that fill the first half of the room are those of the text without one (`directed`); of
an old text that had a task, only those count as its beginning.
"""

from __future__ import annotations

from metier.disclose.aliases import homes, place, table
from metier.disclose.forms import ESCAPES, bare_size, clean, closing, costs, first_character, head, line, row, size
from metier.disclose.layout import fitting, shares
from metier.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.disclose.forms import Form, Table
    from metier.model import Card

FULL, SHARED, NAMES, NOTHING = "full", "shared", "names", "nothing"


class Stock(NamedTuple):
    """The skills that may be told, in the usual order, and how they are."""

    form: Form
    cards: Sequence[Card]
    silent: frozenset[str] | None = frozenset()
    """Categories whose skills are told by name alone (HE-25); `None`: all of them (ZE-37)."""
    marks: Mapping[str, str] = {}
    """What a line begins with instead of the usual, by path."""

    def text(self, at: int) -> str:
        """Give the clean description of a skill, as far as it may be told."""
        card = self.cards[at]
        return "" if self.silent is None or (self.silent and card.category in self.silent) else clean(card.description)

    def file(self, at: int) -> str:
        """Give the path of the file that holds a skill's instructions."""
        card = self.cards[at]
        if card.kind != "skill-md":
            return card.path
        named = "SKILL.md"
        if card.diagnostics:  # a file in other letters than the standard's is one of them (decision 26)
            named = next((note.path for note in card.diagnostics if note.path.lower() == "skill.md"), named)
        return f"{card.path}/{named}"


class Sheet(NamedTuple):
    """A stock and the aliases with which it is written."""

    stock: Stock
    table: Table
    owners: Sequence[str]
    aliases: dict[str, str]

    def line(self, at: int, text: str) -> str:
        """Write one skill with so much of its description."""
        stock, card = self.stock, self.stock.cards[at]
        where = stock.file(at)
        if self.aliases:
            where = place(where, self.owners[at], self.aliases)
        return line(stock.form, clean(card.name), text, clean(where), stock.marks.get(card.path, "") if stock.marks else "")

    def least(self) -> list[int]:
        """Give what each name's line costs at least."""
        fixed = bare_size(self.stock.form)
        if not self.aliases:
            return [len(card[0]) + len(card[5]) + fixed for card in self.stock.cards]
        saved = {root: len(root) - len(alias) for root, alias in self.aliases.items()}
        owned = zip(self.stock.cards, self.owners, strict=True)
        return [len(card[0]) + len(card[5]) + fixed - saved.get(owner, 0) for card, owner in owned]

    def price(self, at: int, least: int) -> int:
        """Give what a name's line costs, with what separates it from the next."""
        return max(size(self.line(at, "")) + len(self.stock.form.between), least)

    def room(self, allowance: int, omitted: int = 0) -> int:
        """Give the bytes that are left for lines when so many skills may be left out."""
        form = self.stock.form
        return allowance - size(head(form, self.table)) - size(closing(form, max(omitted, 2) if omitted else 0)) + len(form.between)


class Plan(NamedTuple):
    """What a text will hold: places in the stock, in the order of the text, each with the characters of its description."""

    tier: str
    table: Table
    order: Sequence[int]
    shown: Sequence[int]
    lost: int = 0
    """Characters of descriptions that were cut for want of room."""
    left: int = 0
    """Bytes of the allowance that are not used."""
    core: int | None = None
    """How many of them come first whatever the task; all of them where no task was considered."""


class Row(NamedTuple):
    """One line of an old text: whose it is, how much of how long a description it shows, and its bytes."""

    path: str
    shown: int
    core: bool
    line: str


class Past(NamedTuple):
    """The old text, as far as it can be kept."""

    table: Table
    rows: Sequence[Row]


def sheet(stock: Stock, rows: Table) -> Sheet:
    """Put a stock on a sheet that has these aliases."""
    aliases = {root: alias for alias, root in rows}
    if not aliases:
        return Sheet(stock, (), (), {})
    owners = [home if home in aliases else card[13] for home, card in zip(homes(stock.cards), stock.cards, strict=True)]
    return Sheet(stock, rows, owners, aliases)


def fresh(stock: Stock, allowance: int) -> Plan:
    """Plan a text without a past."""
    plain = _planned(Sheet(stock, (), (), {}), allowance)
    if plain.tier == FULL:
        return plain
    owners = homes(stock.cards)
    rows = table(stock.form, owners)
    if not rows:
        return plain
    short = _planned(Sheet(stock, rows, owners, {root: alias for alias, root in rows}), allowance)
    return short if _worth(short) > _worth(plain) else plain


def _worth(plan: Plan) -> tuple[int, int, int]:
    return len(plan.order), -plan.lost, plan.left


def _planned(page: Sheet, allowance: int) -> Plan:
    least, room = page.least(), page.room(allowance)
    if sum(least) <= room:
        prices = [page.price(at, cost) for at, cost in enumerate(least)]
        if sum(prices) <= room:
            return _shared(page, range(len(prices)), {}, room - sum(prices))
    form = page.stock.form
    fees = {root: size(row(form, alias, root)) for alias, root in page.table}
    room = page.room(allowance, len(least)) + sum(fees.values())
    return _named(page, least, range(len(least)), room, fees)


def _named(page: Sheet, least: Sequence[int], order: Iterable[int], room: int, fees: dict[str, int]) -> Plan:
    """Take names in order; where `fees` are still to be paid, only the aliases that are used stay in the table."""
    lazily = bool(fees)
    taken, left = fitting(least, lambda at: page.price(at, least[at]), room, order, page.owners, fees)
    rows = tuple([pair for pair in page.table if pair[1] not in fees]) if lazily else page.table
    return Plan(NAMES if taken else NOTHING, rows if taken else (), taken, [0] * len(taken), 0, left)


def _shared(page: Sheet, order: Sequence[int], kept: dict[int, int], room: int) -> Plan:
    """Give every name, and of the descriptions what was kept or falls to them."""
    stock = page.stock
    texts = [stock.text(at) for at in range(len(stock.cards))]
    if not kept and _whole(stock.form, texts) <= room:  # the same answer as below, sooner
        return Plan(FULL, page.table, order, [len(texts[at]) for at in order], 0, room)
    prices = [0 if at in kept else costs(stock.form, text) for at, text in enumerate(texts)]
    shown = shares(prices, first_character(stock.form), room)
    for at, count in kept.items():
        shown[at] = count
    lost = sum(map(len, texts)) - sum(shown)
    return Plan(SHARED if lost else FULL, page.table, order, [shown[at] for at in order], lost, room)


def _whole(form: Form, texts: Iterable[str]) -> int:
    """Give what all descriptions cost in full, above the names."""
    escape, extra = ESCAPES[form.name], first_character(form) - form.empty
    return sum([size(escape(text)) + extra for text in texts if text])


def after(stock: Stock, allowance: int, past: Past) -> Plan:
    """Plan a text that keeps as much of the beginning of an old one as the rule above allows."""
    plan = fresh(stock, allowance)
    if plan.tier == NOTHING or not past.rows:
        return plan
    page = sheet(stock, past.table)
    least = page.least()
    index = {card[5]: at for at, card in enumerate(stock.cards)}
    if plan.tier == NAMES:
        order = _in_old_order([old for old in past.rows if old.core], index, len(least))
        found = _named(page, least, order, page.room(allowance, len(least)), {})
        return found if found.tier == NAMES else plan
    prices = [page.price(at, cost) for at, cost in enumerate(least)]
    room = page.room(allowance) - sum(prices)
    kept = _kept(page, prices, index, past, room) if plan.tier == SHARED else {}
    room -= sum(_extra(page, prices, at, count) for at, count in kept.items())
    found = _shared(page, _in_old_order(past.rows, index, len(least)), kept, room) if room >= 0 else plan
    return plan if plan.tier == FULL and found.tier != FULL else found


def _in_old_order(rows: Iterable[Row], index: dict[str, int], count: int) -> list[int]:
    first = dict.fromkeys([index[old.path] for old in rows if old.path in index])
    return [*first, *[at for at in range(count) if at not in first]]


def _extra(page: Sheet, prices: Sequence[int], at: int, count: int) -> int:
    """Give what a line costs with so much of its description, above the name alone."""
    whole = size(page.line(at, page.stock.text(at)[:count])) + len(page.stock.form.between)
    return max(whole - prices[at], 0)


def _kept(page: Sheet, prices: Sequence[int], index: dict[str, int], past: Past, room: int) -> dict[int, int]:
    """Give the places of the first old lines that can stay, each with the characters it shows."""
    kept: dict[int, int] = {}
    for old in past.rows:
        at = index.get(old.path)
        if at is None or at in kept or page.line(at, page.stock.text(at)[: old.shown]) != old.line:
            break
        room -= _extra(page, prices, at, old.shown)
        if room < 0:
            break
        kept[at] = old.shown
    return kept


def directed(stock: Stock, allowance: int, plan: Plan, ranked: Iterable[int]) -> Plan:
    """Fill the second half of the room with what fits a task, best first; the first half stays as it was without one.

    What remains after the best goes to names in the usual order, so that a skill that no task asks for is still seen.
    """
    page = sheet(stock, plan.table)
    least, between = page.least(), len(stock.form.between)
    room = page.room(allowance, len(least))
    core, used = 0, 0
    for at in plan.order:
        used += page.price(at, least[at])
        if used > room // 2:
            used -= page.price(at, least[at])
            break
        core += 1
    room -= used
    chosen = dict.fromkeys(plan.order[:core], 0)
    for at in ranked:
        text = stock.text(at)
        for shown, cost in ((len(text), size(page.line(at, text)) + between), (0, page.price(at, least[at]))):
            if at not in chosen and cost <= room:
                chosen[at] = shown
                room -= cost
    rest = [at for at in range(len(least)) if at not in chosen]
    more, left = fitting(least, lambda at: page.price(at, least[at]), room, rest, page.owners, {})
    order = [*chosen, *more]
    return plan._replace(order=order, shown=[chosen.get(at, 0) for at in order], left=left, core=core)

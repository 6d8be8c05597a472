"""Which skills a catalogue holds, in which order, and how much of each description. Pure: cards and a number of bytes in.

Without a past, one of three tiers holds (CX-53), and aliases are used only where something was cut and they help (CX-54):
`full`, everything; `shared`, every name and an even share of each description; `names`, names alone, in order, as many as fit.
A name's line is charged its bytes, or its characters as they were before cleaning when those are more. With a task, and only in
`names`, the lines that fill the first half of the room, the core, are those of the text without one (`directed`).

With a past, the beginning of the old text is kept, so that a model's cache of it stays good. The rule, to the letter:

1. The tier is the one that holds without a past.
2. The old opening is kept with its aliases. Skills that the old text lists come first, in its order, a changed one too; the others
   follow in the usual order. Of an old text that had a task, only the core counts in `names`.
3. In `full` every line is whole, and in `names` it is the name alone; so the old lines that still read so stay.
   In `shared` the first k old lines stay byte for byte, and the other descriptions share what is left evenly. k is the largest
   number such that each of those lines is still true (the present description begins with what it says), and that there is room
   for the first h characters, or all, of every other description, where h is half, rounded up, of the most that the text without
   a past shows of any. So no skill gets less than half of what it would get without a past.
4. With a task the core is that of the old text, if it had one, as long as all its skills are there and fit into the first half.
5. All this yields to the text without a past where
   - the first old line does not stay, or the tier cannot be had with the old opening;
   - an alias of the old opening is no longer used by any skill listed;
   - in `names`, fewer than 95% as many skills would be listed;
   - in `shared`, more than a quarter of the room for descriptions would be left empty while something is cut.

It follows that an unchanged library, with its own text for a past, gives the same bytes again.
"""

from __future__ import annotations

from metier.disclose.aliases import homes, place, table
from metier.disclose.forms import bare_size, charge, clean, closing, costs, first_character, head, line, row, size
from metier.disclose.layout import fitting, shares
from metier.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.disclose.forms import Form, Mark, Table
    from metier.model import Card

FULL, SHARED, NAMES, NOTHING = "full", "shared", "names", "nothing"
CHOSEN, USUAL, CORE = 0, 1, 2
"""Why a line is where it is: for a task, in the usual order where no task was considered, or there whatever the task."""
ENOUGH_NAMES = 95
"""Of a hundred skills that a text without a past would list, how many one with a past must."""
EMPTY_PARTS = 4
"""One part in so many of the room for descriptions may stay empty for the sake of the past."""
ALIAS_ROUNDS = 4
"""How often names are laid out anew because an alias found no use."""


class Stock(NamedTuple):
    """The skills that may be told, in the usual order, and how they are."""

    form: Form
    cards: Sequence[Card]
    silent: frozenset[str] | None = frozenset()
    """Categories whose skills are told by name alone (HE-25); `None`: all of them (ZE-37)."""
    marks: Mapping[str, Mark] = {}
    """What lines say beside name, description and place, by path."""

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
        return line(stock.form, clean(card.name), text, clean(where), stock.marks.get(card.path) if stock.marks else None)

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
    """What a text will hold: places in the stock, in the order of the text, each with the characters of its description.

    A skill that fits a task and is in the core has two lines, the second with its description.
    """

    tier: str
    table: Table
    order: Sequence[int]
    shown: Sequence[int]
    lost: int = 0
    """Characters of descriptions that were cut for want of room."""
    left: int = 0
    """Bytes of the allowance that are not used."""
    core: int | None = None
    """How many of the lines come first whatever the task; nothing where no task was considered."""


class Row(NamedTuple):
    """One line of an old text: whose it is, how much of a description it shows, why it is where it is, and its bytes."""

    path: str
    shown: int
    why: int
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


def planned(stock: Stock, allowance: int, past: Past, ranked: Sequence[int] = ()) -> Plan:
    """Plan the text that the rule above gives for these skills, so many bytes, a past, and what fits a task, best first."""
    plan = fresh(stock, allowance)
    if ranked and plan.tier == NAMES:
        plan = directed(sheet(stock, plan.table), allowance, plan, ranked)
    if plan.tier == NOTHING or not past.rows:
        return plan
    return _after(sheet(stock, past.table), allowance, past, ranked, plan) or plan


def fresh(stock: Stock, allowance: int) -> Plan:
    """Plan a text without a past."""
    plain = _planned(Sheet(stock, (), (), {}), allowance)
    if plain.tier == FULL:
        return plain
    short = _aliased(stock, allowance)
    return short if short and _worth(short) > _worth(plain) else plain


def _worth(plan: Plan) -> tuple[int, int, int]:
    return len(plan.order), -plan.lost, plan.left


def _aliased(stock: Stock, allowance: int) -> Plan | None:
    """Plan a text whose table holds only aliases that it uses; nothing when none is left."""
    rows = table(stock.form, homes(stock.cards))
    for _round in range(ALIAS_ROUNDS):
        if not rows:
            return None
        plan = _planned(sheet(stock, rows), allowance)
        if plan.table == rows:
            return plan
        rows = plan.table  # without a row, other skills may fit, and so other aliases be used
    return None


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
    """Give every name, and of the descriptions what was kept or falls to them; `room` is for all of them."""
    stock, form = page.stock, page.stock.form
    texts = [stock.text(at) for at in range(len(stock.cards))]
    whole = sum([charge(form, text) for text in texts]) if not kept else room + 1
    if whole <= room:  # the same answer as below, sooner
        return Plan(FULL, page.table, order, [len(texts[at]) for at in order], 0, room - whole)
    room -= sum([charge(form, texts[at][:count]) for at, count in kept.items()])
    prices = [0 if at in kept else costs(form, text) for at, text in enumerate(texts)]
    shown, left = shares(prices, first_character(form), room)
    for at, count in kept.items():
        shown[at] = count
    lost = sum(map(len, texts)) - sum(shown)
    return Plan(SHARED if lost else FULL, page.table, order, [shown[at] for at in order], lost, left)


def _after(page: Sheet, allowance: int, past: Past, ranked: Sequence[int], new: Plan) -> Plan | None:
    """Plan a text that keeps the beginning of an old one; nothing where the rule prefers `new`, the one without a past."""
    index = {card[5]: at for at, card in enumerate(page.stock.cards)}
    if new.tier == NAMES:
        found = _names_after(page, allowance, past, ranked, index)
        enough = 100 * len(set(found.order)) >= ENOUGH_NAMES * len(set(new.order))
    else:
        found = _texts_after(page, allowance, past, new, index)
        enough = found.tier == FULL or new.tier == SHARED
    return found if enough and _begins(page, found, past) and _all_used(page, found) else None


def _begins(page: Sheet, plan: Plan, past: Past) -> bool:
    """Tell whether a text begins with the first line of the old one."""
    if not plan.order:
        return False
    at, shown = plan.order[0], plan.shown[0]
    return page.line(at, page.stock.text(at)[:shown]) == past.rows[0].line


def _all_used(page: Sheet, plan: Plan) -> bool:
    used = {page.owners[at] for at in plan.order} if page.table else set()
    return all(root in used for _alias, root in page.table)


def _in_old_order(rows: Iterable[Row], index: dict[str, int], count: int) -> list[int]:
    first = dict.fromkeys([index[old.path] for old in rows if old.path in index])
    return [*first, *[at for at in range(count) if at not in first]]


def _names_after(page: Sheet, allowance: int, past: Past, ranked: Sequence[int], index: dict[str, int]) -> Plan:
    least = page.least()
    stays = [old for old in past.rows if old.why != CHOSEN]
    order = _in_old_order(stays, index, len(least))
    plan = _named(page, least, order, page.room(allowance, len(least)), {})
    if not ranked or plan.tier != NAMES:
        return plan
    pinned = all(old.why == CORE and old.path in index for old in stays)
    return directed(page, allowance, plan, ranked, len(stays) if pinned else None)


def _texts_after(page: Sheet, allowance: int, past: Past, new: Plan, index: dict[str, int]) -> Plan:
    nothing = Plan(NOTHING, (), (), ())
    prices = [page.price(at, cost) for at, cost in enumerate(page.least())]
    room = page.room(allowance) - sum(prices)
    kept = _kept(page, past, index, room, -(-max(new.shown) // 2)) if new.tier == SHARED else {}
    if room < 0 or (new.tier == SHARED and not kept):
        return nothing
    found = _shared(page, _in_old_order(past.rows, index, len(prices)), kept, room)
    return nothing if found.tier == SHARED and EMPTY_PARTS * found.left > room else found


def _kept(page: Sheet, past: Past, index: dict[str, int], room: int, half: int) -> dict[int, int]:
    """Give the places of the first old lines that can stay, each with the characters it shows; every other one is owed `half`."""
    stock, form = page.stock, page.stock.form
    owed = [charge(form, stock.text(at)[:half]) for at in range(len(stock.cards))]
    room -= sum(owed)
    kept: dict[int, int] = {}
    most = 0
    for old in past.rows:
        at = index.get(old.path)
        if at is None or at in kept or page.line(at, stock.text(at)[: old.shown]) != old.line:
            break
        kept[at] = old.shown
        room += owed[at] - charge(form, stock.text(at)[: old.shown])
        if room >= 0:  # one more line may cost less than what it is owed: a larger number can do where a smaller does not
            most = len(kept)
    return dict(list(kept.items())[:most])


def directed(page: Sheet, allowance: int, plan: Plan, ranked: Iterable[int], pinned: int | None = None) -> Plan:
    """Fill the second half of the room with what fits a task, best first; the first half stays as it was without one.

    A skill that fits and is in the first half by its name alone is told again with its description. What remains after the best
    goes to names in the usual order, so that a skill that no task asks for is still seen. `pinned` lines are the first half if
    they fit there.
    """
    stock, least, between = page.stock, page.least(), len(page.stock.form.between)
    room = page.room(allowance, len(least))
    core, used = _first_half(page, least, plan.order, room // 2, pinned)
    room -= used
    lines = dict.fromkeys(plan.order[:core], 0)
    chosen: dict[int, int] = {}
    for at in ranked:
        if least[at] <= room:
            text = stock.text(at)
            whole = size(page.line(at, text)) + between if text else room + 1
            name = page.price(at, least[at]) if at not in lines else room + 1
            if min(whole, name) <= room:
                chosen[at] = len(text) if whole <= room else 0
                room -= whole if whole <= room else name
    rest = [at for at in range(len(least)) if at not in lines and at not in chosen]
    more, left = fitting(least, lambda at: page.price(at, least[at]), room, rest, page.owners, {})
    shown = [*lines.values(), *chosen.values(), *([0] * len(more))]
    return plan._replace(order=[*lines, *chosen, *more], shown=shown, left=left, core=core)


def _first_half(page: Sheet, least: Sequence[int], order: Sequence[int], room: int, pinned: int | None) -> tuple[int, int]:
    """Count the first lines that fit into the room, none left out between them, and their bytes."""
    core, used = 0, 0
    for at in order[:pinned]:
        price = page.price(at, least[at])
        if used + price > room:
            return (core, used) if pinned is None else _first_half(page, least, order, room, None)
        core, used = core + 1, used + price
    return core, used

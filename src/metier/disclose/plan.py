"""Decides which skills a catalogue lists, in which order, and how much of each description, and
writes what changed since an earlier one. Pure.

Without a past, one of three tiers holds (CX-53), and aliases are used only where something was cut
and they help (CX-54): `full`, everything; `shared`, every name and an even share of each
description, written up to its last whole word; `names`, names alone, in order, as many as fit. A
name's line is charged its bytes, or its characters as they were before cleaning when those are
more. With a task, and only in `names`, the lines that fill the first half of the room, the core,
are those of the text without one (`direct_to_task`).

With a past, the beginning of the old text is kept, so that a model's cache of it stays good. The
rule, to the letter:

1. The tier is the one that holds without a past.
2. The old opening is kept with its aliases. Skills that the old text lists come first, in its
   order, a changed one too; the others follow in the usual order. Of an old text that had a task,
   only the core counts in `names`.
3. In `full` every line is whole, and in `names` it is the name alone; so the old lines that still
   read so stay. In `shared` the first k old lines stay byte for byte, and the other descriptions
   share what is left evenly. k is the largest number such that each of those lines is still true
   (the present description begins with what it says), and that there is room for the first h
   characters, or all, of every other description, where h is half, rounded up, of the most that the
   text without a past shows of any. So no skill gets less than half of what it would get without a
   past.
4. With a task the core is that of the old text, if it had one, as long as all its skills are there
   and fit into the first half.
5. All this yields to the text without a past where
   - the first old line does not stay, or the tier cannot be had with the old opening;
   - an alias of the old opening is no longer used by any skill listed;
   - in `names`, fewer than 95% as many skills would be listed;
   - in `shared`, more than a quarter of the room for descriptions would be left empty while
     something is cut.

It follows that an unchanged library, with its own text for a past, gives the same bytes again.

An update (`changes_since`) is a message by itself: lines of new and changed skills, and the names
of those gone (CX-57). Only what the model was told and is no longer so counts, and what it was not
told before. A description that was merely cut at another place, and a skill that is there but found
no room this time, are no news. A line has the whole path, and the description in full, up to a
limit. When no skill is left, it says so, but not where none ever was.
"""

from __future__ import annotations

from metier.disclose.formats import (
    ESCAPES,
    FORMS,
    alias_roots,
    alias_table,
    aliased_path,
    bare_size,
    charge,
    clean,
    closing,
    costs,
    cut_at_word,
    first_character,
    fitting,
    head,
    line,
    row,
    shares,
    size,
)
from metier.fast import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.disclose.formats import AliasTable, Form, LineMark
    from metier.disclose.prompt import Disclosure
    from metier.model import Card


FULL, SHARED, NAMES, NOTHING = "full", "shared", "names", "nothing"
CHOSEN = 0
USUAL = 1
CORE = 2
"""Why a line is where it is: for a task, in the usual order where no task was considered, or there
whatever the task."""
MIN_KEPT_NAMES_PERCENT = 95
"""Of a hundred skills that a text without a past would list, how many one with a past must."""
MAX_EMPTY_SHARE = 4
"""One part in so many of the room for descriptions may stay empty for the sake of the past."""
MAX_ALIAS_ROUNDS = 4
"""How often names are laid out anew because an alias found no use."""


class PromptSkills(NamedTuple):
    """The skills that may be told, in the usual order, and how they are."""

    form: Form
    cards: Sequence[Card]
    silent: frozenset[str] | None = frozenset()
    """Categories whose skills are told by name alone (HE-25); `None`: all of them (ZE-37)."""
    marks: Mapping[str, LineMark] = {}
    """What lines say beside name, description and place, by path."""

    def text(self, at: int) -> str:
        """Give the clean description of a skill, as far as it may be told."""
        card = self.cards[at]
        if self.silent is None or card.category in self.silent:
            return ""
        return clean(card.description)

    def file(self, at: int) -> str:
        """Give the path of the file that holds a skill's instructions."""
        card = self.cards[at]
        if card.kind != "skill-md":
            return card.path
        for note in card.diagnostics:  # a file in other letters than the standard's has one
            if note.path.lower() == "skill.md":  # (MT-26)
                return f"{card.path}/{note.path}"
        return f"{card.path}/SKILL.md"


class PromptLines(NamedTuple):
    """The skills of a prompt, and the aliases with which they are written."""

    skills: PromptSkills
    table: AliasTable
    owners: Sequence[str]
    aliases: dict[str, str]

    def line(self, at: int, text: str) -> str:
        """Write one skill with so much of its description."""
        skills = self.skills
        card = skills.cards[at]
        where = skills.file(at)
        if self.aliases:
            where = aliased_path(where, self.owners[at], self.aliases)
        return line(skills.form, clean(card.name), text, clean(where), skills.marks.get(card.path))

    def least(self) -> list[int]:
        """Give what each name's line costs at least."""
        fixed = bare_size(self.skills.form)
        least = [len(card.name) + len(card.path) + fixed for card in self.skills.cards]
        if not self.aliases:
            return least
        saved = {root: len(root) - len(alias) for root, alias in self.aliases.items()}
        return [cost - saved.get(owner, 0) for cost, owner in zip(least, self.owners, strict=True)]

    def price(self, at: int, least: int) -> int:
        """Give what a name's line costs, with what separates it from the next."""
        return max(size(self.line(at, "")) + len(self.skills.form.between), least)

    def room(self, allowance: int, omitted: int = 0) -> int:
        """Give the bytes that are left for lines when so many skills may be left out."""
        form = self.skills.form
        return (
            allowance
            - size(head(form, self.table))
            - size(closing(form, max(omitted, 2) if omitted else 0))
            + len(form.between)
        )


class CataloguePlan(NamedTuple):
    """What a text will hold: places among the skills, in the order of the text, each with the
    characters of its description.

    A skill that fits a task and is in the core has two lines, the second with its description.
    """

    tier: str
    table: AliasTable
    order: Sequence[int]
    shown: Sequence[int]
    lost: int = 0
    """Characters of descriptions that were cut for want of room."""
    left: int = 0
    """Bytes of the allowance that are not used."""
    core: int | None = None
    """How many of the lines come first whatever the task; nothing where no task was considered."""


class OldLine(NamedTuple):
    """One line of an old text: whose it is, how much of a description it shows, why it is where it
    is, and its bytes.
    """

    path: str
    shown: int
    why: int
    line: str


class OldCatalogue(NamedTuple):
    """The old text, as far as it can be kept."""

    table: AliasTable
    rows: Sequence[OldLine]


def lines_with(skills: PromptSkills, rows: AliasTable) -> PromptLines:
    """Write skills with these aliases."""
    aliases = {root: alias for alias, root in rows}
    if not aliases:
        return PromptLines(skills, (), (), {})
    owners = [
        home if home in aliases else card.root
        for home, card in zip(alias_roots(skills.cards), skills.cards, strict=True)
    ]
    return PromptLines(skills, rows, owners, aliases)


def may_hold_all(skills: PromptSkills, allowance: int) -> bool:
    """Tell whether a text without aliases could hold every skill, by what each costs at least."""
    page = lines_with(skills, ())
    return sum(page.least()) <= page.room(allowance)


def plan_catalogue(
    skills: PromptSkills, allowance: int, past: OldCatalogue, ranked: Sequence[int] = ()
) -> CataloguePlan:
    """Plan the text that the rule above gives for these skills, so many bytes, a past, and what
    fits a task, best first.
    """
    plan = plan_fresh(skills, allowance)
    if ranked and plan.tier == NAMES:
        plan = direct_to_task(lines_with(skills, plan.table), allowance, plan, ranked)
    if plan.tier == NOTHING or not past.rows:
        return plan
    return _after(lines_with(skills, past.table), allowance, past, ranked, plan) or plan


def plan_fresh(skills: PromptSkills, allowance: int) -> CataloguePlan:
    """Plan a text without a past."""
    plain = _plan_tier(lines_with(skills, ()), allowance)
    if plain.tier == FULL:
        return plain
    short = _plan_aliased(skills, allowance)
    return short if short and _worth(short) > _worth(plain) else plain


def _worth(plan: CataloguePlan) -> tuple[int, int, int]:
    return len(plan.order), -plan.lost, plan.left


def _plan_aliased(skills: PromptSkills, allowance: int) -> CataloguePlan | None:
    """Plan a text whose table holds only aliases that it uses; nothing when none is left."""
    rows = alias_table(skills.form, alias_roots(skills.cards))
    for _round in range(MAX_ALIAS_ROUNDS):
        if not rows:
            return None
        plan = _plan_tier(lines_with(skills, rows), allowance)
        if plan.table == rows:
            return plan
        rows = plan.table  # without a row, other skills may fit, and so other aliases be used
    return None


def _plan_tier(page: PromptLines, allowance: int) -> CataloguePlan:
    least = page.least()
    room = page.room(allowance)
    if sum(least) <= room:
        room -= sum(page.price(at, cost) for at, cost in enumerate(least))
        if room >= 0:
            return _shared(page, range(len(least)), {}, room)
    form = page.skills.form
    fees = {root: size(row(form, alias, root)) for alias, root in page.table}
    room = page.room(allowance, len(least)) + sum(fees.values())
    return _named(page, least, range(len(least)), room, fees)


def _named(
    page: PromptLines, least: Sequence[int], order: Iterable[int], room: int, fees: dict[str, int]
) -> CataloguePlan:
    """Take names in order; where `fees` are still to be paid, only the aliases that are used stay
    in the table.
    """
    taken, left = _fitting(page, least, room, order, fees)
    if not taken:
        return CataloguePlan(NOTHING, (), taken, [], 0, left)
    rows = tuple([pair for pair in page.table if pair[1] not in fees])
    return CataloguePlan(NAMES, rows, taken, [0] * len(taken), 0, left)


def _fitting(
    page: PromptLines,
    least: Sequence[int],
    room: int,
    order: Iterable[int],
    fees: dict[str, int],
) -> tuple[list[int], int]:
    return fitting(least, lambda at: page.price(at, least[at]), room, order, page.owners, fees)


def _shared(
    page: PromptLines, order: Sequence[int], kept: dict[int, int], room: int
) -> CataloguePlan:
    """Give every name, and of the descriptions what was kept or falls to them; `room` is for all of
    them.
    """
    skills = page.skills
    form = page.skills.form
    texts = [skills.text(at) for at in range(len(skills.cards))]
    if not kept:
        whole = sum([charge(form, text) for text in texts])
        if whole <= room:  # the same answer as below, sooner
            shown = [len(texts[at]) for at in order]
            return CataloguePlan(FULL, page.table, order, shown, 0, room - whole)
    room -= sum([charge(form, texts[at][:count]) for at, count in kept.items()])
    prices = [0 if at in kept else costs(form, text) for at, text in enumerate(texts)]
    shown, left = shares(prices, first_character(form), room)
    for at, count in kept.items():
        shown[at] = count
    lost = sum(map(len, texts)) - sum(shown)
    tier = SHARED if lost else FULL
    return CataloguePlan(tier, page.table, order, [shown[at] for at in order], lost, left)


def _after(
    page: PromptLines, allowance: int, past: OldCatalogue, ranked: Sequence[int], new: CataloguePlan
) -> CataloguePlan | None:
    """Plan a text that keeps the beginning of an old one; nothing where the rule prefers `new`, the
    one without a past.
    """
    index = {card.path: at for at, card in enumerate(page.skills.cards)}
    if new.tier == NAMES:
        found = _names_after(page, allowance, past, ranked, index)
        enough = 100 * len(set(found.order)) >= MIN_KEPT_NAMES_PERCENT * len(set(new.order))
    else:
        found = _texts_after(page, allowance, past, new, index)
        enough = found.tier == FULL or new.tier == SHARED
    return found if enough and _begins(page, found, past) and _all_used(page, found) else None


def _begins(page: PromptLines, plan: CataloguePlan, past: OldCatalogue) -> bool:
    """Tell whether a text begins with the first line of the old one."""
    if not plan.order:
        return False
    at = plan.order[0]
    shown = plan.shown[0]
    return page.line(at, cut_at_word(page.skills.text(at), shown)) == past.rows[0].line


def _all_used(page: PromptLines, plan: CataloguePlan) -> bool:
    return not page.table or page.aliases.keys() <= {page.owners[at] for at in plan.order}


def _in_old_order(rows: Iterable[OldLine], index: dict[str, int], count: int) -> list[int]:
    first = [index[old.path] for old in rows if old.path in index]
    return list(dict.fromkeys([*first, *range(count)]))


def _names_after(
    page: PromptLines,
    allowance: int,
    past: OldCatalogue,
    ranked: Sequence[int],
    index: dict[str, int],
) -> CataloguePlan:
    least = page.least()
    stays = [old for old in past.rows if old.why != CHOSEN]
    order = _in_old_order(stays, index, len(least))
    plan = _named(page, least, order, page.room(allowance, len(least)), {})
    if not ranked or plan.tier != NAMES:
        return plan
    pinned = all(old.why == CORE and old.path in index for old in stays)
    return direct_to_task(page, allowance, plan, ranked, len(stays) if pinned else None)


def _texts_after(
    page: PromptLines, allowance: int, past: OldCatalogue, new: CataloguePlan, index: dict[str, int]
) -> CataloguePlan:
    nothing = CataloguePlan(NOTHING, (), (), ())
    prices = [page.price(at, cost) for at, cost in enumerate(page.least())]
    room = page.room(allowance) - sum(prices)
    kept = _kept(page, past, index, room, -(-max(new.shown) // 2)) if new.tier == SHARED else {}
    if room < 0 or (new.tier == SHARED and not kept):
        return nothing
    found = _shared(page, _in_old_order(past.rows, index, len(prices)), kept, room)
    return nothing if found.tier == SHARED and MAX_EMPTY_SHARE * found.left > room else found


def _kept(
    page: PromptLines, past: OldCatalogue, index: dict[str, int], room: int, half: int
) -> dict[int, int]:
    """Give the places of the first old lines that can stay, each with the characters it shows;
    every other one is owed `half`.
    """
    skills = page.skills
    form = page.skills.form
    owed = [charge(form, skills.text(at)[:half]) for at in range(len(skills.cards))]
    room -= sum(owed)
    kept: dict[int, int] = {}
    most = 0
    for old in past.rows:
        at = index.get(old.path)
        if (
            at is None
            or at in kept
            or page.line(at, cut_at_word(skills.text(at), old.shown)) != old.line
        ):
            break
        kept[at] = old.shown
        room += owed[at] - charge(form, skills.text(at)[: old.shown])
        # one more line may cost less than what it is owed: a larger number can do where a smaller
        # does not
        if room >= 0:
            most = len(kept)
    return dict(list(kept.items())[:most])


def direct_to_task(
    page: PromptLines,
    allowance: int,
    plan: CataloguePlan,
    ranked: Iterable[int],
    pinned: int | None = None,
) -> CataloguePlan:
    """Fill the second half of the room with what fits a task, best first; the first half stays as
    it was without one.

    A skill that fits and is in the first half by its name alone is told again with its description.
    What remains after the best goes to names in the usual order, so that a skill that no task asks
    for is still seen. `pinned` lines are the first half if they fit there.
    """
    skills = page.skills
    least = page.least()
    between = len(page.skills.form.between)
    room = page.room(allowance, len(least))
    core, used = _first_half(page, least, plan.order, room // 2, pinned)
    room -= used
    lines = dict.fromkeys(plan.order[:core], 0)
    chosen: dict[int, int] = {}
    for at in ranked:
        if least[at] <= room:
            text = skills.text(at)
            whole = size(page.line(at, text)) + between if text else room + 1
            name = page.price(at, least[at]) if at not in lines else room + 1
            if min(whole, name) <= room:
                chosen[at] = len(text) if whole <= room else 0
                room -= whole if whole <= room else name
    rest = [at for at in range(len(least)) if at not in lines and at not in chosen]
    more, left = _fitting(page, least, room, rest, {})
    shown = [*lines.values(), *chosen.values(), *([0] * len(more))]
    return plan._replace(order=[*lines, *chosen, *more], shown=shown, left=left, core=core)


def _first_half(
    page: PromptLines, least: Sequence[int], order: Sequence[int], room: int, pinned: int | None
) -> tuple[int, int]:
    """Count the first lines that fit into the room, none left out between them, and their bytes."""
    used = 0
    for core, at in enumerate(order[:pinned]):
        price = page.price(at, least[at])
        if used + price > room:
            return (core, used) if pinned is None else _first_half(page, least, order, room, None)
        used += price
    return len(order[:pinned]), used


# --- what changed since an earlier catalogue

NONE_LEFT = "No skills are currently available."
MAX_NEWS_CHARS = 1_024
"""Characters of a description that one line may have."""


def recall(previous: Disclosure) -> OldCatalogue:
    """Take an earlier catalogue apart into its lines; one that is not what it says it is has
    none.
    """
    table = tuple(previous.aliases.items())
    opening = head(FORMS[previous.format], table)
    lines = previous.text[len(opening) :].split("\n")
    if not previous.text.startswith(opening) or not 0 < len(previous.rows) <= len(lines):
        return OldCatalogue((), ())
    found = [
        OldLine(str(path), int(shown), int(why), line.removesuffix(","))
        for (_name, path, shown, _length, why), line in zip(previous.rows, lines, strict=False)
    ]
    return OldCatalogue(table, found)


def changes_since(previous: Disclosure, skills: PromptSkills, plan: CataloguePlan) -> str:
    """Write what is new, changed or gone since an earlier catalogue; nothing when nothing is."""
    if not skills.cards:
        return _closed(skills.form, NONE_LEFT) if previous.text else ""
    names = {card.name for card in skills.cards}
    gone = dict.fromkeys([clean(str(row[0])) for row in previous.rows if row[0] not in names])
    page = lines_with(skills, ())  # whole paths: a message by itself has no table of aliases
    lines = [
        page.line(at, cut_at_word(skills.text(at), MAX_NEWS_CHARS))
        for at in _news(previous, skills, plan)
    ]
    return _update(skills.form, lines, list(gone))


def _news(previous: Disclosure, skills: PromptSkills, plan: CataloguePlan) -> list[int]:
    """Give the skills that the text lists and the earlier one did not, and those of which it said
    what is no longer so.
    """
    past = recall(previous)
    said = {
        str(row[1]): (int(row[2]), int(row[3]), "") for row in previous.rows
    }  # of two lines the later one, which says more
    said.update({old.path: (*said[old.path][:2], old.line) for old in past.rows})
    page = lines_with(skills._replace(form=FORMS[previous.format]), past.table)
    listed = dict.fromkeys(plan.order)
    news = [at for at in listed if _differs(page, at, said.get(skills.cards[at].path))]
    if len(listed) == len(skills.cards):
        return news
    # What finds no room this time is no news, unless what was said of it is wrong, or it is no
    # longer where it was.
    paths = {card.path for card in skills.cards}
    moved = {row[0] for row in previous.rows if row[1] not in paths}
    for at, card in enumerate(skills.cards):
        if at not in listed:
            known = said.get(card.path)
            if _differs(page, at, known) if known else card.name in moved:
                news.append(at)
    return news


def _differs(page: PromptLines, at: int, said: tuple[int, int, str] | None) -> bool:
    """Tell whether a line is no longer true. One that shows less than there was to show says
    nothing about the rest.
    """
    if said is None:
        return True
    shown, length, line = said
    text = clean(page.skills.cards[at].description)
    return page.line(at, cut_at_word(text, shown)) != line or (shown == length != len(text))


def _update(form: Form, lines: Sequence[str], gone: Sequence[str]) -> str:
    escape = ESCAPES[form.name]
    names = [escape(name) for name in gone]
    if not lines and not names:
        return ""
    if form.name == "json":
        return f'{{"changed":[{form.between.join(lines)}],"removed":[{",".join(names)}]}}'
    if form.name == "xml":
        removed = [f"<removed>{name}</removed>" for name in names]
        return "\n".join(["<skills_update>", *lines, *removed, "</skills_update>"])
    told = ["Skills added or changed:", *lines] if lines else []
    if names:
        told += ["Skills no longer available:", *(f"- {name}" for name in names)]
    return "\n".join(told)


def _closed(form: Form, text: str) -> str:
    if form.name == "json":
        return f'{{"note":"{text}"}}'
    return f"<skills_update>{text}</skills_update>" if form.name == "xml" else text

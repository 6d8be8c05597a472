"""Writes the catalogue that tells a model which skills there are, within a token budget, and
reports what was left out.

The budget covers the whole text: tags, aliases and closing remark too, and with `whole` also the
instructions that follow it, which are shorter where it is small. It is kept in bytes where
tokens are estimated; an exact counter is asked about finished texts: the bytes allowed are doubled
while one fits, and then narrowed down.
"""

from __future__ import annotations

from functools import partial

from metier.disclose import offer
from metier.disclose.formats import FORMS, LineMark, clean, closing, cut_at_word, head
from metier.disclose.plan import (
    CHOSEN,
    CORE,
    FULL,
    NOTHING,
    SHARED,
    USUAL,
    CataloguePlan,
    OldCatalogue,
    PromptSkills,
    changes_since,
    lines_with,
    may_hold_all,
    plan_catalogue,
    recall,
)
from metier.errors import UsageError, closest
from metier.fast import TYPE_CHECKING, NamedTuple
from metier.standard.plain_text import BYTES_PER_TOKEN, Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from metier.context import Context
    from metier.disclose.formats import AliasTable
    from metier.model import Card, JsonObject, Texts, Why
    from metier.ports import Counter, Ranker
    from metier.settings.model import PromptSettings


MIN_USES = 5
"""Fewer uses say nothing about how well a skill does (ZE-37)."""
MIN_CUT_CHARS_TO_WARN = 100
"""Characters cut from each description, on average over all skills, above which it is worth a
warning (CX-55)."""
MAX_REWRITES = 12
"""How often a text is written anew to please an exact counter, once it is known how many bytes are
too many."""
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
BRIEF_INSTRUCTIONS = """Before you use a skill, read its file completely. Relative paths in it start from its folder.
"""
"""What a model is told where all of it would take too much of a budget."""
INSTRUCTIONS_SHARE = 3
"""Instructions take no more than one part in so many of a budget that covers them too."""
EXCEEDED = "Exceeded skills context budget."
SHORTENED = (
    "Skill descriptions were shortened to fit the skills context budget. Every skill is still "
    "listed, but some descriptions are "
    "cut: disable skills that you do not use, to leave more room for the others."
)
WHOLE_DELTA = (
    "What changed takes more than the skills context budget, so all of the catalogue is told again."
)
NO_DELTA = "What changed takes more than the skills context budget, so nothing is told of it."
ALIASED = (
    "- A location that begins with an alias such as r0 lies below the folder that the alias "
    "stands for.\n"
)


_ROW = (str, str, int, int, int)
_KEPT = {
    "text": str,
    "format": str,
    "aliases": dict,
    "rows": list,
    "tokens": int,
    "budget": int,
    "room": int,
}
"""What of an earlier catalogue a later one needs."""


class Disclosure(NamedTuple):
    """A catalogue for a model, and what it leaves out."""

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
    """What the next text needs to keep its beginning: of each line the skill's name and path, the
    characters shown of its description, the characters that it has, and why the line is where it
    is: 1 in the usual order, or with a task 2 in the part that does not depend on it and 0 in the
    other. A skill that is in the first part and fits the task has a line in both."""
    unready: list[str]
    """Names of the skills in the text that are not ready to be used."""
    room: int
    """Bytes that an exact counter was found to allow; 0 where tokens are estimated."""

    @property
    def printed(self) -> str:
        """Give the text with the instructions, as a prompt has them."""
        return _printed(self.text, self.instructions)


def _printed(text: str, instructions: str) -> str:
    if not text:
        return ""
    return f"{text}\n\n{instructions}" if instructions else f"{text}\n"


class PromptOptions(NamedTuple):
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
    whole: bool = False
    """Whether the budget is for all that a prompt has: the instructions, and what changed, too."""
    instructions: str = INSTRUCTIONS
    """What follows the text."""

    def count(self, text: str) -> int:
        """Count tokens, exactly where there is a counter for that."""
        return (self.counter or Estimate()).count(text)


class WrittenCatalogue(NamedTuple):
    """A plan, its text, and the bytes that it was given."""

    plan: CataloguePlan
    text: str
    room: int


NO_CATALOGUE = WrittenCatalogue(CataloguePlan(NOTHING, (), (), ()), "", 0)


def order_for_prompt(cards: Sequence[Card], scopes: Sequence[str]) -> list[Card]:
    """Sort cards for a prompt: by scope, then by name, then by path (CX-53)."""
    found = {card.scope for card in cards}
    known = [*scopes, *sorted(found.difference(scopes))]
    result: list[Card] = []
    for scope in known:
        group = [card for card in cards if card.scope == scope]
        if len({card.name for card in group}) < len(group):
            group.sort(key=lambda card: card.path)
        result += sorted(group, key=lambda card: card.name)
    return result


def disclose(
    cards: Sequence[Card], options: PromptOptions, previous: Disclosure | None = None
) -> Disclosure:
    """Tell of visible cards, already in order; with a previous text, keep as much of its beginning
    as can be.
    """
    skills = PromptSkills(
        FORMS[options.format],
        cards,
        None if options.compact else options.silent,
        _marks(cards, options.stats),
    )
    written = _write(skills, options, previous) if cards else NO_CATALOGUE
    if options.whole and written.plan.tier != FULL:
        chosen = _choose_instructions(options)
        if cards and chosen.instructions != options.instructions:
            written = _write(skills, chosen, previous)
        options = chosen
    delta = changes_since(previous, skills, written.plan) if previous else ""
    made = _report(skills, written, options)._replace(delta=delta)
    return _fit_delta(made, options) if options.whole else made


def _fit_delta(made: Disclosure, options: PromptOptions) -> Disclosure:
    """Tell the whole catalogue in the place of what changed, where that takes more than the
    budget.
    """
    if not made.delta or options.count(f"{made.delta}\n") <= options.budget:
        return made
    if made.text and options.count(f"{made.text}\n") <= options.budget:
        return made._replace(delta=made.text, warnings=[*made.warnings, WHOLE_DELTA])
    return made._replace(delta="", warnings=[*made.warnings, NO_DELTA])


def _choose_instructions(options: PromptOptions) -> PromptOptions:
    """Choose what follows a text that does not hold everything, where the budget covers it too: as
    much as leaves the skills most of the room.
    """
    most = options.budget // INSTRUCTIONS_SHARE
    fitting = (
        text
        for text in (INSTRUCTIONS, BRIEF_INSTRUCTIONS)
        if options.count(f"\n\n{text}{ALIASED}") <= most
    )
    return options._replace(instructions=next(fitting, ""))


def _instructions(options: PromptOptions, table: AliasTable) -> str:
    return options.instructions + (ALIASED if table and options.instructions else "")


def _marks(cards: Sequence[Card], stats: Mapping[str, tuple[int, int]]) -> dict[str, LineMark]:
    """Say what a model should know before it starts: which skills are not ready, and how well
    others did so far.
    """
    found = {card.path: LineMark(card.readiness) for card in cards if card.readiness in UNREADY}
    for card in cards if stats else ():
        uses, percent = stats.get(card.name, (0, 0))
        if uses >= MIN_USES:
            mark = found.get(card.path, LineMark())
            found[card.path] = mark._replace(uses=_step(uses), percent=percent // 10 * 10)
    return found


def _step(uses: int) -> int:
    """Round down to 5, 10, 20, 50, 100 and so on: a line that changed with every use would cost the
    model's cache each time.
    """
    step = MIN_USES
    while 10 * step <= uses:
        step *= 10
    return next(times * step for times in (4, 2, 1) if times * step <= uses)


def previous_from_json(value: Any) -> Disclosure | None:
    """Give an earlier catalogue back from its JSON, as far as a later one needs it; nothing when
    that is something else.
    """
    if not isinstance(value, dict):
        return None
    found = {"tokens": 0, "budget": 0, "room": 0, **value}
    if not all(isinstance(found.get(key), kind) for key, kind in _KEPT.items()):
        return None
    sound = found["format"] in FORMS and all(
        isinstance(part, str) for pair in found["aliases"].items() for part in pair
    )
    if not sound or not all(map(_is_row, found["rows"])):
        return None
    return Disclosure(
        text=found["text"],
        tokens=found["tokens"],
        included=len({path for _name, path, *_rest in found["rows"]}),
        shortened=0,
        omitted=[],
        instructions="",
        cut=[],
        warnings=[],
        format=found["format"],
        budget=found["budget"],
        delta="",
        aliases=found["aliases"],
        rows=found["rows"],
        unready=[],
        room=max(found["room"], 0),
    )


def _is_row(row: object) -> bool:
    sound = isinstance(row, list) and len(row) == len(_ROW) and all(map(isinstance, row, _ROW))
    return sound and row[2] >= 0  # type: ignore[index]


def _write(
    skills: PromptSkills, options: PromptOptions, previous: Disclosure | None
) -> WrittenCatalogue:
    """Write the text that makes the most of the budget and does not exceed it."""
    past = OldCatalogue((), ())
    if previous is not None and previous.format == options.format:
        past = recall(previous)
    ranked = _ranked(skills, options) if options.task.strip() else []

    def write(room: int) -> WrittenCatalogue:
        plan = plan_catalogue(skills, room, past, ranked)
        return WrittenCatalogue(plan, _text(skills, plan), room)

    allowance = options.budget * BYTES_PER_TOKEN
    if options.counter is None:
        return _fit_estimate(write, partial(may_hold_all, skills), options, allowance)
    if previous is not None and previous.room and previous.budget == options.budget:
        same = write(previous.room)
        if (
            same.text == previous.text
            and options.count(same.text) == previous.tokens
            and _cost(same, options) <= options.budget
        ):
            return same  # nothing has changed: another search might end elsewhere
    return _fit_exact_counter(write, options, allowance)


def _cost(written: WrittenCatalogue, options: PromptOptions) -> int:
    """Count what a text takes of the budget."""
    if not options.whole:
        return options.count(written.text)
    return options.count(_printed(written.text, _instructions(options, written.plan.table)))


def _fit_estimate(
    write: Callable[[int], WrittenCatalogue],
    may_fit: Callable[[int], bool],
    options: PromptOptions,
    allowance: int,
) -> WrittenCatalogue:
    """Write the text in the bytes that what is printed beside it leaves.

    All of it or with the sentence about aliases kept free: which of both depends on nothing but
    whether everything fits, so that the same library gives the same text again.
    """
    if not options.whole:
        return write(allowance)

    def beside(table: AliasTable) -> int:
        return len(_printed("-", _instructions(options, table)).encode()) - 1

    most = max(allowance - beside(()), 0)
    if may_fit(most):
        made = write(most)
        if made.plan.tier == FULL and not made.plan.table:
            return made
    return write(max(allowance - beside((("r0", "/"),)), 0))


def _fit_exact_counter(
    write: Callable[[int], WrittenCatalogue], options: PromptOptions, allowance: int
) -> WrittenCatalogue:
    """Find the bytes in which a text pleases an exact counter: everything if it fits, else about as
    many as it lets in.
    """
    best = NO_CATALOGUE
    made = write(allowance)
    while _cost(made, options) <= options.budget:
        best = made
        if made.plan.tier == FULL:
            return best
        made = write(2 * made.room)
    high = made.room
    for _step in range(MAX_REWRITES):
        if high - best.room <= BYTES_PER_TOKEN:
            break
        made = write((best.room + high) // 2)
        if _cost(made, options) <= options.budget:
            best = made
            if made.plan.tier == FULL:
                break
        else:
            high = made.room
    return best


def _ranked(skills: PromptSkills, options: PromptOptions) -> list[int]:
    ranker = options.ranker
    if ranker is None:
        from metier.find.word_ranker import WordRanker

        ranker = WordRanker()
    index = {card.path: at for at, card in enumerate(skills.cards)}
    found = [index.get(card.path) for card in ranker.rank(options.task, skills.cards)]
    return list(dict.fromkeys(at for at in found if at is not None))


def _text(skills: PromptSkills, plan: CataloguePlan) -> str:
    if not plan.order:
        return ""
    page = lines_with(skills, plan.table)
    form = skills.form
    lines = [
        page.line(at, cut_at_word(skills.text(at), shown) if shown else "")
        for at, shown in zip(plan.order, plan.shown, strict=True)
    ]
    return (
        head(form, plan.table)
        + form.between.join(lines)
        + closing(form, len(skills.cards) - len(set(plan.order)))
    )


def _report(skills: PromptSkills, written: WrittenCatalogue, options: PromptOptions) -> Disclosure:
    """Say what a text holds and what not."""
    cards = skills.cards
    plan = written.plan
    text = written.text
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
    return Disclosure(
        text=text,
        tokens=options.count(text) if text else 0,
        included=len(listed),
        shortened=len(cut),
        omitted=[card.name for at, card in enumerate(cards) if at not in listed],
        instructions=_instructions(options, plan.table) if text else "",
        cut=cut,
        warnings=_warnings(plan, len(cards), options),
        format=options.format,
        budget=options.budget,
        delta="",
        aliases=dict(plan.table),
        rows=rows,
        unready=[cards[at].name for at in listed if cards[at].readiness in UNREADY],
        room=written.room if options.counter else 0,
    )


def _warnings(plan: CataloguePlan, count: int, options: PromptOptions) -> list[str]:
    """Say what the budget cost, in the words that hosts know (CX-55)."""
    missing = count - len(set(plan.order))
    if not count:
        return []
    if not plan.order:
        tokens = "1 token" if options.budget == 1 else f"{options.budget:,} tokens"
        too_small = f"A skills context budget of {tokens} is too small for any skill"
        return [f"{too_small}: none is told to the model."]
    if missing:
        removed = "All skill descriptions"
        if any(plan.shown):
            removed = "Skill descriptions, except those that fit the task,"
        were = "skill was" if missing == 1 else "skills were"
        left_out = f"{missing} additional {were} not included in the model-visible skills list."
        return [f"{EXCEEDED} {removed} were removed and {left_out}"]
    if plan.tier == SHARED and -(-plan.lost // count) > MIN_CUT_CHARS_TO_WARN:
        return [SHORTENED]
    return []


# --- from a library to its catalogue: cards, budget, form

DEFAULT_BUDGET_TOKENS = 2_000
"""Tokens when nothing else is known."""
MAX_CONFIGURED_TOKENS = 10_000
"""The most tokens that configuration may give (CX-52)."""
WINDOW_PERCENT = 2
"""Of a hundred tokens of the window, how many are for skills when nobody says otherwise (CX-52)."""
HUNDRED = 100
MAX_BUDGET_DIGITS = 12
"""Of a budget in tokens, more than any model's window has."""
SMALL_WINDOW_TOKENS = 8_192
"""Tokens of a window below which skills are told by name alone (ZE-37)."""
PROMPT_MODES = ("auto", "full", "compact")


class PromptRequest(NamedTuple):
    """What is asked of a catalogue."""

    budget: int | str | None = None
    """Tokens, or a share of the window such as `2%`."""
    window: int = 0
    format: str = ""
    mode: str = "auto"
    task: str = ""
    previous: Disclosure | JsonObject | None = None
    """An earlier catalogue, or what `--json` gave of it."""
    whole: bool = False
    """Whether the budget is for all that a prompt has: the instructions, and what changed, too."""
    judged: bool = True
    """Whether only what was judged is told of: always, but for a person who asks about the budget."""


def catalogue(context: Context, request: PromptRequest) -> Disclosure:
    """Tell a model of the visible skills."""
    prompt = context.settings.prompt
    form = _one_of("format", request.format or prompt.format, tuple(FORMS))
    mode = _one_of("mode", request.mode, PROMPT_MODES)
    window = request.window or prompt.window
    if window < 0:
        raise UsageError(
            f"a window of {window} tokens cannot be",
            hint="give the model's context in tokens, such as 200000",
        )
    budget = budget_of(request.budget, window, prompt)
    choose = offer.offered_cards if request.judged else offer.expected_cards
    cards = choose(context) if prompt.include else []
    compact = mode == "compact" or (mode == "auto" and 0 < window < SMALL_WINDOW_TOKENS)
    options = PromptOptions(
        budget=budget,
        format=form,
        compact=compact,
        silent=frozenset(prompt.names_only),
        task=request.task,
        ranker=_ranker(context, request),
        counter=context.counter,
        whole=request.whole,
    )
    if prompt.reliability:
        from metier.usage import counter

        options = options._replace(stats=counter.run_stats(context))
    made = disclose(order_for_prompt(cards, prompt.order), options, _previous(request.previous))
    # As `offer.missing_note` says it, without reading again what the cards were made from.
    note = context.catalogue.cut_note()
    note = context.machine.doubt or note
    return made._replace(warnings=[*made.warnings, note]) if note else made


def _ranker(context: Context, request: PromptRequest) -> Ranker | None:
    """Give what chooses skills for a task: without a task nothing of it is loaded."""
    if context.ranker is not None or not request.task.strip():
        return context.ranker
    from metier.find.service import IndexRanker

    return IndexRanker(context)


def _previous(given: object) -> Disclosure | None:
    """Take an earlier catalogue as it was, or as its JSON."""
    if given is None or isinstance(given, Disclosure):
        return given
    found = previous_from_json(given)
    if found is None:
        hint = (
            "give what an earlier catalogue() returned, or the whole document of metier prompt "
            "--json"
        )
        raise UsageError("that is no earlier catalogue", hint=hint)
    return found


def with_budget(context: Context, answer: Why, told: Disclosure | None = None) -> Why:
    """Add to an explanation what keeps the copy that a name means out of a prompt: visible skills
    can be cut for want of room. `told` is a catalogue made before, where there is one.
    """
    reason = _kept_out(context, answer.chosen or "", told)
    if not reason:
        return answer
    return answer._replace(
        candidates=tuple(
            one._replace(reasons=(*one.reasons, reason))
            if one.path == answer.chosen and one.state == "visible"
            else one
            for one in answer.candidates
        )
    )


def _kept_out(context: Context, path: str, told: Disclosure | None) -> str:
    if not context.settings.prompt.include:
        return "no model is told of it: prompt.include = false in the configuration"
    told = told or catalogue(context, PromptRequest(judged=False))
    budget = f"the prompt's budget of {told.budget:,} tokens"
    listed = {row[1]: row for row in reversed(told.rows)}
    if path not in listed:
        return f"left out of the catalogue by {budget}; it can still be searched for"
    _name, _path, shown, length, _why = listed[path]
    if shown == length:
        return ""
    if 0 < context.settings.prompt.window < SMALL_WINDOW_TOKENS:
        return f"told by its name alone: the window is smaller than {SMALL_WINDOW_TOKENS:,} tokens"
    category = next(
        (card.category for card in context.catalogue.contents().cards if card.path == path), ""
    )
    if category and category in context.settings.prompt.names_only:
        return f"told by its name alone: prompt.names_only has its category {category}"
    return f"its description is shortened by {budget}"


def budget_of(asked: int | str | None, window: int, prompt: PromptSettings) -> int:
    """Give the tokens that a catalogue may cost."""
    if asked is None and prompt.budget:
        return min(prompt.budget, MAX_CONFIGURED_TOKENS)
    if asked is None:
        return max(window * WINDOW_PERCENT // HUNDRED, 1) if window else DEFAULT_BUDGET_TOKENS
    text = str(asked).strip()
    if text.endswith("%"):
        return _share(text, window)
    if not _is_number(text) or not int(text):
        raise _wrong(asked)
    return int(text)


def _share(text: str, window: int) -> int:
    whole, point, part = text[:-1].strip().partition(".")
    if not _is_number(whole) or (point and not _is_number(part)):
        raise _wrong(text)
    share = float(f"{whole}.{part or 0}")
    if not 0 < share <= HUNDRED:
        raise _wrong(text)
    if not window:
        raise UsageError(
            f"'{text}' of which window?",
            hint="give --window N, the model's context in tokens, or set prompt.window",
        )
    return max(int(window * share / HUNDRED), 1)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MAX_BUDGET_DIGITS


def _wrong(asked: object) -> UsageError:
    hint = "give a number of tokens, such as 2000, or a share of the window, such as 2%"
    return UsageError(f"invalid token budget '{str(asked)[:40]}': expected a number", hint=hint)


def _one_of(what: str, given: str, known: Texts) -> str:
    if given in known:
        return given
    near = closest(given, known)
    meant = f"did you mean '{near}'? " if near else ""
    raise UsageError(
        f"there is no {what} '{given[:40]}'", hint=f"{meant}it can be {', '.join(known)}"
    )

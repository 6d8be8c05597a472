"""Runs `metier list` and `metier categories`, which list the skills that were found and their
categories, and `metier enable` and `metier disable`, which decide what is listed.
"""

from __future__ import annotations

from metier.catalogue.wire import listing_json
from metier.cli.argv import PICK, CommandRow, Option, Values
from metier.cli.main import library
from metier.cli.output import (
    NO_AGENTS,
    WORD_STYLES,
    answer,
    clean,
    counted,
    diagnostic_lines,
    problem_lines,
    say,
    style,
    table,
    warn,
    write,
)
from metier.cli.terminal import UNBOUNDED_COLUMNS, shorten_paths, width
from metier.fast import TYPE_CHECKING
from metier.model import EDITED, SCOPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.library import Library
    from metier.model import Card, Category


NOTHING_HERE = """No skills to show.

next: metier list --all shows what is hidden, metier new NAME makes one, metier tour shows some
"""
ALL_AGENTS = "all"
CHANGED = "changed since it was "
"""How the reason begins that a skill is no longer what was approved or installed."""
GROUPS = ("folder", "scope", "agent", "none")
SORTS = ("name", "tokens", "used", "changed")
MAX_BROKEN_SHOWN = 5
"""Broken skills that are named below a list; `--all` has each of them as a row."""
MAX_NAMES_SHOWN = 3
"""Skills that a remark below a list names."""
SEEN_MARK, UNSEEN_MARK = "yes", "-"
NO_AGENT = "(no agent)"
NO_SKILLS_FOR_AGENTS = """There are no skills here for {} to see.

next: metier new NAME makes one, metier search WORDS finds some
"""


def run(values: Values) -> int:
    """List cards, and whatever went wrong on the way."""
    if values.flag("pick"):
        return _run_pick(values)
    if values.optional("agent") == ALL_AGENTS:
        return _run_matrix(values)
    with library(values) as m:
        (write if values.json else say)(_answer(m, values))
        # A folder that was named by hand and cannot be read is a "no", though the others are
        # listed.
        code = 1 if m.context.given is not None and m.context.catalogue.glance().problems else 0
    warn(m.context.warnings)
    return code


def _answer(m: Library, values: Values) -> str:
    narrowing = ("all", "digests", "scope", "category", "sort")
    if values.json and not any(map(values.flag, narrowing)):
        return m.listing()
    cards = _cards(m, values)
    if values.json:
        found = m.context.catalogue.contents()
        return listing_json(cards, found.cards, m.context.catalogue.problems(), found.truncated)
    return _text(m, cards, values)


def _cards(m: Library, values: Values) -> list[Card]:
    """Give the cards that were asked for, in the order that was asked for. People get those of a
    folder by name, scripts as they were found.
    """
    cards = m.skills(
        all=values.flag("all"),
        scope=values.optional("scope"),
        category=values.optional("category"),
        digests=values.flag("digests"),
    )
    sort = values.optional("sort")
    if sort is None:
        return cards if values.json else _by_name(cards)
    return _sorted(m, cards, sort)


def _by_name(cards: list[Card]) -> list[Card]:
    """Sort the cards of each folder by name; the folders stay in their order."""
    places = {root: at for at, root in enumerate(dict.fromkeys([card.root for card in cards]))}
    return sorted(cards, key=lambda card: (places[card.root], card.name.casefold()))


def _run_pick(values: Values) -> int:
    """Let somebody pick one of the skills, and hand it on."""
    from metier.cli.argv import contradiction
    from metier.cli.pick import check_pick, hand_on, pick_card

    if values.optional("agent") == ALL_AGENTS:
        raise contradiction("--agent all", "--pick", "exclude")
    check_pick(values)
    with library(values) as m:
        hand_on(m, pick_card("Which skill?", _cards(m, values)).path)
    warn(m.context.warnings)
    return 0


def _sorted(m: Library, cards: list[Card], by: str) -> list[Card]:
    """Sort cards: by name; the costliest, the one used most lately or changed last first."""
    if by == "tokens":
        return sorted(cards, key=lambda card: -card.tokens)
    if by == "used":
        last = m.last_uses()
        return sorted(cards, key=lambda card: -last.get(card.path, 0))
    if by == "changed":
        return sorted(cards, key=lambda card: -_changed_at(card))
    return sorted(cards, key=lambda card: card.name.casefold())


def _changed_at(card: Card) -> float:
    """Give when a skill's own file was written; 0 when that cannot be told."""
    import os

    path = f"{card.path}/SKILL.md" if card.kind == "skill-md" else card.path
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _text(m: Library, cards: list[Card], values: Values) -> str:
    group = values.optional("group")
    if group is None:  # for a person, by folder; in a pipe, one table
        group = "none" if width() >= UNBOUNDED_COLUMNS else "folder"
    if group == "none":
        listed = _table(cards, values, ("SCOPE",))
    elif group == "agent":
        listed = "\n".join(
            f"{_heading(agent, own)}{_table(own, values)}"
            for agent, own in _by_agent(m, cards).items()
        )
    else:
        groups: dict[str, list[Card]] = {}
        for card in cards:
            groups.setdefault(card.scope if group == "scope" else card.root, []).append(card)
        listed = "\n".join(
            f"{_heading(title, own)}{_table(own, values)}" for title, own in groups.items()
        )
    wrong_root = any(one.code == "WK009" for one in m.problems())
    nothing = NOTHING_HERE.partition("\n")[0] + "\n" if wrong_root else NOTHING_HERE
    return (listed or nothing) + _remarks(m, cards, values.optional("scope"))


def _by_agent(m: Library, cards: list[Card]) -> dict[str, list[Card]]:
    """Give the cards that each agent sees, then those that none does."""
    seen = m.seen_by()
    groups = {
        agent: [card for card in cards if card.path in paths] for agent, paths in seen.items()
    }
    groups[NO_AGENT] = [
        card for card in cards if not any(card.path in paths for paths in seen.values())
    ]
    return {agent: own for agent, own in groups.items() if own}


def _heading(title: str, cards: list[Card]) -> str:
    scopes = {card.scope for card in cards}
    scope = f"{scopes.pop()}, " if len(scopes) == 1 else ""
    return f"{style(clean(title), 'cyan')}  ({scope}{counted(len(cards), 'skill')})\n"


def _table(cards: list[Card], values: Values, more: tuple[str, ...] = ()) -> str:
    last = "DESCRIPTION OR REASON" if values.flag("all") else "DESCRIPTION"
    heads = ["NAME", *more, "STATE", "TOKENS"]
    cells = {
        "NAME": lambda card: card.name,
        "SCOPE": lambda card: card.scope,
        "STATE": _state_cell,
        "TOKENS": lambda card: f"{card.tokens}",
        "DIGEST": lambda card: card.digest or "none",
        "CHANGED": _changed_cell,
        "PATH": lambda card: shorten_paths(card.path),
        last: _last_cell,
    }
    if any(card.digest for card in cards):
        heads.append("DIGEST")
    if values.flag("long"):
        heads += ["CHANGED", "PATH"]
    heads.append(last)
    rows = [[cells[head](card) for head in heads] for card in cards]
    return table(rows, heads, [WORD_STYLES[card.state] for card in cards], below="PATH")


def _changed_cell(card: Card) -> str:
    from datetime import UTC, datetime

    at = _changed_at(card)
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" if at else "-"


def _state_cell(card: Card) -> str:
    """Give the state, with a mark where nothing is known of the bytes, or nothing good."""
    if card.state in {"visible", "shadowed"} and not card.verdict:
        return f"{card.state}*"
    accepted = card.state == "visible" and card.verdict == "dangerous"
    marked = accepted or card.verdict == "caution"
    return f"{card.state} ({card.verdict})" if marked else card.state


def _last_cell(card: Card) -> str:
    """Give what the last column says: why it is not visible, or what it is for and what it still
    needs. What a remark below the table says once for all of them is left out.
    """
    reasons = list(card.reasons)
    if card.state not in {"visible", "ask"}:
        return "; ".join(reasons)
    if card.held in {"project", "record"}:
        return card.description
    if reasons and width() < UNBOUNDED_COLUMNS:
        said = (*_cut_reasons(card), *_edit_reasons(card))
        reasons = [reason for reason in reasons if reason not in said]
    return f"({'; '.join(reasons)}) {card.description}" if reasons else card.description


def _cut_reasons(card: Card) -> list[str]:
    """Give what says that its description does not fit into its agent's list."""
    if not card.reasons:
        return []
    from metier.resolve.resolver import is_cut

    return [reason for reason in card.reasons if is_cut(reason)]


def _edit_reasons(card: Card) -> list[str]:
    """Give what says that it was changed after it was installed or approved."""
    return [reason for reason in card.reasons if reason.startswith((EDITED, CHANGED))]


# --- what needs attention


def _remarks(m: Library, cards: list[Card], scope: str | None) -> str:
    """Count what the table does not show and what needs attention, each with the command for it:
    nothing is ever silently absent.
    """
    found = m.context.catalogue.contents()
    shown = {card.path for card in cards}
    those = [card for card in found.cards if scope is None or card.scope == scope]
    absent = [card.state for card in those if card.path not in shown]
    out = [f"\n{_count_line(cards)}\n"]
    if absent:
        counts = ", ".join(f"{absent.count(state)} {state}" for state in sorted(set(absent)))
        out.append(f"{len(absent):,} not shown ({counts}): metier list --all\n")
    unscanned = [card for card in cards if _state_cell(card).endswith("*")]
    if unscanned:
        out.append(
            f"{len(unscanned):,} not scanned yet (*); metier scans each before a model sees it. Now: "
            f"metier scan{_path_of(m, unscanned)}\n"
        )
    out += [*_cut_line(cards), *_changed_lines(cards)]
    out += _waiting_line([card for card in cards if card.held == "project" and card.state == "ask"])
    faulty = [
        card
        for card in cards
        if card.state in {"visible", "ask"} and any(n.severity != "info" for n in card.diagnostics)
    ]
    if faulty:
        have = "has" if len(faulty) == 1 else "have"
        example = f"{faulty[0].diagnostics[0].code} in {clean(faulty[0].name)}"
        out.append(
            f"{counted(len(faulty), 'skill')} {have} problems, such as {example}: metier check{_path_of(m, faulty)}\n"
        )
    return "".join(out) + _broken_lines(those) + problem_lines(m.problems())


def _count_line(cards: list[Card]) -> str:
    """Count the skills, and what those of them cost that a model is told of."""
    visible = [card for card in cards if card.state == "visible"]
    skills = counted(len(cards), "skill")
    cost = f"{counted(sum(card.tokens for card in visible), 'token')} in a model's catalogue"
    if len(visible) == len(cards):
        return f"{skills}, {cost}"
    if visible:
        return f"{skills}, {len(visible):,} of them visible to a model: {cost}"
    return f"{skills} ({'not' if len(cards) == 1 else 'none of them'} visible to a model)"


def _cut_line(cards: list[Card]) -> list[str]:
    """Say once that descriptions do not fit into the agent's list; in a pipe each row says it."""
    found = {card.name: reason for card in cards for reason in _cut_reasons(card)}
    if not found or width() >= UNBOUNDED_COLUMNS:
        return []
    whose, _semicolon, how = next(iter(found.values())).partition("; this one is cut ")
    is_are = "description is" if len(found) == 1 else "descriptions are"
    how = "cut short" if how.startswith("short") else f"left out{how.removeprefix('to its name')}"
    if len(found) > 1:
        how = how.replace("unless it is used", "unless they are used")
    return [f"{clean(whose)}: {len(found):,} {is_are} {how} ({_some(list(found))})\n"]


def _changed_lines(cards: list[Card]) -> list[str]:
    """Say which skills were changed after they were installed or approved, and what to do."""
    changed = [card for card in cards if _edit_reasons(card)]
    asks = [card.name for card in changed if card.state == "ask"]
    edited = [card.name for card in changed if card.state == "visible"]
    out = []
    if edited and width() < UNBOUNDED_COLUMNS:
        show = f"See it: metier diff {_word(edited[0])}"
        out.append(f"{len(edited):,} {EDITED} ({_some(edited)}). {show}\n")
    if asks:
        is_are = "skill is" if len(asks) == 1 else "skills are"
        out.append(
            f"{len(asks):,} {is_are} waiting, changed since you approved or installed "
            f"{'it' if len(asks) == 1 else 'them'} ({_some(asks)}). Review, then run: "
            f"metier trust approve {_word(asks[0])}\n"
        )
    return out


def _some(names: list[str]) -> str:
    """Name the first few."""
    rest = len(names) - MAX_NAMES_SHOWN
    more = f" and {rest:,} more" if rest > 0 else ""
    return clean(", ".join(names[:MAX_NAMES_SHOWN])) + more


def _word(text: str) -> str:
    """Give a stranger's text as one word of a command."""
    text = clean(text)
    return text if " " not in text else f"'{text}'"  # shlex would load regular expressions


def _waiting_line(waiting: list[Card]) -> list[str]:
    if not waiting:
        return []
    are = "skill is" if len(waiting) == 1 else "skills are"
    them = "it" if len(waiting) == 1 else "them"
    how = f"Review {them}, then run: metier trust project {_project_of(waiting[0])}"
    return [f"{len(waiting):,} {are} waiting: you haven't trusted this project yet. {how}\n"]


def _project_of(card: Card) -> str:
    """Give the folder that the reason names: the command in it trusts the project."""
    _before, _word, rest = card.reasons[0].partition("metier trust project ")
    return clean(rest.partition("'")[0]) or "."


def _path_of(m: Library, cards: list[Card]) -> str:
    """Give the folder that holds these as the last word of a command; none where they lie in several,
    for a command without a path goes over all of them.
    """
    roots = [card.root for card in cards]
    folders = list(dict.fromkeys(roots))
    if len(folders) > 1 and m.context.given is None:
        return ""
    return f" {_word(max(folders, key=roots.count))}"


def _broken_lines(cards: Sequence[Card]) -> str:
    broken = [card for card in cards if card.state == "invalid"]
    if not broken:
        return ""
    out = ["\n" + style(f"{len(broken):,} broken:", "red") + "\n"]
    for card in broken[:MAX_BROKEN_SHOWN]:
        errors = [note for note in card.diagnostics if note.severity == "error"]
        out.append(diagnostic_lines(card.path, errors[:1]))
    rest = len(broken) - MAX_BROKEN_SHOWN
    return "".join(out) + (f"and {rest:,} more: metier list --all\n" if rest > 0 else "")


# --- who sees what


def _run_matrix(values: Values) -> int:
    """Show which agent on this machine sees which skill."""
    with library(values, agent=None) as m:
        seen = m.seen_by()
        cards = [
            card for card in m.skills(all=True) if any(card.path in one for one in seen.values())
        ]
        waiting = _left_out_for_trust(m) if seen else ""
    document = {
        "agents": list(seen),
        "skills": [
            {
                "name": card.name,
                "path": card.path,
                "seen_by": [agent for agent, paths in seen.items() if card.path in paths],
            }
            for card in cards
        ],
    }
    cards = _by_name(cards)
    heads = ("NAME", *seen, "FOLDER")
    rows = [
        (
            card.name,
            *(SEEN_MARK if card.path in paths else UNSEEN_MARK for paths in seen.values()),
            shorten_paths(card.root),
        )
        for card in cards
    ]
    nothing = NO_SKILLS_FOR_AGENTS.format(counted(len(seen), "agent")) if seen else NO_AGENTS
    count = f"\n{counted(len(cards), 'skill')}, {counted(len(seen), 'agent')}\n"
    text = table(rows, heads) + count if rows else "" if waiting else nothing
    answer(values, document, text + waiting)
    warn(m.context.warnings)
    return 0


def _left_out_for_trust(m: Library) -> str:
    """Say that skills of a project that isn't trusted are not in the table."""
    from metier.cli.consent import TRUST_HINT, waiting_for_trust

    waiting = waiting_for_trust(m)
    if not waiting:
        return ""
    return f"not shown: {waiting}; an agent may read them by itself\n\n{TRUST_HINT}\n"


def run_categories(values: Values) -> None:
    """List categories with their descriptions and counts."""
    with library(values) as m:
        found = m.categories()
    answer(values, found, _categories_text, {"categories": found})


def _categories_text(found: list[Category]) -> str:
    rows = [(one.name or "(none)", str(one.count), one.description) for one in found]
    return table(rows, ("CATEGORY", "SKILLS", "DESCRIPTION")) or "No skills are visible here.\n"


def switch(values: Values, *, enabled: bool) -> None:
    """Show or hide a skill."""
    with library(values) as m:
        before = m.context.settings.rules
        card = (m.enable if enabled else m.disable)(values.word)
        config = m.context.config
        after = m.context.settings.rules
        changed = after != before
    name = clean(card.name)
    named = name if values.word == card.name and not card.plugin else f"{card.scope}:{name}"
    what = "the rule is in" if set(after) - set(before) else "the old rule is no longer in"
    said = (
        f"{name} is {'enabled' if enabled else 'disabled'} already ({card.state}): "
        f"{clean(card.path)}\nnothing was written\n"
        if not changed
        else f"{name} is now {card.state}: {clean(card.path)}\n{what} {config}; undo it with: "
        f"metier {'disable' if enabled else 'enable'} {named}{clean(values.root_options())}\n"
    )
    document = {
        "name": card.name,
        "path": card.path,
        "state": card.state,
        "config": config,
        "changed": changed,
    }
    answer(values, document, said)


ROWS = (
    CommandRow(
        "list",
        options=(
            Option("--scope", "only this scope", "S", choices=SCOPES),
            Option("--category", "only this category", "C"),
            Option("--all", "everything that was found, with the reason it is not visible"),
            Option("--group", "one table for each folder, scope or agent", "BY", choices=GROUPS),
            Option("--sort", "the order of the rows", "BY", choices=SORTS),
            Option("--long", "also the path, and when it was changed"),
            Option("--digests", "compute the digest of each skill"),
            PICK,
        ),
        examples={
            "metier list": "what is there, from which scope, at which token cost",
            "metier list --all": "also what is hidden, shadowed or broken, and why",
            "metier list --agent codex --json": "what Codex sees, for a script",
            "metier list --agent all": "which agent sees which skill",
            "metier list --sort tokens": "the most expensive ones first",
            'cd "$(metier list --pick)"': "pick a skill and go to its folder",
        },
        detail="A broken skill is never silently absent: it is reported with its place, a "
        "code and a hint.",
        paged=True,
        run=run,
    ),
    CommandRow(
        "categories",
        examples={"metier categories": "names, descriptions and counts"},
        paged=True,
        run=run_categories,
    ),
    CommandRow(
        "enable",
        operands="NAME",
        examples={"metier enable pdf": "writes a rule to your configuration"},
        run=lambda values: switch(values, enabled=True),
    ),
    CommandRow(
        "disable",
        operands="NAME",
        examples={"metier disable pdf": "writes a rule to your configuration"},
        run=lambda values: switch(values, enabled=False),
    ),
)

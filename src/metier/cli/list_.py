"""`metier list`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.disclose.wire import listing_json
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values
    from metier.model import Card


NOTHING_HERE = """No skills to show.

next: metier list --all shows what is hidden, metier new NAME makes one, metier tour shows some
"""


def run(values: Values) -> int:
    """List cards, and whatever went wrong on the way."""
    with cli.library(values) as m:
        output.write(_answer(m, values))
        # A folder that was named by hand and cannot be read is a "no", though the others are listed.
        code = 1 if m.given is not None and m.glance().problems else 0
    for warning in m.warnings:
        output.note(f"warning: {warning}")
    return code


def _answer(m: Library, values: Values) -> str:
    everything, digests = bool(values["all"]), bool(values["digests"])
    scope, category = cli.text_of(values["scope"]), cli.text_of(values["category"])
    if values["json"] and not (everything or digests or scope or category):
        return m.listing()
    cards = m.skills(all=everything, scope=scope, category=category, digests=digests)
    if values["json"]:
        return listing_json(cards, m.contents().cards, m.problems(), m.contents().truncated)
    return _text(m, cards, everything=everything)


def _text(m: Library, cards: list[Card], *, everything: bool) -> str:
    clean = output.clean
    heads: tuple[str, ...] = ("NAME", "SCOPE", "STATE", "TOKENS", "DESCRIPTION")
    rows: list[tuple[str, ...]] = [(clean(c.name), c.scope, c.state, str(c.tokens), clean(_last(c))) for c in cards]
    if any(card.digest for card in cards):
        heads = (*heads[:-1], "DIGEST", heads[-1])
        rows = [(*row[:-1], card.digest or "none", row[-1]) for row, card in zip(rows, cards, strict=True)]
    if everything:
        heads = (*heads[:-1], "DESCRIPTION OR REASON")
    text = output.table(rows, heads, [output.STATE_STYLES[card.state] for card in cards])
    return (text or NOTHING_HERE) + _remarks(m, cards)


def _last(card: Card) -> str:
    """Give what the last column says: why it is not visible, or what it is for and what it still needs."""
    reasons = "; ".join(card.reasons)
    if card.state not in {"visible", "ask"}:
        return reasons
    if card.held == "project":
        return card.description  # a remark below the table says it once for all of them
    return f"({reasons}) {card.description}" if reasons else card.description


def _place(card: Card) -> str:
    note = card.diagnostics[0]
    return f"{note.code} in {output.clean(card.path)}"


def _remarks(m: Library, cards: list[Card]) -> str:
    """Say what the table does not show: nothing is ever silently absent."""
    found = m.contents()
    shown = {card.path for card in cards}
    absent = [card for card in found.cards if card.path not in shown]
    broken = [card for card in found.cards if card.state == "invalid"]
    count = "1 skill" if len(cards) == 1 else f"{len(cards):,} skills"
    out = [f"\n{count}, {sum(card.tokens for card in cards):,} tokens for their cards"]
    if absent:
        counts: dict[str, int] = {}
        for card in absent:
            counts[card.state] = counts.get(card.state, 0) + 1
        out.append(f"; not shown: {', '.join(f'{n} {state}' for state, n in sorted(counts.items()))} (metier list --all)")
    out.append("\n")
    waiting = next((card.reasons[0] for card in cards if card.held == "project" and card.state == "ask"), "")
    if waiting:
        held = sum(card.held == "project" and card.state == "ask" for card in cards)
        out.append(f"{held} of them wait{'s' if held == 1 else ''} for your word: {output.clean(waiting)}\n")
    faulty = [card for card in cards if card.state in {"visible", "ask"} and any(n.severity != "info" for n in card.diagnostics)]
    if faulty:
        have = "1 of them has" if len(faulty) == 1 else f"{len(faulty):,} of them have"
        out.append(f"{have} faults, such as {_place(faulty[0])} (metier check PATH)\n")
    if broken:
        out.append("\n" + output.style(f"{len(broken)} broken:", "red") + "\n")
        out += [output.diagnostic_lines(card.path, [n for n in card.diagnostics if n.severity == "error"][:1]) for card in broken]
    for problem in [*m.problems(), *found.truncated]:
        out.append(f"{output.clean(problem.path)}: {problem.code} {output.clean(problem.message)}\n")
    return "".join(out)

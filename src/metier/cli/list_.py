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
        return listing_json(cards, m.catalogue().cards, m.problems(), m.catalogue().truncated)
    return _text(m, cards, everything=everything)


def _text(m: Library, cards: list[Card], *, everything: bool) -> str:
    clean = output.clean
    heads = ("NAME", "SCOPE", "STATE", "TOKENS", "DESCRIPTION")
    rows = [
        (clean(card.name), card.scope, card.state, str(card.tokens), clean(_last(card)))
        for card in cards
    ]  # fmt: skip
    if everything:
        heads = (*heads[:-1], "DESCRIPTION OR REASON")
    text = output.table(rows, heads, [output.STATE_STYLES[card.state] for card in cards])
    return (text or "No skills are visible here.\n") + _remarks(m, cards)


def _last(card: Card) -> str:
    """Give what the last column says: why it is not visible, or what it is for and what it still needs."""
    reasons = "; ".join(card.reasons)
    if card.state not in {"visible", "ask"}:
        return reasons
    return f"({reasons}) {card.description}" if reasons else card.description


def _remarks(m: Library, cards: list[Card]) -> str:
    """Say what the table does not show: nothing is ever silently absent."""
    found = m.catalogue()
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
    if broken:
        out.append("\n" + output.style(f"{len(broken)} broken:", "red") + "\n")
        out += [output.diagnostic_lines(card.path, [n for n in card.diagnostics if n.severity == "error"][:1]) for card in broken]
    for problem in [*m.problems(), *found.truncated]:
        out.append(f"{output.clean(problem.path)}: {problem.code} {output.clean(problem.message)}\n")
    return "".join(out)

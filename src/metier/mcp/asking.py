"""One skill by name: given where it may be used, else refused with the reason, which is noted down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier import recording
from metier.disclose.schemas import handle
from metier.errors import MetierError, NotFoundError, RefusedError
from metier.mcp import rules
from metier.mcp.rules import Refusal
from metier.standard.names import nearest, one_line
from metier.vetting.loading import load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.mcp.stock import Snapshot, Stock
    from metier.model import Card

SUGGESTED = 5


def named(stock: Stock, name: str, *, also: Iterable[str] = (), judged: bool = True) -> Card:
    """Give the skill of a name that may be used here; refuse every other with the reason.

    `also` are paths that a person named in this conversation: what is merely kept from models may be read then (CX-49). Who
    goes on to load it has it judged there, and need not have it done here.
    """
    snapshot = stock.now()
    path = snapshot.names.get(name)
    card = snapshot.visible[path] if path is not None else _resolved(stock, snapshot, name)
    if card.path not in snapshot.visible:
        why = _held_back(stock, snapshot, card)
        if why.code == rules.BLOCKED or card.held != "model" or card.path not in also:
            raise _noted(stock, card, why)
    refusal = stock.standing(card).refusal if judged or stock.is_known(card) else stock.kept_in(card)
    if refusal is not None:
        raise explained(stock, card, refusal)
    return card


def why_not(stock: Stock, name: str) -> MetierError | None:
    """Say why the skill of a name is not given here; nothing when there is no such skill, or it is."""
    try:
        card = stock.library.resolve(handle(name))
    except MetierError:
        return None
    try:
        named(stock, card.path)
    except MetierError as error:
        return error
    return None


def _resolved(stock: Stock, snapshot: Snapshot, name: str) -> Card:
    try:
        return stock.library.resolve(handle(name))
    except NotFoundError as error:
        near = nearest(name, {card.name for card in snapshot.visible.values()}, SUGGESTED)
        usable = [one for one in near if one in snapshot.names and stock.is_usable(snapshot.visible[snapshot.names[one]])]
        hint = f"choose one of: {', '.join(usable)}" if usable else "look for one with search_skills"
        raise NotFoundError(f"there is no skill named '{name[:200]}'", hint=hint) from error


def _held_back(stock: Stock, snapshot: Snapshot, card: Card) -> Refusal:
    """Say why a skill that is not visible, or blocked at this door, is not given."""
    shown = one_line(card.name)
    if rules.is_blocked(card, rules.keys_blocked(stock.door, snapshot.settings.mcp)):
        return rules.blocked(card, stock.door)
    reason = one_line(card.reasons[0]) if card.reasons else card.state
    if card.held == "unready":
        hint = f"on the machine itself the user can run: metier setup {shown}"
        return Refusal("setup-needed", f"'{shown}' is not ready: {reason}", hint)
    hint = f"the user can see why: metier why {shown}"
    if card.state == "ask":
        hint = f"ask the user to look at it: metier show {shown}; then: metier trust approve {shown}"
    code = "disabled" if card.held == "disabled" else card.state
    return Refusal(code, f"'{shown}' is not offered: {reason}", hint)


def explained(stock: Stock, card: Card, refusal: Refusal) -> RefusedError:
    """Give a refusal with all that is to be said, and note it down."""
    if refusal.code in {"ask", "blocked"}:
        try:
            load(stock.library, card)
        except RefusedError as error:
            return error
        except MetierError as error:
            return RefusedError(error.message, code=error.code, hint=error.hint)
    return _noted(stock, card, refusal)


def _noted(stock: Stock, card: Card, refusal: Refusal) -> RefusedError:
    """Note a refusal down: somebody asked for this very skill."""
    outcome = "asked" if refusal.code == "ask" else "blocked"
    recording.record(stock.library, "refuse", outcome, name=card.name, path=card.path, event=refusal.code, door=stock.door,
                     source="mcp", reason=refusal.message)  # fmt: skip
    return refusal.error()

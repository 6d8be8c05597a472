"""Gives the skill of a name where the server may offer it, and otherwise refuses with the reason
and logs the refusal.

The rule is that of `disclose.offer`, applied to what is served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.audit import log
from metier.disclose.offer import (
    BLOCKED_CODE,
    OfferRefusal,
    admit,
    refusal_of,
    unoffered_note,
    with_missing_note,
)
from metier.disclose.schemas import checked_handle
from metier.errors import MetierError, NotFoundError, RefusedError
from metier.resolve.lookup import is_copy_named
from metier.standard.names import nearest, one_line

if TYPE_CHECKING:
    from collections.abc import Collection

    from metier.mcp.catalogue import ServedCatalogue, ServedSnapshot
    from metier.model import Card


def blocked_inside_refusal(card: Card, path: str) -> OfferRefusal:
    """Say that a file of a skill belongs to another one in it, which is blocked."""
    hint = "the user decides that: mcp.blocked in the configuration"
    message = (
        f"'{one_line(path)}' in '{one_line(card.name)}' is of a skill that is not given to agents"
    )
    return OfferRefusal(BLOCKED_CODE, message, hint)


MAX_SUGGESTED = 5


def usable_card(
    served: ServedCatalogue, name: str, *, also: Collection[str] = (), judged: bool = True
) -> Card:
    """Give the skill of a name that may be used here; refuse every other with the reason.

    `also` are paths that a person named in this conversation: what is merely kept from models may
    be read then (CX-49). Who goes on to load it has it judged there, and need not have it done
    here.
    """
    snapshot = served.now()
    path = snapshot.names.get(name)
    card = snapshot.visible[path] if path is not None else _resolve(served, snapshot, name)
    if card.path not in snapshot.visible:
        audience = snapshot.audience._replace(named=also)
        why = refusal_of(card, audience, by_path=is_copy_named(name, card))
        if why is not None:
            raise _note_refusal(served, card, why)
    refusal = (
        served.standing(card).refusal if judged or served.is_known(card) else served.kept_in(card)
    )
    if refusal is not None:
        raise explain_refusal(served, card, refusal)
    return card


def why_refused(served: ServedCatalogue, name: str) -> MetierError | None:
    """Say why the skill of a name is not served here; nothing when there is no such skill, or it
    is.
    """
    try:
        card = served.library.resolve(checked_handle(name))
    except MetierError:
        return None
    try:
        usable_card(served, card.path)
    except MetierError as error:
        return error
    note = unoffered_note(card)  # what is in no list has no address either
    hint = "it can still be loaded by its name: load_skill"
    return OfferRefusal(card.state, note, hint).error() if note else None


def _resolve(served: ServedCatalogue, snapshot: ServedSnapshot, name: str) -> Card:
    try:
        return served.library.resolve(checked_handle(name))
    except NotFoundError as error:
        near = nearest(name, {card.name for card in snapshot.visible.values()}, MAX_SUGGESTED)
        usable = [
            one
            for one in near
            if one in snapshot.names and served.is_usable(snapshot.visible[snapshot.names[one]])
        ]
        hint = (
            f"choose one of: {', '.join(usable)}" if usable else "look for one with search_skills"
        )
        unknown = NotFoundError(f"no skill named '{name[:200]}'", hint=hint)
        raise with_missing_note(served.context, unknown) from error


def explain_refusal(served: ServedCatalogue, card: Card, refusal: OfferRefusal) -> RefusedError:
    """Give a refusal with all that is to be said, and note it down."""
    if refusal.code in {"ask", "blocked"}:
        try:
            admit(served.context, card)
        except RefusedError as error:
            return error
        except MetierError as error:
            return RefusedError(error.message, code=error.code, hint=error.hint)
    return _note_refusal(served, card, refusal)


def _note_refusal(served: ServedCatalogue, card: Card, refusal: OfferRefusal) -> RefusedError:
    """Note a refusal down: somebody asked for this very skill."""
    outcome = "asked" if refusal.code == "ask" else "blocked"
    log.record(
        served.context,
        "refuse",
        outcome,
        name=card.name,
        path=card.path,
        event=refusal.code,
        door=served.door,
        source="mcp",
        reason=refusal.message,
    )
    return refusal.error()

"""Who answers a task: code skills set off by their triggers, by a message alone, or by a tag in a model's words (CO-19, CO-20).

Every way leads through `code.call`, so the same gates, the same consent and the same hooks hold. What is refused or fails lets the
next skill try, and the reason is kept. A skill that is no code has nothing to run: it is named as instructions to read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import triggering
from metier.errors import MetierError, RefusedError
from metier.execute import answers, tags
from metier.route import triggers
from metier.route.triggers import Declined
from metier.running import code
from metier.runs import Lent

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.app import Library
    from metier.route.triggers import Dispatched, Match
    from metier.running.confirming import Asker

MOST_MESSAGE = 2_000
"""Characters of a message that may set a skill off by itself: a longer one is something pasted (CO-20)."""
INSTRUCTIONS = "instructions"
"""The kind of `Declined` that a match is which has nothing to run."""


class Manner(NamedTuple):
    """How calls are made on somebody's behalf."""

    context: str = ""
    consent: str = ""
    agreed: bool = False
    ask: Asker | None = None
    door: str = ""
    seconds: int = 0


class Resolved(NamedTuple):
    """A model's words with its tags answered."""

    text: str
    ran: tuple[str, ...]
    """The skills that answered."""
    notes: tuple[str, ...]
    """What became of each tag that was taken out without an answer."""


PLAIN = Manner()


def dispatch(library: Library, task: str, manner: Manner = PLAIN) -> Dispatched:
    """Offer a task to the code skills whose triggers it has, one after the other, until one takes it.

    What matches and is no code is among those that declined, as instructions to read.
    """
    return _offered(library, task, triggering.matches(library, task), manner)


def attempt(library: Library, task: str, manner: Manner = PLAIN) -> Callable[[Match], str | None]:
    """Give what tries one match: the skill's answer, nothing where it declines. A veto is an answer (CO-19)."""

    def tried(match: Match) -> str | None:
        try:
            ran = code.call(library, match.path, task, manner.context, consent=manner.consent,
                            agreed=manner.agreed, ask=manner.ask, dispatch=match.correlation,
                            lent=Lent(seconds=manner.seconds), door=manner.door)  # fmt: skip
        except RefusedError as error:
            if error.code == "vetoed":
                return error.message
            raise
        if ran.error:
            raise MetierError(ran.error, code="failed")
        return ran.result

    return tried


def auto(library: Library, message: str, manner: Manner = PLAIN) -> Dispatched:
    """Let a message set a skill off by itself: only one that the user lists, only a short message, and never a destructive skill.

    Nobody is there to agree to anything, so whatever needs consent is refused, by its very bytes.
    """
    listed = frozenset(library.settings.run.auto)
    matched = triggering.matches(library, message) if listed and len(message) <= MOST_MESSAGE else []
    chosen = [match for match in matched if match.name in listed]
    return _offered(library, message, chosen, manner._replace(consent="", agreed=False, ask=None))


def resolved(library: Library, text: str, manner: Manner = PLAIN) -> Resolved:
    """Answer the tags in a model's words; none is left in the text, whatever became of it."""
    found = tags.find(text)
    token = library.ports.token().hex() if found.tags else ""
    put: list[str] = []
    ran: list[str] = []
    notes: list[str] = []
    for tag in found.tags:
        said, why = ("", tag.fault) if tag.fault else _answer(library, tag, token, manner)
        put.append(said)
        if why:
            notes.append(f"{answers.shown(tag.name) or 'a tag'}: {why}")
        else:
            ran.append(tag.name)
    return Resolved(tags.put(found, put) if found.tags else text, tuple(ran), tuple(notes))


def _offered(library: Library, task: str, matched: list[Match], manner: Manner) -> Dispatched:
    kinds = {card.path: card.kind for card in library.contents().cards}
    runnable = [match for match in matched if kinds.get(match.path) == "code"]
    made = triggers.dispatched(runnable, attempt(library, task, manner), library.ports.token().hex())
    read = tuple(
        Declined(match._replace(correlation=made.correlation), INSTRUCTIONS, "it has nothing to run: it is to be read")
        for match in matched
        if kinds.get(match.path) != "code"
    )
    return made._replace(declined=(*made.declined, *read))


def _answer(library: Library, tag: tags.Tag, token: str, manner: Manner) -> tuple[str, str]:
    """Call the skill that a tag names; give its answer, or nothing and the reason."""
    try:
        card = library.resolve(tag.name)
        if card.state != "visible" or "/" in tag.name:  # a model may only ask for what it is told of, and by its name
            return "", answers.not_found(tag.name)
        said = attempt(library, tag.query, manner)(triggers.Match(card.name, card.path, "", correlation=token))
    except MetierError as error:
        return "", error.message
    return (said, "") if said is not None else ("", answers.DECLINED)

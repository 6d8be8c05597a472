"""What a model may have: the one rule that every door asks.

A model is told of a skill, and gets it by its name, when all of this holds:

- it was judged as it is now, and policy lets it in: its bytes are not blocked, and nothing waits
  for the user's yes;
- it is visible, and it is the copy that its name means. A copy that another one stands before is
  given where it was named by its path; one that is only kept from models, once a person has named it
  in this conversation (CX-49). One that is merely not offered here, for its `environments` or its
  conditions about tools, nobody is told of, and everybody gets who names it, with the reason
  (HE-13);
- its name is not reserved: some names never go to an agent, and the user's list says which (CO-21);
- at a server, a code skill is shown only when it says so itself, or when the user does, and nothing
  that the agent beside it has by itself;
- it is let in by trust, for the bytes that lie there when it is read (`admit`). What comes of that is
  a `Usable`: nothing else is read, filled in or run for a model.
"""

from __future__ import annotations

from metier.errors import NotFoundError, RefusedError, UsageError
from metier.fast import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Literal

    from metier.context import Context
    from metier.discover.agents import Agent
    from metier.model import Card
    from metier.settings.model import ServeSettings
    from metier.trust.assess import TrustCase
    from metier.trust.decide import Usable

    Door = Literal["tools", "stdio", "http"]
    """A host's own tools and prompt, or a server over one of its two transports."""

RESERVED = frozenset({"terminal", "process_manager", "pm2_control"})
"""Names that no agent on this machine gets, unless the user lists others."""
OUT_OF_REACH = frozenset({"disabled", "gate", "bare", "invalid"})
"""What holds a skill back even from somebody who names it."""
HAD_ANYWAY = frozenset(
    {"disabled", "model", "unready", "project", "record", "changed", "quarantined", "blocked"}
)
"""What holds a skill back here and says nothing about whether an agent reads it by itself; what a
person turned off for that agent is not handed to it by another way either."""
BLOCKED_CODE = "mcp-blocked"
HAD_CODE = "has-it"
MAX_SUGGESTED_NAMES = 20
"""Names that an unknown one brings up (HE-9)."""
_MAX_NAME_CHARS = 1024


class Audience(NamedTuple):
    """Who asks: through which door, and what a person has named there."""

    door: Door
    reserved: frozenset[str]
    """The names that this door keeps to itself, in the form in which names are compared."""
    named: Collection[str] = ()
    """Paths of skills that a person has named in this conversation."""
    had: Collection[str] = ()
    """Paths of skills that the agent at this door has by itself."""
    beside: str = ""
    """What that agent is called."""


class OfferRefusal(NamedTuple):
    """Why a model does not get a skill."""

    code: str
    message: str
    hint: str
    readiness: str = ""

    def error(self) -> RefusedError:
        """Give it as what a door reports."""
        error = RefusedError(self.message, code=self.code, hint=self.hint)
        if self.readiness:
            error.details["readiness_status"] = self.readiness
        return error


def audience_of(context: Context, door: Door = "tools") -> Audience:
    """Give the audience of a door; for a host's own tools, with what this session has loaded."""
    keys = reserved_keys(door, context.settings.mcp)
    return Audience(door, keys, context.session.loaded if door == "tools" else ())


def reserved_keys(door: Door, settings: ServeSettings) -> frozenset[str]:
    """Give the names that a door keeps to itself. Over HTTP the user's list adds to those that are
    never given; elsewhere it takes the place of a shorter one.
    """
    if door == "http":
        from metier.run.confirm import NEVER_REMOTE

        return _keys((*NEVER_REMOTE, *settings.blocked, *settings.http_blocked))
    return _keys(settings.blocked or RESERVED)


def _keys(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(_key, names))


def _key(name: str) -> str:
    """Give the form under which names are compared, as `lookup_key` does: without loading it for
    the plain names that a prompt has thousands of.
    """
    if name.isascii():
        return " ".join(name.lower().split()).replace("_", "-").replace(" ", "-")
    from metier.standard.names import lookup_key

    return lookup_key(name)


def is_reserved(card: Card, keys: frozenset[str]) -> bool:
    """Tell whether a skill is among those names, by its own name or with its plugin's."""
    return _key(card.name) in keys or (
        bool(card.plugin) and _key(card.name.removeprefix(f"{card.plugin}:")) in keys
    )


def is_offered(card: Card, audience: Audience) -> bool:
    """Tell whether a model is told of a skill. One that was not judged yet is nobody's."""
    return (
        card.state == "visible"
        and bool(card.verdict)
        and card.path not in audience.had
        and not is_reserved(card, audience.reserved)
    )


def agent_beside(context: Context, name: str) -> Agent | None:
    """Find the agent whose own skills are left out; none where nobody is named."""
    from metier.discover.agents import agent_asked

    agent = agent_asked(name)
    if agent is not None and agent == context.agent:
        raise UsageError(
            f"{agent.title} reads all of that by itself, so nothing would be served",
            hint="leave --agent and METIER_AGENT out: --beside alone serves the rest",
        )
    return agent


def had_paths(context: Context, agent: Agent) -> frozenset[str]:
    """Give the paths of all skills that an agent has by itself: it reads the same place, whichever
    way links lead there, or a copy with the same name and the same bytes.
    """
    from metier.catalogue.digests import digest_of
    from metier.discover.io import disk

    with context.as_agent(agent) as theirs:
        own = [card for card in theirs.catalogue.contents().cards if has_itself(card)]
    paths = {card.path for card in own}
    places = {disk.real(path) for path in paths}
    copies: dict[str, list[Card]] = {}
    for card in own:
        copies.setdefault(card.name, []).append(card)
    found: set[str] = set()
    for card in context.catalogue.contents().cards:
        if card.path in paths or disk.real(card.path) in places:
            found.add(card.path)
        elif card.name in copies:
            digest = digest_of(context, card)
            if digest and any(digest == digest_of(context, one) for one in copies[card.name]):
                found.add(card.path)
    return frozenset(found)


def has_itself(card: Card) -> bool:
    """Tell whether an agent reads a skill, of those in its own view, whatever metier thinks of
    it.
    """
    return card.state == "visible" or (card.state != "shadowed" and card.held in HAD_ANYWAY)


def judged_cards(context: Context, *, menus: bool = False) -> list[Card]:
    """Give all cards, after every skill that could reach a model was judged as it is now; with
    `menus`, what people can call by a command as well.
    """
    from metier.trust.judge import judge_listed

    return judge_listed(context, menus=menus)


def offered_cards(context: Context, audience: Audience | None = None) -> list[Card]:
    """Give what a model is told of: nothing hidden, nothing blocked, nothing that nobody said yes
    to.
    """
    audience = audience or audience_of(context)
    return [card for card in judged_cards(context) if is_offered(card, audience)]


def expected_cards(context: Context) -> list[Card]:
    """Give what a model would be told of if nothing that was not judged yet turns out to be blocked.
    Nobody waits for a scan: it is for a person's eyes, never for a model.
    """
    reserved = audience_of(context).reserved
    cards = context.catalogue.contents().cards
    return [card for card in cards if card.state == "visible" and not is_reserved(card, reserved)]


def missing_note(context: Context) -> str:
    """Say why skills are missing: the user's decisions are damaged, or a search for skills was
    stopped at a limit; nothing when all is well.
    """
    from metier.trust.io.decisions_file import read_decisions

    return read_decisions(context.data).doubt or context.catalogue.cut_note()


def with_missing_note(context: Context, error: NotFoundError) -> NotFoundError:
    """Add to an error about a name why the skill may be one of those that are missing."""
    error.hint = "; ".join(filter(None, (error.hint, missing_note(context))))
    return error


def withheld_paths(context: Context) -> frozenset[str]:
    """Give the paths of all skills whose names are reserved, of every copy: a search leaves them
    out, and so does whoever acts on a model's words.
    """
    reserved = audience_of(context).reserved
    cards = context.catalogue.contents().cards
    return frozenset(card.path for card in cards if is_reserved(card, reserved))


def refusal_of(card: Card, audience: Audience, *, by_path: bool = False) -> OfferRefusal | None:
    """Say why a model does not get a skill that it named; nothing when it may, as far as can be
    said without a look at its bytes.
    """
    from metier.standard.names import one_line

    shown = one_line(card.name)[:_MAX_NAME_CHARS]
    reason = one_line(card.reasons[0]) if card.reasons else card.state
    if is_reserved(card, audience.reserved):
        where = "over HTTP" if audience.door == "http" else "to agents"
        hint = "the user decides that: mcp.blocked in the configuration"
        return OfferRefusal(BLOCKED_CODE, f"'{shown}' is not given {where}", hint)
    if card.path in audience.had:
        message = f"'{shown}' is not served here: {audience.beside} reads it by itself"
        return OfferRefusal(HAD_CODE, message, f"use the one that {audience.beside} has")
    if _is_given(card, audience, by_path=by_path):
        return None
    if card.held == "disabled":
        hint = f"the user can show it again: metier enable {shown}"
        return OfferRefusal("disabled", f"'{shown}' is {reason}", hint)
    if card.held == "gate" and card.readiness == "unsupported":
        message = f"'{shown}' does not work on this platform: {reason}"
        return OfferRefusal("unsupported", message, "use another skill", card.readiness)
    if card.held == "unready":
        hint = f"on the machine itself the user can run: metier setup {shown}"
        return OfferRefusal("setup-needed", f"'{shown}' is not ready: {reason}", hint)
    if card.state == "ask":
        look = f"look at it: metier show {shown}; then: metier trust approve {shown}"
        hint = f"ask the user to {'repair that first' if card.held == 'record' else look}"
        return OfferRefusal("ask", f"'{shown}' waits for the user's yes: {reason}", hint)
    can = "see" if card.state == "blocked" else "still name it, and see"
    hint = f"the user can {can} why: metier why {shown}"
    return OfferRefusal(card.state, f"'{shown}' is not offered to you: {reason}", hint)


def refusal_to_person(card: Card, audience: Audience) -> str:
    """Say why not even a person can hand a skill to a model by naming it; nothing when they can."""
    if is_reserved(card, audience.reserved):
        return "it is not given to agents: mcp.blocked in the configuration decides that"
    if card.held in OUT_OF_REACH:
        return card.reasons[0] if card.reasons else card.state
    return ""


def unoffered_note(card: Card) -> str:
    """Say of a skill that is given to whoever names it that it is not offered here, and why: the
    same words at every door. Nothing of any other.
    """
    if card.held != "offer":
        return ""
    from metier.resolve.gates import UNOFFERED
    from metier.standard.names import one_line

    why = next((one for one in card.reasons if one.startswith(UNOFFERED)), UNOFFERED)
    return f"'{one_line(card.name)}' is {one_line(why)}"


def _is_given(card: Card, audience: Audience, *, by_path: bool) -> bool:
    """Tell whether nothing but its bytes can keep a skill from a model that named it."""
    if card.held == "model":
        return card.path in audience.named
    if card.held == "offer":
        return True
    if card.held == "unready":  # what its prose says about systems refuses nothing
        return card.readiness == "unsupported"
    return card.state == "visible" or (card.state == "shadowed" and by_path and not card.held)


def code_refusal(card: Card, expose: bool | None, settings: ServeSettings) -> OfferRefusal | None:  # noqa: FBT001 - yes, no or unsaid
    """Say why a server does not show a code skill; nothing when it does."""
    from metier.standard.names import one_line

    if expose is False:
        hint = "its author decided that: SKILL_MCP_EXPOSE = False"
        message = f"'{one_line(card.name)}' says itself that no agent gets it"
        return OfferRefusal(BLOCKED_CODE, message, hint)
    if expose or settings.code or _key(card.name) in _keys(settings.allowed):
        return None
    hint = "the user can show it: mcp.allowed in the configuration"
    message = f"'{one_line(card.name)}' is a code skill that nobody has shown to agents"
    return OfferRefusal(BLOCKED_CODE, message, hint)


def named_card(context: Context, name: str, audience: Audience) -> Card:
    """Give the skill that a model may have under this name; refuse every other, with the reason
    (HE-9). Whether its bytes are let in is asked by whoever reads them.
    """
    from metier.disclose.schemas import checked_handle
    from metier.resolve.lookup import is_copy_named

    judged_cards(context)
    try:
        card = context.catalogue.resolve(checked_handle(name))
    except NotFoundError as error:
        raise unknown_name(context, name, audience) from error
    refusal = refusal_of(card, audience, by_path=is_copy_named(name, card))
    if refusal is not None:
        raise refusal.error()
    return card


def unknown_name(context: Context, name: str, audience: Audience) -> NotFoundError:
    """Say that there is no such skill, with names that are offered and no others."""
    from metier.standard.names import nearest

    offered = {card.name for card in offered_cards(context, audience)}
    names = nearest(name, offered, MAX_SUGGESTED_NAMES)
    none = "" if missing_note(context) else "there are no skills"
    error = NotFoundError(
        f"no skill named '{name[:_MAX_NAME_CHARS]}'",
        hint="choose one of: " + ", ".join(names) if names else none,
    )
    error.details["available_skills"] = names
    return with_missing_note(context, error)


def admit(context: Context, card: Card, *, consent: bool = False) -> Usable[TrustCase]:
    """Let the bytes of a skill in, as they are now, or refuse them; `consent` is a person's yes
    where policy asks.
    """
    from metier.trust.load_gate import load

    admitted = load(context, card, consent=consent)
    tell_unoffered(context, card)
    return admitted


def tell_unoffered(context: Context, card: Card) -> None:
    """Have a person told of a skill that is given or run though it is not offered here."""
    note = unoffered_note(card)
    if note and note not in context.warnings:
        context.warnings.append(note)

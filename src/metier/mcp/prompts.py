"""One prompt for each skill that people may call, with what they type after its name."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.disclose import messages, slash
from metier.disclose.expand import (
    SkillCall,
    argument_hint,
    begin_expansion,
    load_activated,
    nameable,
)
from metier.disclose.offer import is_reserved
from metier.discover import skill_files
from metier.discover.io import disk
from metier.errors import MetierError
from metier.mcp import protocol, refusals
from metier.mcp.catalogue import MAX_REMEMBERED_ORDERS
from metier.mcp.copies import copy_skill
from metier.standard.names import encodable, one_line
from metier.standard.sidecar import PATH as SIDECAR_FILE
from metier.trust.boundary import shown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metier.disclose.slash import Menu, MenuCommand, Nameable
    from metier.mcp.catalogue import ServedCatalogue, ServedSnapshot
    from metier.mcp.protocol import ListPages
    from metier.mcp.sessions import Conversation
    from metier.model import Card, JsonObject, Texts

ARGUMENT = "arguments"
MAX_REQUEST_CHARACTERS = 64 * 1024
"""The longest request that a prompt takes."""
_STRANGE = re.compile(r"[^A-Za-z0-9_.-]")
_NUMBERED = re.compile(r"-[0-9]+\Z")
_MARKED = re.compile(r"-[0-9a-f]{8}\Z")
_MAX_DESCRIPTION_CHARACTERS = 300


class _PromptMenu(NamedTuple):
    """What can be called at one generation."""

    generation: int
    menu: Menu
    cards: dict[str, Card]
    alike: dict[str, list[str]]
    """Slugs with letters that names of prompts do not have, by what is left of them."""

    def name_of(self, form: str) -> str:
        """Give the name of a prompt: what any client can show, and with a mark where two would
        otherwise have the same (CO-21).
        """
        plain = safe_name(form)
        if form.isascii() or (self.alike.get(plain) == [form] and plain not in self.menu.groups):
            return plain
        return f"{plain}-{hashlib.sha256(form.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"

    def slugs_of(self, name: str) -> list[str]:
        """Give the slugs that a name with replaced letters may come from."""
        bare = _MARKED.sub("", name).rpartition(".")[2]
        return [
            of
            for left in dict.fromkeys((name, bare, _NUMBERED.sub("", bare)))
            for of in self.alike.get(left, ())
        ]


class Prompts:
    """The prompts of one server."""

    def __init__(self, served: ServedCatalogue, pages: ListPages) -> None:
        """Read nothing yet."""
        self.served = served
        self.pages = pages
        self._made: _PromptMenu | None = None
        self._fields: dict[str, tuple[bytes | None, JsonObject]] = {}
        """By path, under the stats of the files that they were read from."""
        self._orders: dict[int, Texts] = {}
        """Whoever pages has this very mapping, so it is never changed."""

    def listed(self, cursor: str | None) -> JsonObject:
        """Answer `prompts/list`."""
        snapshot = self.served.now()
        made = self._now(snapshot)
        found, following = self.pages.page(
            "prompts", cursor, self._orders, lambda of: self._of_slug(made, of)
        )
        listed = [one for some in found for one in some]
        return protocol.complete({"prompts": listed}, snapshot.settings.mcp.ttl_ms, following)

    def _of_slug(self, made: _PromptMenu, of: str) -> list[JsonObject] | None:
        commands = slash.commands_of(made.menu, of, self._invocable(made.cards))
        found = [(command.form, made.cards[command.skill.path]) for command in commands]
        return [
            self._prompt(made.name_of(form), card)
            for form, card in found
            if self.served.is_usable(card)
        ] or None

    def _prompt(self, name: str, card: Card) -> JsonObject:
        hint = (
            encodable(argument_hint(self._fields_of(card)))
            or "what the skill is to do, in your own words"
        )
        return {
            "name": name,
            "title": encodable(self._fields_of(card).get(_TITLE, card.name)),
            "description": _description(card),
            "arguments": [{"name": ARGUMENT, "description": hint, "required": False}],
        }

    def got(
        self, name: str, arguments: Mapping[str, str], conversation: Conversation | None
    ) -> JsonObject:
        """Answer `prompts/get`."""
        snapshot = self.served.now()
        made = self._now(snapshot)
        unknown = [key for key in arguments if key != ARGUMENT]
        request = arguments.get(ARGUMENT, "")
        if unknown or len(request) > MAX_REQUEST_CHARACTERS:
            raise protocol.invalid_params(
                f"a prompt takes '{ARGUMENT}', of at most {MAX_REQUEST_CHARACTERS:,} characters, "
                f"and nothing else"
            )
        command = self._called(made, name)
        card = made.cards.get(command.skill.path) if command else None
        if command is None or card is None or not slash.is_for_people(self._fields_of(card)):
            why = refusals.why_refused(self.served, name) if card is None else None
            if why is not None:
                raise protocol.refusal_error(why)
            raise protocol.invalid_params(f"there is no prompt named '{name}'")
        try:
            refusals.usable_card(self.served, card.path, also=(card.path,))
            text = self._text(card, command.form, request, conversation)
        except MetierError as error:
            raise protocol.refusal_error(error) from error
        content = {"type": "text", "text": encodable(text)}
        return protocol.complete(
            {
                "description": _description(card),
                "messages": [{"role": "user", "content": content}],
            }
        )

    def _text(self, card: Card, form: str, request: str, conversation: Conversation | None) -> str:
        """Give the message of this one skill: whatever else the request names stays as it was
        typed.
        """
        context = self.served.context
        with self.served.alone:
            context.session.loaded.pop(card.path, None)
            # This one was judged already, and nobody waits here for the others.
            work = begin_expansion(context, context.catalogue.contents().cards)
            call = SkillCall(consent=False, request=request, words=slash.arguments(request))
            parts = load_activated(work, card, call, f"with /{form}")
        if not parts:
            raise protocol.invalid_params(
                work.warnings[0] if work.warnings else f"'{card.name}' cannot be given"
            )
        if conversation is not None:
            self._take(card, conversation)
        return messages.compose(parts, request, context.session.key)[0]

    def _take(self, card: Card, conversation: Conversation) -> None:
        """Let the conversation go on with the files that belong to what it was given."""
        conversation.named.add(card.path)
        digest = self.served.context.session.loaded.get(card.path, "")
        copy = copy_skill(card)
        if not copy.fault and copy.digest == digest:
            level = self.served.standing(card).level
            revision = self.served.revision_of(self.served.now(), copy, card, digest, level)
            conversation.take(card.name, revision)

    # --- which there are

    def _now(self, snapshot: ServedSnapshot) -> _PromptMenu:
        """Gather the skills that people may call, and those whose names they would clash with."""
        with self.served.alone:
            known = self._made
            if known is not None and known.generation >= snapshot.generation:
                return known
            cards = {
                card.path: card
                for card in snapshot.found.cards
                if _is_callable(card)
                and card.path not in snapshot.audience.had
                and not is_reserved(card, snapshot.audience.reserved)
            }
            menu = slash.menu_of(nameable(card)._replace(copy=False) for card in cards.values())
            self._fields = {
                path: fields for path, fields in self._fields.copy().items() if path in cards
            }
            order = tuple(sorted(menu.groups))
            if not self._orders or self._orders[max(self._orders)] != order:
                self._orders = dict(
                    [*self._orders.items(), (snapshot.generation, order)][-MAX_REMEMBERED_ORDERS:]
                )
            alike: dict[str, list[str]] = {}
            for of in menu.groups:
                if not of.isascii():
                    alike.setdefault(safe_name(of), []).append(of)
            self._made = made = _PromptMenu(snapshot.generation, menu, cards, alike)
            return made

    def _called(self, made: _PromptMenu, name: str) -> MenuCommand | None:
        """Give the skill that a prompt's name means."""
        invocable = self._invocable(made.cards)
        for of in made.slugs_of(name):
            for command in slash.commands_of(made.menu, of, invocable):
                if made.name_of(command.form) == name:
                    return command
        return slash.look_up(made.menu, name.replace(".", ":"), invocable)

    def _invocable(self, cards: Mapping[str, Card]) -> Callable[[Nameable], bool]:
        return lambda skill: slash.is_for_people(self._fields_of(cards[skill.path]))

    def _fields_of(self, card: Card) -> JsonObject:
        stat = disk.key_of(skill_files.main_file(card))
        if stat is not None:
            stat += disk.key_of(f"{card.path}/{SIDECAR_FILE}") or b""
        before, known = self._fields.get(card.path, (None, {}))
        if stat is not None and stat == before:
            return known
        fields = skill_files.fields_of(card)
        found = {key: fields[key] for key in _FIELDS_READ if key in fields}
        title = skill_files.sidecar_beside(card).interface.get("display_name")
        if title:
            found[_TITLE] = shown_name(title)
        self._fields[card.path] = stat, found
        return found


_TITLE = "display_name"
_FIELDS_READ = ("user-invocable", "user_invocable", "argument-hint")


def safe_name(form: str) -> str:
    """Give the name of a prompt that any client can show (CO-21)."""
    return _STRANGE.sub("_", form.replace(":", "."))


def _is_callable(card: Card) -> bool:
    """Tell whether a person may have it: visible, merely kept from models or merely not offered
    here; code skills are no text to give.
    """
    return card.kind != "code" and bool(
        (card.state == "visible" and card.verdict)
        or (card.state == "hidden" and card.held in {"model", "offer"})
    )


def _description(card: Card) -> str:
    return encodable(one_line(card.description))[:_MAX_DESCRIPTION_CHARACTERS]

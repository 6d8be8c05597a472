"""One prompt for each skill that people may call, with what they type after its name."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from metier import skillfile
from metier.disclose import message as messages, slash
from metier.discover import disk
from metier.errors import MetierError
from metier.expanding.calling import rank_of
from metier.expanding.loading import Call, begin, load
from metier.mcp import asking, faults, rules
from metier.mcp.conversations import Revision
from metier.mcp.copies import copy_of
from metier.mcp.stock import EDITIONS
from metier.standard.names import encodable, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.disclose.slash import Command, Menu, Nameable
    from metier.mcp.conversations import Conversation
    from metier.mcp.paging import Pages
    from metier.mcp.stock import Snapshot, Stock
    from metier.model import Card

ARGUMENT = "arguments"
REQUEST = 64 * 1024
"""The longest request that a prompt takes."""
_STRANGE = re.compile(r"[^A-Za-z0-9_.-]")
_NUMBERED = re.compile(r"-[0-9]+\Z")
_MARKED = re.compile(r"-[0-9a-f]{8}\Z")
_DESCRIPTION, _HINT = 300, 200


class _Made(NamedTuple):
    """What can be called at one generation."""

    generation: int
    menu: Menu
    cards: dict[str, Card]
    alike: dict[str, list[str]]
    """Slugs with letters that names of prompts do not have, by what is left of them."""

    def name_of(self, form: str) -> str:
        """Give the name of a prompt: what any client can show, and with a mark where two would otherwise have the same (CO-21)."""
        plain = safe_name(form)
        if form.isascii() or (self.alike.get(plain) == [form] and plain not in self.menu.groups):
            return plain
        return f"{plain}-{hashlib.sha256(form.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"

    def slugs_of(self, name: str) -> list[str]:
        """Give the slugs that a name with replaced letters may come from."""
        bare = _MARKED.sub("", name).rpartition(".")[2]
        return [of for left in dict.fromkeys((name, bare, _NUMBERED.sub("", bare))) for of in self.alike.get(left, ())]


class Prompts:
    """The prompts of one stock."""

    def __init__(self, stock: Stock, pages: Pages) -> None:
        """Read nothing yet."""
        self.stock, self.pages = stock, pages
        self._made: _Made | None = None
        self._fields: dict[str, tuple[bytes | None, dict[str, Any]]] = {}
        """By path, under the stat of the file that they were read from."""
        self._orders: dict[int, tuple[str, ...]] = {}
        """Whoever pages has this very mapping, so it is never changed."""

    def listed(self, cursor: str | None) -> dict[str, Any]:
        """Answer `prompts/list`."""
        snapshot = self.stock.now()
        made = self._now(snapshot)
        found, following = self.pages.page("prompts", cursor, self._orders, lambda of: self._of_slug(made, of))
        listed = [one for some in found for one in some]
        return {"resultType": "complete", "prompts": listed, **({"nextCursor": following} if following else {}),
                "ttlMs": snapshot.settings.mcp.ttl_ms, "cacheScope": "private"}  # fmt: skip

    def _of_slug(self, made: _Made, of: str) -> list[dict[str, Any]] | None:
        commands = slash.commands_of(made.menu, of, self._invocable(made.cards))
        found = [self._prompt(made.name_of(command.form), made.cards[command.skill.path]) for command in commands
                 if self.stock.is_usable(made.cards[command.skill.path])]  # fmt: skip
        return found or None

    def _prompt(self, name: str, card: Card) -> dict[str, Any]:
        text = encodable(one_line(card.description))
        hint = _hint(self._fields_of(card).get("argument-hint")) or "what the skill is to do, in your own words"
        return {"name": name, "title": encodable(card.name), "description": text[:_DESCRIPTION],
                "arguments": [{"name": ARGUMENT, "description": hint, "required": False}]}  # fmt: skip

    def got(self, name: str, arguments: Mapping[str, str], talk: Conversation | None) -> dict[str, Any]:
        """Answer `prompts/get`."""
        snapshot = self.stock.now()
        made = self._now(snapshot)
        unknown = [key for key in arguments if key != ARGUMENT]
        request = arguments.get(ARGUMENT, "")
        if unknown or len(request) > REQUEST:
            raise faults.invalid(f"a prompt takes '{ARGUMENT}', of at most {REQUEST:,} characters, and nothing else")
        command = self._called(made, name)
        card = made.cards.get(command.skill.path) if command else None
        if command is None or card is None or not slash.is_for_people(self._fields_of(card)):
            why = asking.why_not(self.stock, name) if card is None else None
            raise faults.refused(why) if why is not None else faults.invalid(f"there is no prompt named '{name}'")
        try:
            asking.named(self.stock, card.path, also=(card.path,))
            text = self._text(card, command.form, request, talk)
        except MetierError as error:
            raise faults.refused(error) from error
        content = {"type": "text", "text": encodable(text)}
        return {"resultType": "complete", "description": encodable(one_line(card.description))[:_DESCRIPTION],
                "messages": [{"role": "user", "content": content}]}  # fmt: skip

    def _text(self, card: Card, form: str, request: str, talk: Conversation | None) -> str:
        """Give the message of this one skill: whatever else the request names stays as it was typed."""
        library = self.stock.library
        with self.stock.alone:
            library.session.loaded.pop(card.path, None)
            work = begin(library)
            loaded = load(work, card, Call(consent=False, request=request, words=slash.arguments(request)))
        if loaded is None:
            raise faults.invalid(work.warnings[0] if work.warnings else f"'{card.name}' cannot be given")
        if talk is not None:
            self._take(card, talk)
        return messages.compose(messages.activated(loaded, f"with /{form}"), request, library.session.key)[0]

    def _take(self, card: Card, talk: Conversation) -> None:
        """Let the conversation go on with the files that belong to what it was given."""
        talk.named.add(card.path)
        digest, copy = self.stock.library.session.loaded.get(card.path, ""), copy_of(card)
        if not copy.fault and copy.digest == digest:
            self.stock.copies.keep(copy)
            level, now = self.stock.standing(card).level, self.stock.now()
            talk.take(card.name, Revision(card, digest, copy._replace(data={}), level, now.terms, now.closed.get(card.path, ())))

    # --- which there are

    def _now(self, snapshot: Snapshot) -> _Made:
        """Gather the skills that people may call, and those whose names they would clash with."""
        with self.stock.alone:
            known = self._made
            if known is not None and known.generation >= snapshot.generation:
                return known
            keys = rules.keys_blocked(self.stock.door, snapshot.settings.mcp)
            cards = {card.path: card for card in snapshot.found.cards if _is_callable(card) and not rules.is_blocked(card, keys)}
            menu = slash.menu_of(map(_nameable, cards.values()))
            self._fields = {path: fields for path, fields in self._fields.copy().items() if path in cards}
            order = tuple(sorted(menu.groups))
            if not self._orders or self._orders[max(self._orders)] != order:
                self._orders = dict([*self._orders.items(), (snapshot.generation, order)][-EDITIONS:])
            alike: dict[str, list[str]] = {}
            for of in menu.groups:
                if not of.isascii():
                    alike.setdefault(safe_name(of), []).append(of)
            self._made = made = _Made(snapshot.generation, menu, cards, alike)
            return made

    def _called(self, made: _Made, name: str) -> Command | None:
        """Give the skill that a prompt's name means."""
        invocable = self._invocable(made.cards)
        for of in made.slugs_of(name):
            for command in slash.commands_of(made.menu, of, invocable):
                if made.name_of(command.form) == name:
                    return command
        return slash.look_up(made.menu, name.replace(".", ":"), invocable)

    def _invocable(self, cards: Mapping[str, Card]) -> Any:
        def invocable(skill: Nameable) -> bool:
            return slash.is_for_people(self._fields_of(cards[skill.path]))

        return invocable

    def _fields_of(self, card: Card) -> dict[str, Any]:
        stat = disk.key_of(skillfile.main_file(card))
        before, known = self._fields.get(card.path, (None, {}))
        if stat is not None and stat == before:
            return known
        fields = skillfile.fields_of(card)
        found = {key: fields[key] for key in _READ if key in fields}
        self._fields[card.path] = stat, found
        return found


_READ = ("user-invocable", "user_invocable", "argument-hint")


def safe_name(form: str) -> str:
    """Give the name of a prompt that any client can show (CO-21)."""
    return _STRANGE.sub("_", form.replace(":", "."))


def _is_callable(card: Card) -> bool:
    """Tell whether a person may have it: visible, or merely kept from models; code skills are no text to give."""
    return card.kind != "code" and (card.state == "visible" or (card.state == "hidden" and card.held == "model"))


def _nameable(card: Card) -> Nameable:
    of, own = slash.slug_of(card.name, card.plugin), slash.own_name(card.name, card.plugin)
    return slash.Nameable(of, card.scope, card.plugin, card.path, rank_of(card), copy=False, exact=own == of)


def _hint(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = f"[{', '.join(value)}]"  # YAML takes brackets for a list
    return encodable(one_line(value))[:_HINT] if isinstance(value, str) else ""

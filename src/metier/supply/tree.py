"""What a skill needs and who needs it, over all that is on this machine; and the command that gets
what is missing.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.io import disk
from metier.resolve.needs import usable_names
from metier.standard.names import lookup_key
from metier.standard.semver import read_range, read_version, satisfies
from metier.supply import places
from metier.supply.dependencies import MAX_DEPTH, MAX_EDGES
from metier.supply.needed import read_needs_of

if TYPE_CHECKING:
    from metier.context import Context
    from metier.model import Card, Texts
    from metier.standard.requirements import SkillRequirement
    from metier.supply.model import DependencyState, Pin


class RequiredSkill(NamedTuple):
    """A skill that another one needs, and what that one needs in turn."""

    name: str
    state: DependencyState
    """`installed`, `missing`, `conflict`, or `cycle` where it leads back to one above it."""
    range: str
    version: str
    source: str
    reason: str
    command: str
    """What gets it, where it is missing."""
    requires: tuple[RequiredSkill, ...]
    """Empty where the same skill stands further up already."""


class SkillNeeds(NamedTuple):
    """One skill, what it needs and who needs it."""

    name: str
    requires: tuple[RequiredSkill, ...]
    required_by: Texts
    related: Texts = ()
    """Skills that it names as related: hints for people."""
    dependency: bool = False
    """Whether it is here only because another skill needs it."""


class InstalledNeeds:
    """Every skill that can be used here, by the names that others may call it."""

    def __init__(self, context: Context) -> None:
        """Look at what there is."""
        self.context = context
        cards = context.catalogue.contents().cards
        self.usable = usable_names(cards)
        self.cards: dict[str, Card] = {}
        for card in cards:
            short = lookup_key(card.name.rpartition(":")[2])
            for key in (lookup_key(card.name), short):
                if card.state != "shadowed":
                    self.cards.setdefault(key, card)
        self.pins: dict[str, Pin] = {}
        for place in places.places(context, None) if context.data else ():
            for pin in places.read(place).lock.pins:
                self.pins.setdefault(lookup_key(pin.name), pin)
        self.left = MAX_EDGES

    def meant(self, by: str, name: str) -> Card | None:
        """Give the skill that another one means by a name: first the one of its own plugin or
        server.
        """
        space, colon, _ = by.rpartition(":")
        own = self.cards.get(lookup_key(f"{space}:{name}")) if colon else None
        return own or self.cards.get(lookup_key(name))

    def needs(self) -> dict[str, set[str]]:
        """Give, by what each skill is called, who needs it."""
        found: dict[str, set[str]] = {}
        for seen in self.context.catalogue.glance().seen:
            for entry in seen.survey().entries:
                for name in entry.needs.skills if entry.needs is not None else ():
                    found.setdefault(lookup_key(name), set()).add(entry.name)
        return found

    def requires(
        self, card: Card, above: tuple[str, ...], told: set[str]
    ) -> tuple[RequiredSkill, ...]:
        """Give what a skill needs, each further skill opened once."""
        said = read_needs_of(card.path).requires.skills if card.kind == "skill-md" else ()
        found = []
        for need in said:
            if self.left == 0 or len(above) > MAX_DEPTH:
                break
            self.left -= 1
            found.append(self._required(card, need, above, told))
        return tuple(found)

    def _required(
        self, by: Card, need: SkillRequirement, above: tuple[str, ...], told: set[str]
    ) -> RequiredSkill:
        card = self.meant(by.name, need.name)
        key = lookup_key(need.name if card is None else card.name)
        if card is None or key not in self.usable:
            why = "it is not installed" if card is None else f"it is {card.state}"
            return RequiredSkill(
                name=need.name,
                state="missing",
                range=need.range,
                version="",
                source=need.source,
                reason=why,
                command=self.command(by, need) if card is None else "",
                requires=(),
            )
        pin = self.pins.get(key)
        version = read_needs_of(card.path).version
        known = read_version(version)
        fits = not need.range or known is None or satisfies(known, read_range(need.range) or ())
        state: DependencyState = "installed" if fits else "conflict"
        inner: tuple[RequiredSkill, ...] = ()
        if key in above:
            state = "cycle"
        elif key not in told:
            told.add(key)
            inner = self.requires(card, (*above, key), told)
        return RequiredSkill(
            name=card.name,
            state=state,
            range=need.range,
            version=version,
            source=pin.source if pin is not None else need.source,
            reason="" if fits else f"{need.range} is needed, and it is {version}",
            command="",
            requires=inner,
        )

    def command(self, by: Card, need: SkillRequirement) -> str:
        """Give the command that gets a skill which is missing."""
        if need.source:
            return f"metier add {shlex.quote(need.source)}"
        pin = self.pins.get(lookup_key(by.name))
        if (
            pin is not None
            and not pin.source.startswith(".")
            and not _lacks(pin, need.name, self.context.home)
        ):
            source = shlex.quote(pin.source)
            return f"metier add {source} --skill {shlex.quote(need.name)}"
        return f"metier search {shlex.quote(need.name)}"


def _lacks(pin: Pin, name: str, home: str | None) -> bool:
    """Tell whether a skill came from a folder of this machine that has no skill of a name beside it."""
    folder = pin.source.removeprefix("file://")
    if folder.startswith("~/") and home:
        folder = home + folder[1:]
    if not folder.startswith("/") or disk.kind_of(folder) != disk.FOLDER:
        return False
    beside = f"{folder}/{pin.path}".rpartition("/")[0]
    return disk.kind_of(f"{beside}/{name}") is None and disk.kind_of(f"{folder}/{name}") is None


def tree(context: Context, name: str) -> SkillNeeds:
    """Say what a skill needs, all the way down, and who needs it."""
    card = context.catalogue.resolve(name)
    machine = InstalledNeeds(context)
    return _needs(machine, card, machine.needs())


def commands_for(context: Context, card: Card) -> list[str]:
    """Give the commands that get what a skill needs and nobody has, each once."""
    found = InstalledNeeds(context).requires(
        card, (lookup_key(card.name),), {lookup_key(card.name)}
    )
    return list(dict.fromkeys(one.command for one in found if one.command))


def forest(context: Context) -> list[SkillNeeds]:
    """Say the same of every skill that needs others and that no other needs; of those that need
    each other in a circle, of the first.
    """
    machine = InstalledNeeds(context)
    needed = machine.needs()
    needing = {name for names in needed.values() for name in names}
    found = []
    told: set[str] = set()
    for whole in (True, False):
        for card in context.catalogue.skills():
            key = lookup_key(card.name)
            top = key not in needed
            if card.name in needing and key not in told and top is whole:
                machine.left = MAX_EDGES
                one = _needs(machine, card, needed)
                told |= {key, *_names(one.requires)}
                found.append(one)
    return found


def _names(requires: tuple[RequiredSkill, ...]) -> set[str]:
    return {lookup_key(one.name) for one in requires}.union(
        *(_names(one.requires) for one in requires)
    )


def _needs(machine: InstalledNeeds, card: Card, needed: dict[str, set[str]]) -> SkillNeeds:
    key = lookup_key(card.name)
    short = lookup_key(card.name.rpartition(":")[2])
    by = {
        one
        for text in {key, short}
        for one in needed.get(text, ())
        if (meant := machine.meant(one, text)) is not None and meant.path == card.path
    }
    pin = machine.pins.get(key)
    hints = read_needs_of(card.path).requires.hints if card.kind == "skill-md" else ()
    return SkillNeeds(
        card.name,
        machine.requires(card, (key,), {key}),
        tuple(sorted(by - {card.name})),
        hints,
        pin is not None and pin.dependency,
    )

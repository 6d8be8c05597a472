"""Slash commands and bundles of this machine: which there are, and what the ones at the start of a message load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier.closest import closest
from metier.disclose import bundles as bundling, message as messages, slash
from metier.discover import disk
from metier.expanding.loading import Call, begin, load, named
from metier.standard.names import one_line, slug
from metier.trust.boundary import shown_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.app import Library
    from metier.disclose.bundles import Bundle, Bundles
    from metier.disclose.message import Part
    from metier.disclose.slash import Menu, Nameable
    from metier.expanding.loading import Work
    from metier.model import Card

_RANKS = {"visible": 0, "shadowed": 0, "ask": 1, "quarantined": 2, "blocked": 3}
_HINT = 200


class SlashCommand(NamedTuple):
    """A command that a person can type, and the skill or bundle it means."""

    slug: str
    name: str
    description: str
    argument_hint: str
    path: str
    clash: tuple[str, ...]
    """The other commands that share its slug."""
    kind: str = "skill"


def load_called(work: Work, text: str, parts: list[Part], endings: list[Part]) -> slash.Typed:
    """Load what the commands at the start of a message mean."""
    book = _bundles(work.library)
    menu = _menu(work, book)
    invocable = _invocable(work)

    def known(name: str) -> bool:
        return _bundle_of(book, name) is not None or slash.look_up(menu, name, invocable) is not None

    typed = slash.read(text, known)
    call = Call(consent=True, request=typed.request, words=slash.arguments(typed.request))
    for name in typed.commands:
        bundle = _bundle_of(book, name)
        if bundle is not None:
            found, ending = _bundle(work, bundle, call)
            parts += found
            endings += ending
        else:
            parts += _command(work, menu, name, call)
    work.warnings.extend(book.warnings)
    if typed.doubtful:
        near = closest(typed.doubtful[:64], _suggested(work, menu, typed.doubtful))
        if near:
            work.warnings.append(f"'/{typed.doubtful}' names no skill and was taken as part of the request; did you mean /{near}?")
    return typed


def _command(work: Work, menu: Menu, name: str, call: Call) -> list[Part]:
    found = slash.look_up(menu, name, _invocable(work))
    if found is None:
        near = _suggested(work, menu, name)
        hint = f"did you mean {', '.join(f'/{one}' for one in near)}?" if near else "there are no commands"
        work.lose(name, f"there is no command '/{name}'; {hint}")
        return []
    card = work.by_path[found.skill.path]
    if not slash.is_for_people(work.fields_of(card)):
        work.lose(card.name, f"'{card.name}' is not a command by its own 'user-invocable'; mention it as ${card.name}")
        return []
    if found.clash and found.form == found.skill.slug:
        work.warnings.append(f"'/{found.form}' is {card.path}; of the same slug: {', '.join(found.clash)}")
    loaded = load(work, card, call)
    return messages.activated(loaded, f"with /{found.form}") if loaded else []


def _menu(work: Work, book: Bundles) -> Menu:
    return slash.menu_of(map(_nameable, work.cards), book.by_slug)


def _nameable(card: Card) -> Nameable:
    of = slash.slug_of(card.name, card.plugin)
    own = slash.own_name(card.name, card.plugin)
    return slash.Nameable(of, card.scope, card.plugin, card.path, rank_of(card), card.state == "shadowed", own == of)


def rank_of(card: Card) -> int:
    """Rank what a name can mean: free, asking, quarantined, blocked, hidden."""
    if card.state == "hidden":
        return 0 if card.held == "model" else 4
    return _RANKS.get(card.state, 5)


def _invocable(work: Work) -> Callable[[Nameable], bool]:
    return lambda skill: slash.is_for_people(work.fields_of(work.by_path[skill.path]))


def _suggested(work: Work, menu: Menu, name: str) -> list[str]:
    """Suggest commands that a person can type. Only when the nearest are none is every skill asked: that reads its file."""
    forms = [of for of, group in menu.groups.items() if any(one.rank <= slash.OFFERED and not one.copy for one in group)]
    invocable = _invocable(work)

    def typed(found: list[str]) -> list[str]:
        return [form for form in found if form in menu.bundles or slash.commands_of(menu, form, invocable)]

    known = [*menu.bundles, *forms]
    return typed(slash.suggestions(name, known)) or slash.suggestions(name, typed(known))


def commands(library: Library) -> list[SlashCommand]:
    """List every slash command, those of bundles too, by slug; what shares a slug says so."""
    work = begin(library)
    book = _bundles(library)
    menu = _menu(work, book)
    invocable = _invocable(work)
    found: list[SlashCommand] = []
    for of in menu.groups:
        for form, skill, clash in slash.commands_of(menu, of, invocable):
            card = work.by_path[skill.path]
            hint = _hint(work.fields_of(card).get("argument-hint"))
            found.append(SlashCommand(form, card.name, card.description, hint, card.path, clash))
    for bundle in book.by_slug.values():
        clash = tuple(f"/{command.slug}" for command in found if slug(command.slug.rpartition(":")[2]) == bundle.slug)
        found.append(SlashCommand(bundle.slug, bundle.name, bundle.description, "", bundle.path, clash, "bundle"))
    library.warnings.extend(warning for warning in book.warnings if warning not in library.warnings)
    return sorted(found, key=lambda command: (command.slug, command.path))


def _hint(value: Any) -> str:
    """Give an argument hint; brackets, which YAML takes for a list, are put back."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = f"[{', '.join(value)}]"
    return one_line(value)[:_HINT] if isinstance(value, str) else ""


# --- bundles


def _bundles(library: Library) -> Bundles:
    """Read the user's bundles; a project has none, since nobody vouches for what it says."""
    folder = f"{library.data}/{bundling.FOLDER}"
    if not library.data or disk.kind_of(folder) != "folder":
        return bundling.Bundles({})
    names = [name for name in disk.list_folder(folder).files if name.endswith(bundling.ENDINGS)]
    files: list[tuple[str, bytes]] = []
    wrong: list[str] = []
    for name in names[: bundling.MAX_FILES]:
        head = disk.read_head(f"{folder}/{name}", bundling.MAX_BYTES + 1)
        if head.fault:
            wrong.append(f"{folder}/{name}: cannot be read: {head.message}")
        else:
            files.append((f"{folder}/{name}", head.data))
    found = bundling.read_bundles(files)
    if len(names) > bundling.MAX_FILES:
        wrong.append(f"{folder}: holds {len(names)} bundles; only the first {bundling.MAX_FILES} count")
    return found._replace(warnings=(*wrong, *found.warnings))


def _bundle_of(book: Bundles, typed: str) -> Bundle | None:
    """Give the bundle that a command means; a qualified one never means a bundle."""
    return None if ":" in typed else book.by_slug.get(slug(typed))


def _bundle(work: Work, bundle: Bundle, call: Call) -> tuple[list[Part], list[Part]]:
    """Load the members of a bundle; those that are missing are named, and the others still count.

    Who types the bundle's name does not name its members, and a name may have changed hands since it was written down: that
    is no yes to a skill that asks first.
    """
    parts: list[Part] = []
    already = False
    for name in bundle.skills:
        card = named(work, name, f"the bundle '{bundle.name}' names '{name}'")
        already = already or (card is not None and card.name in work.skills)
        loaded = load(work, card, call._replace(consent=False)) if card else None
        parts += messages.activated(loaded, f"with the bundle /{bundle.slug}") if loaded else []
    if not (parts or already):
        work.warnings.append(f"no skill of the bundle '{bundle.name}' could be loaded, so nothing was expanded")
        return [], []
    return parts, [messages.bundled(shown_name(bundle.name), bundle.instruction)] if bundle.instruction else []

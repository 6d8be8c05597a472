"""Expands the slash commands and mentions of a user's message into the message that a model
receives.

Whoever types a command, or picks a skill by hand, asks for that very skill: where loading asks, that
is the yes. A mention inside a text is none, since the text may have been pasted. What is blocked
stays blocked and becomes a warning, and the rest of the message goes on. Bodies go
in as they are disclosed, never as written (ZE-25).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier.disclose import fill, mentions, messages, offer, read, slash
from metier.disclose.fill import safe_line
from metier.disclose.meant import bundle_of, named_by, named_in, read_bundles, slug_of_card
from metier.disclose.offer import OUT_OF_REACH
from metier.discover import skill_files
from metier.discover.io import disk
from metier.discover.skill_files import main_file
from metier.errors import MetierError, RefusedError, closest
from metier.resolve.needs import elsewhere, helps_with, lacks, never_given
from metier.standard.names import one_line, slug
from metier.trust.boundary import shown_name
from metier.trust.judge import judge_meant
from metier.usage import counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.context import Context
    from metier.disclose.messages import MessagePart, MessageSkill
    from metier.disclose.slash import Bundle, Bundles, Menu, Nameable
    from metier.model import Body, Card, JsonObject, Texts
    from metier.trust.assess import TrustCase
    from metier.trust.decide import Usable


_MAX_PATH_CHARS = 4_096
_MAX_HELP_CHARS = 1_000
_MAX_LACK_CHARS = 500


class SkillCall(NamedTuple):
    """What somebody asked with: nothing but a name, or a command with a request."""

    consent: bool
    request: str | None = None
    words: Texts = ()
    whole: bool = False
    """Whether the skill's file is given with its frontmatter, as for a mention (CX-47)."""


class Expansion(NamedTuple):
    """One expansion under way."""

    context: Context
    cards: list[Card]
    by_path: dict[str, Card]
    skills: list[str]
    missing: list[str]
    warnings: list[str]
    seen: set[str]
    """Paths of the skills that this message holds, or could not get."""
    fields: dict[str, JsonObject]
    reals: dict[str, Card]
    """Skills by where they really lie, once somebody asked."""
    books: list[Bundles]
    """The user's bundles, once somebody asked."""

    def bundles(self) -> Bundles:
        """Give the user's bundles, read once."""
        if not self.books:
            self.books.append(read_bundles(self.context))
        return self.books[0]

    def judge(self, is_meant: Callable[[Card], bool], *, menus: bool) -> None:
        """Judge the skills that somebody means, and know all others as they are then."""
        self.cards[:] = judge_meant(self.context, is_meant, menus=menus)
        self.by_path.update((card.path, card) for card in self.cards)

    def lose(self, name: str, warning: str) -> None:
        """Note that something named could not be given."""
        if name not in self.missing:
            self.missing.append(name)
        self.warnings.append(warning)

    def fields_of(self, card: Card) -> JsonObject:
        """Give a skill's frontmatter, read once."""
        if card.path not in self.fields:
            self.fields[card.path] = skill_files.fields_of(card)
        return self.fields[card.path]

    def by_real(self) -> dict[str, Card]:
        """Give the skills by where they really lie, the strongest of each; asked of the disk
        once.
        """
        if not self.reals:
            self.reals.update((_real(card.path), card) for card in reversed(self.cards))
        return self.reals


def begin_expansion(context: Context, cards: list[Card]) -> Expansion:
    """Begin with everything that was found, judged as far as somebody is to be told of it, and
    nothing loaded.
    """
    return Expansion(
        context=context,
        cards=list(cards),
        by_path={card.path: card for card in cards},
        skills=[],
        missing=[],
        warnings=[],
        seen=set(),
        fields={},
        reals={},
        books=[],
    )


def resolve_named(work: Expansion, name: str, why: str) -> Card | None:
    """Give the skill that a name means; nothing, and a warning, when it means none."""
    try:
        return work.context.catalogue.resolve(name)
    except (MetierError, OSError, ValueError) as error:
        work.lose(name, f"{why}: {one_line(str(error))}")
        return None


def own_file(card: Card) -> str:
    """Give the path of a skill's own file, as mentions write it."""
    return f"{card.path}/SKILL.md" if card.kind == "skill-md" else card.path


def load_skill(work: Expansion, card: Card, call: SkillCall) -> MessageSkill | None:
    """Give a skill as it goes into a message, once in each; nothing, and a warning, when it may not
    or cannot be read.
    """
    if card.path in work.seen:
        return None
    work.seen.add(card.path)
    context = work.context
    before = context.session.loaded.get(card.path)
    failed = f"Failed to load skill {card.name} at {own_file(card)}:"  # CX-47
    refusal = offer.refusal_to_person(card, offer.audience_of(context))
    if refusal:
        work.lose(card.name, f"{failed} {refusal}")
        return None
    try:
        skill, body = read.open_body(context, card, consent=call.consent, whole=call.whole)
        counter.count_use(context, card, "load", body.tokens)
    except (MetierError, OSError, ValueError) as error:
        if isinstance(error, RefusedError) and error.code == "ask" and not call.consent:
            work.seen.discard(card.path)  # somebody may still name it in the same message
        work.lose(card.name, f"{failed} {one_line(str(error))}")
        return None
    if card.name in work.missing:  # what a bundle could not get, a command after it did
        work.missing.remove(card.name)
    work.skills.append(card.name)
    work.warnings.extend(filter(None, [offer.unoffered_note(card)]))
    return _fill_and_note(work, skill, body, call, before)


def _fill_and_note(
    work: Expansion, skill: Usable[TrustCase], body: Body, call: SkillCall, before: str | None
) -> MessageSkill:
    """Fill in variables, disclose, and note that the session has it."""
    context = work.context
    card = skill.candidate.card
    shell = fill.shell_of(context, skill, body)
    given = fill.fill_in(context, skill, body.content, call.request, call.words, shell)
    if given.kept:
        work.warnings.append(
            f"'{card.name}' has so many variables that {given.kept:,} of them stay as written"
        )
    again = body.digest is not None and before == body.digest and not given.varies
    if body.digest is not None:
        context.session.loaded[card.path] = body.digest
    never = never_given(body.missing["env"], context.machine)
    missing = tuple(safe_line(text, _MAX_LACK_CHARS) for text in lacks(body.missing, never))
    files = tuple(safe_line(path) for paths in body.linked_files.values() for path in paths)
    return messages.MessageSkill(
        name=card.name,
        shown=shown_name(card.name),
        path=own_file(card),
        folder=safe_line(fill.folder_of(card), _MAX_PATH_CHARS),
        content=given.text,
        settings=fill.settings_of(context, body.fields),
        missing=missing,
        help=safe_line(body.setup_help.replace('"', "'"), _MAX_HELP_CHARS),
        files=files,
        again=again,
        unsupported=safe_line(_unsupported(context, card, body)),
        helpless=not helps_with(body.missing, never),
    )


def _unsupported(context: Context, card: Card, body: Body) -> str:
    """Say why a skill's own words keep it from this system; nothing when they do not."""
    if body.readiness != "unsupported":
        return ""
    return elsewhere(skill_files.needs_of(card, body.fields).systems, context.platform)


_RANKS = {"visible": 0, "shadowed": 0, "ask": 1, "quarantined": 3, "blocked": 4}
_UNOFFERED_RANK = 2
_HIDDEN_RANK = 5
_MAX_HINT_CHARS = 200


class SlashCommand(NamedTuple):
    """A command that a person can type, and the skill or bundle it means."""

    slug: str
    name: str
    description: str
    argument_hint: str
    path: str
    clash: Texts
    """The other commands that share its slug."""
    kind: str = "skill"


def load_called(
    work: Expansion, text: str, parts: list[MessagePart], endings: list[MessagePart]
) -> slash.Typed:
    """Load what the commands at the start of a message mean."""
    book = work.bundles()
    menu = _menu_of(work, book)
    invocable = _invocable(work)

    def known(name: str) -> bool:
        return bundle_of(book, name) is not None or slash.look_up(menu, name, invocable) is not None

    typed = slash.read_commands(text, known)
    call = SkillCall(consent=True, request=typed.request, words=slash.arguments(typed.request))
    for name in typed.commands:
        bundle = bundle_of(book, name)
        if bundle is not None:
            found, ending = _load_bundle(work, bundle, call)
            parts += found
            endings += ending
        else:
            parts += _load_command(work, menu, name, call)
    work.warnings.extend(book.warnings)
    if typed.doubtful:
        near = closest(typed.doubtful[:64], _suggested(work, typed.doubtful))
        if near:
            work.warnings.append(
                f"'/{typed.doubtful}' names no skill and was taken as part of the request; did "
                f"you mean /{near}?"
            )
    return typed


def _load_command(work: Expansion, menu: Menu, name: str, call: SkillCall) -> list[MessagePart]:
    found = slash.look_up(menu, name, _invocable(work))
    if found is None:
        near = ", ".join(f"/{one}" for one in _suggested(work, name))
        hint = f"did you mean {near}?" if near else "there are no commands"
        work.lose(name, f"there is no command '/{name}'; {hint}")
        return []
    card = work.by_path[found.skill.path]
    if not slash.is_for_people(work.fields_of(card)):
        work.lose(
            card.name,
            f"'{card.name}' is not a command by its own 'user-invocable'; mention it as "
            f"${card.name}",
        )
        return []
    if found.clash and found.form == found.skill.slug:
        work.warnings.append(
            f"'/{found.form}' is {card.path}; of the same slug: {', '.join(found.clash)}"
        )
    return load_activated(work, card, call, f"with /{found.form}")


def load_activated(
    work: Expansion, card: Card | None, call: SkillCall, told_by: str
) -> list[MessagePart]:
    """Give the parts of a skill that somebody asked for; none when there is none, or it may not or
    cannot be given.
    """
    loaded = load_skill(work, card, call) if card else None
    return messages.activated(loaded, told_by) if loaded else []


def _menu_of(work: Expansion, book: Bundles, *, judged: bool = True) -> Menu:
    """Gather what a command can mean. A name that no agent gets means nothing else, nor does a
    skill that was not judged, unless that does not matter yet, but nobody is offered a command for
    it.
    """
    reserved = offer.audience_of(work.context).reserved
    skills = (
        nameable(card)._replace(rank=_HIDDEN_RANK)
        if offer.is_reserved(card, reserved)
        or (judged and not card.verdict and rank_of(card) <= slash.MAX_OFFERED_RANK)
        else nameable(card)
        for card in work.cards
    )
    return slash.menu_of(skills, book.by_slug)


def nameable(card: Card) -> Nameable:
    """Give a skill as far as naming it goes."""
    own = slash.own_name(card.name, card.plugin)
    of = slug(own)
    return slash.Nameable(
        slug=of,
        scope=card.scope,
        plugin=card.plugin,
        path=card.path,
        rank=rank_of(card),
        copy=card.state == "shadowed",
        exact=own == of,
    )


def rank_of(card: Card) -> int:
    """Rank what a name can mean: free, asking, not offered here, quarantined, blocked, hidden."""
    if card.state == "hidden":
        return {"model": 0, "offer": _UNOFFERED_RANK}.get(card.held, _HIDDEN_RANK)
    return _RANKS.get(card.state, _HIDDEN_RANK + 1)


def _invocable(work: Expansion) -> Callable[[Nameable], bool]:
    return lambda skill: slash.is_for_people(work.fields_of(work.by_path[skill.path]))


def _suggested(work: Expansion, name: str) -> list[str]:
    """Suggest commands that a person can type: what is near is judged before anybody is told."""
    book = work.bundles()
    near = _near_commands(work, _menu_of(work, book, judged=False), name)
    slugs = {one.rpartition(":")[2] for one in near}
    work.judge(lambda card: slug_of_card(card) in slugs, menus=True)
    return _near_commands(work, _menu_of(work, book), name)


def _near_commands(work: Expansion, menu: Menu, name: str) -> list[str]:
    """Give the commands that are near a name. Only when the nearest are none is every skill asked:
    that reads its file.
    """
    forms = [
        of
        for of, group in menu.groups.items()
        if any(one.rank <= slash.MAX_OFFERED_RANK and not one.copy for one in group)
    ]
    invocable = _invocable(work)

    def typed(found: list[str]) -> list[str]:
        return [
            form
            for form in found
            if form in menu.bundles or slash.commands_of(menu, form, invocable)
        ]

    known = [*menu.bundles, *forms]
    return typed(slash.suggestions(name, known)) or slash.suggestions(name, typed(known))


def commands(context: Context) -> list[SlashCommand]:
    """List every slash command, those of bundles too, by slug; what shares a slug says so."""
    work = begin_expansion(context, offer.judged_cards(context, menus=True))
    book = work.bundles()
    menu = _menu_of(work, book)
    invocable = _invocable(work)
    found: list[SlashCommand] = []
    for of in menu.groups:
        for form, skill, clash in slash.commands_of(menu, of, invocable):
            card = work.by_path[skill.path]
            hint = argument_hint(work.fields_of(card))
            found.append(SlashCommand(form, card.name, card.description, hint, card.path, clash))
    for bundle in book.by_slug.values():
        clash = tuple(
            f"/{command.slug}"
            for command in found
            if slug(command.slug.rpartition(":")[2]) == bundle.slug
        )
        found.append(
            SlashCommand(
                slug=bundle.slug,
                name=bundle.name,
                description=bundle.description,
                argument_hint="",
                path=bundle.path,
                clash=clash,
                kind="bundle",
            )
        )
    context.warnings.extend(warning for warning in book.warnings if warning not in context.warnings)
    return sorted(found, key=lambda command: (command.slug, command.path))


def argument_hint(fields: Mapping[str, Any]) -> str:
    """Give an argument hint; brackets, which YAML takes for a list, are put back."""
    value = fields.get("argument-hint")
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = f"[{', '.join(value)}]"
    return one_line(value)[:_MAX_HINT_CHARS] if isinstance(value, str) else ""


# --- bundles


def _load_bundle(
    work: Expansion, bundle: Bundle, call: SkillCall
) -> tuple[list[MessagePart], list[MessagePart]]:
    """Load the members of a bundle; those that are missing are named, and the others still count.

    Who types the bundle's name does not name its members, and a name may have changed hands since
    it was written down: that is no yes to a skill that asks first.
    """
    parts: list[MessagePart] = []
    already = False
    for name in bundle.skills:
        card = resolve_named(work, name, f"the bundle '{bundle.name}' names '{name}'")
        already = already or (card is not None and card.name in work.skills)
        parts += load_activated(
            work, card, call._replace(consent=False), f"with the bundle /{bundle.slug}"
        )
    if not (parts or already):
        work.warnings.append(
            f"no skill of the bundle '{bundle.name}' could be loaded, so nothing was expanded"
        )
        return [], []
    if not bundle.instruction:
        return parts, []
    return parts, [messages.bundled(shown_name(bundle.name), bundle.instruction)]


__all__ = ["Expanded", "Preloaded", "SlashCommand", "commands", "expand", "implicit_use", "preload"]


class Expanded(NamedTuple):
    """What a model receives, and what happened to each name in the message."""

    message: str
    skills: list[str]
    missing: list[str]
    warnings: list[str]
    user_text: str
    """The user's own words; `Library.recover` finds them in the message again."""
    parts: tuple[MessagePart, ...]
    arguments: Texts = ()
    """The request after a slash command, split as a shell would."""
    refused: bool = False
    """Whether a slash command was typed and none of its skills could be given."""


class Preloaded(NamedTuple):
    """The instructions of several skills for the start of a session (HE-30)."""

    prompt: str
    loaded: list[str]
    missing: list[str]
    warnings: list[str]


def expand(
    context: Context,
    text: str,
    selections: Sequence[tuple[str, str]] = (),
    connectors: Iterable[str] = (),
) -> Expanded:
    """Turn the slash commands and mentions of a message into what a model receives; a message
    without any stays as it is.

    `connectors` are the slugs of a host's apps, whose names no plain mention may share (CX-45).
    """
    plain = slash.unescaped(text)
    typed = slash.Typed((), text if plain is None else plain)
    begins = plain is None and bool(slash.read_commands(text, lambda _name: False).commands)
    if not (begins or selections or _mentions_anything(text)):
        return Expanded(typed.request, [], [], [], typed.request, ())
    told = len(context.warnings)
    work = begin_expansion(context, context.catalogue.contents().cards)
    work.judge(named_in(work.bundles, text, selections), menus=begins)
    parts: list[MessagePart] = []
    endings: list[MessagePart] = []
    if begins:
        typed = load_called(work, text, parts, endings)
    called = bool(parts)
    words = typed.request if called or not begins else text
    parts += _load_mentions(work, words, selections, connectors)
    warnings = _once(work.warnings, context.warnings[told:], _missing(work))
    arguments = slash.arguments(typed.request) if called else ()
    if not parts:
        return Expanded(words, [], work.missing, warnings, words, (), refused=begins)
    composed, whole = messages.compose([*parts, *endings], words, context.session.key)
    return Expanded(
        message=composed,
        skills=work.skills,
        missing=work.missing,
        warnings=warnings,
        user_text=words,
        parts=whole,
        arguments=arguments,
        refused=begins and not called,
    )


def _mentions_anything(text: str) -> bool:
    if "$" not in text:
        return False
    found = mentions.find_mentions(text)
    return bool(found.names or found.links)


def _load_mentions(
    work: Expansion, text: str, selections: Sequence[tuple[str, str]], connectors: Iterable[str]
) -> list[MessagePart]:
    found = mentions.find_mentions(text)
    found = found._replace(links=tuple((name, _as_known(work, path)) for name, path in found.links))
    if not (found.names or found.links or selections):
        return []
    skills = [
        mentions.Mentionable(card.name, own_file(card), _mention_rank(card)) for card in work.cards
    ]
    selected = [_selection(work, one, skills) for one in selections]
    chosen = mentions.select_skills(found, selected, skills, connectors)
    parts: list[MessagePart] = []
    picked = {path for _name, path in selected}
    for at in chosen.chosen:
        card = work.cards[at]
        # A name in a text may have been pasted: only what somebody picked by hand is a yes.
        call = SkillCall(consent=own_file(card) in picked, whole=True)
        loaded = load_skill(work, card, call)
        if loaded:
            parts.append(messages.mentioned(loaded, loaded.files if card.held == "model" else None))
    for name, path in chosen.unmatched:
        work.lose(
            name or path,
            f"Failed to load skill {name} at {path}: no skill that is enabled lies there",
        )
    _lose_unreachable(work, found.names, selected)
    for name in chosen.ambiguous:
        listed = [
            own_file(card) for card in work.cards if card.name == name and _mention_rank(card) >= 0
        ]
        work.lose(
            name,
            f"'${name}' means {len(listed)} skills, so none was taken; write [${name}](PATH) with "
            f"one of: " + ", ".join(listed[:5]),
        )
    return parts


def _lose_unreachable(work: Expansion, names: Texts, selected: Sequence[tuple[str, str]]) -> None:
    """Say of mentioned skills of which every copy is out of reach why they are not given."""
    picked = {name for name, _path in selected}
    for name in names:
        cards = [card for card in work.cards if card.name == name]
        if cards and name not in picked and all(_mention_rank(card) < 0 for card in cards):
            load_skill(
                work, cards[0], SkillCall(consent=False)
            )  # which refuses it, with the reason


def _as_known(work: Expansion, path: str) -> str:
    """Give a path as the catalogue writes it: a skill whose own file is `skill.md` is known by
    `SKILL.md`, and one that a link leads to by the link, wherever it really lies (CX-32).
    """
    key = mentions.path_key(path)
    folder, _, file = key.rpartition("/")
    named = file.lower() == "skill.md"
    place = folder if named else key
    card = work.by_path.get(place)
    if card is None and place.startswith("/"):
        card = work.by_real().get(_real(place))
    if card is None or (named and file != "SKILL.md" and main_file(card) != f"{card.path}/{file}"):
        return path
    return own_file(card) if named else card.path


def _selection(
    work: Expansion, selection: tuple[str, str], skills: list[mentions.Mentionable]
) -> tuple[str, str]:
    """Give a selection by hand the name it stands for, and the path of a file where it gives a
    folder.
    """
    name = selection[0]
    path = _as_known(work, selection[1])
    place = mentions.path_key(path)
    for skill in skills:
        if place in {skill.file, skill.file.removesuffix("/SKILL.md")}:
            return name or skill.name, skill.file
    return name or place.removesuffix("/SKILL.md").rpartition("/")[2], path


def _mention_rank(card: Card) -> int:
    """Tell what no mention means from what it may; the rest is ranked as for commands."""
    return -1 if card.held in OUT_OF_REACH else 0 if card.held == "unready" else rank_of(card)


def preload(context: Context, names: Sequence[str]) -> Preloaded:
    """Give the instructions of several skills, each once. A list is nobody's yes: what asks first
    is refused here.
    """
    told = len(context.warnings)
    work = begin_expansion(context, context.catalogue.contents().cards)
    work.judge(named_by(names), menus=False)
    parts: list[MessagePart] = []
    for name in dict.fromkeys(names):
        card = resolve_named(work, name, "not preloaded")
        parts += load_activated(
            work, card, SkillCall(consent=False), "at the start of this conversation"
        )
    prompt = "\n\n".join(part.text for part in parts)
    warnings = _once(work.warnings, context.warnings[told:], _missing(work))
    return Preloaded(prompt, work.skills, work.missing, warnings)


def _missing(work: Expansion) -> list[str]:
    """Say where something could not be given that skills are missing, and why."""
    note = offer.missing_note(work.context) if work.missing else ""
    return [note] if note else []


def _once(*warnings: Iterable[str]) -> list[str]:
    """Give warnings in their order, each once."""
    return list(dict.fromkeys(one for some in warnings for one in some))


def implicit_use(context: Context, command: str, folder: str | None = None) -> Card | None:
    """Give the skill that a shell command uses without naming it (CX-48)."""
    cards = [
        card
        for card in context.catalogue.contents().cards
        if card.held not in OUT_OF_REACH and card.state != "blocked"
    ]
    skills = [mentions.ImplicitSkill(own_file(card), f"{card.path}/scripts") for card in cards]
    place = mentions.skill_used_by(
        command, folder or context.cwd, skills, _real, context.home or ""
    )
    return None if place is None else cards[place]


def _real(path: str) -> str:
    try:
        return disk.real(path)
    except (OSError, ValueError):  # a name that no disk could hold
        return path

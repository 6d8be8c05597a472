r"""Reads slash commands and bundles: what a person typed at the start of a message, and which
skills each command means. Pure.

A slug is `standard.names.slug` of a skill's name; a plugin's skill has the slug of the part after
the plugin's own name. Letters of other scripts stay in it: without them a name such as `翻訳` would
have no command, and many would share one (HE-26 drops them). Where several skills share a slug, the
first keeps it: what is free to use before what still asks, then the skill whose name is that very
slug, and then in the order of the catalogue. A bundle comes before every skill (HE-29). Each of the
others is reached as `/plugin:slug`, else as `/scope:slug`, else as `/slug-2`, `/slug-3` and so on,
whichever nobody has yet; the clash is named wherever they are listed.

A bundle is one command for several skills, which the user writes down in `skill-bundles/*.yaml`
(HE-29). A fault in such a file is reported with its place, and the other files still count.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import closest
from metier.standard import full_yaml
from metier.standard.names import near_names, nearest, one_line, slug

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.model import JsonObject, Texts


MAX_STACKED = 16
"""How many commands one message may begin with; what follows is part of the request."""
MAX_SUGGESTIONS = 5
MAX_TYPED = 64
MAX_COMPARED = 500
"""How long a command may be, and with how many it is compared, when a slip of the finger is looked
for."""
MAX_NAMED_CLASHES = 8
"""How many of those that share a slug are named."""
SHLEX_CHARACTERS = 16_384
"""The standard splitter copies a token for every character it adds: a longer text is split at its
spaces."""
MAX_OFFERED_RANK = 1
"""The highest rank of a skill that has a command of its own; those beyond it are held back, and a
command says by what."""

# Letters and digits of any script, `_`, `-` and `?` (CO-29); a colon stands in qualified forms.
# What follows on a line of its own keeps its indentation.
_COMMAND = re.compile(r"\s*/([\w?:-]{1,256})(?:\s*\n|[^\S\n]+|\Z)")
_ESCAPED = re.compile(r"\s*(\\)\\*/")
_NUMBERED = re.compile(r"(.+)-[0-9]{1,6}\Z")


class Nameable(NamedTuple):
    """A skill as far as naming it goes."""

    slug: str
    scope: str
    plugin: str
    path: str
    rank: int
    """0: free to use. 1: it asks first. Above that it is held back, further the higher."""
    copy: bool = False
    """Whether another skill of its very name stands before it: then only a qualified form means
    it."""
    exact: bool = False
    """Whether its name is the slug, letter by letter."""


class Typed(NamedTuple):
    """The beginning of a message, taken apart."""

    commands: Texts
    """As typed, without the slash; the first whether anybody knows it or not."""
    request: str
    """The rest, or the whole text when there is no command."""
    doubtful: str = ""
    """What looks like one more command but means nothing, and so belongs to the request."""


class MenuCommand(NamedTuple):
    """A slash command and the skill it means."""

    form: str
    skill: Nameable
    clash: Texts = ()
    """The other forms that share its slug."""


class Menu(NamedTuple):
    """Every skill by slug, in the order of the catalogue, and the slugs that bundles take."""

    groups: dict[str, list[Nameable]]
    bundles: frozenset[str] = frozenset()


def slug_of(name: str, plugin: str = "") -> str:
    """Give the slug of a skill; nothing where its name has no letter or digit, and then it has no
    command (HE-26).
    """
    return slug(own_name(name, plugin))


def own_name(name: str, plugin: str = "") -> str:
    """Give the name of a skill without that of its plugin."""
    return name.removeprefix(f"{plugin}:") if plugin else name


def menu_of(skills: Iterable[Nameable], bundles: Iterable[str] = ()) -> Menu:
    """Gather skills by slug."""
    groups: dict[str, list[Nameable]] = {}
    for skill in skills:
        if skill.slug:
            groups.setdefault(skill.slug, []).append(skill)
    return Menu(groups, frozenset(bundles))


def unescaped(text: str) -> str | None:
    r"""Give a message that begins with `\/` without that one backslash; nothing for any other
    message.
    """
    found = _ESCAPED.match(text)
    return text[: found.start(1)] + text[found.end(1) :] if found else None


def read_commands(text: str, known: Callable[[str], bool]) -> Typed:
    """Take the commands off the start of a message. A path such as `/usr/bin/python` is not one,
    nor is a lone `/`.
    """
    commands: list[str] = []
    at = 0
    while len(commands) < MAX_STACKED and (found := _COMMAND.match(text, at)):
        if commands and not known(found[1]):
            return Typed(tuple(commands), text[at:], found[1])
        commands.append(found[1])
        at = found.end()
        if not known(found[1]):
            break
    return Typed(tuple(commands), text[at:] if commands else text)


def arguments(request: str) -> Texts:
    """Split a request as a shell would, or at its spaces where a shell could not."""
    import shlex

    if len(request) <= SHLEX_CHARACTERS:
        with suppress(ValueError):
            return tuple(shlex.split(request))
    return tuple(request.split())


def is_for_people(fields: dict[str, object]) -> bool:
    """Tell whether a skill lets people call it by a command; what cannot be read restricts
    (MT-11).
    """
    value = fields.get("user-invocable", fields.get("user_invocable", ""))
    return isinstance(value, str) and value.strip().lower() in {"", "true", "yes", "on"}


def unnumbered(of: str) -> str:
    """Give a slug without the number that tells it from another, if it has one."""
    numbered = _NUMBERED.match(of)
    return numbered[1] if numbered else of


def commands_of(menu: Menu, of: str, invocable: Callable[[Nameable], bool]) -> list[MenuCommand]:
    """Give the commands of all skills that share one slug, the plain form first."""
    group = [
        skill
        for skill in menu.groups.get(of, ())
        if skill.rank <= MAX_OFFERED_RANK and not skill.copy
    ]
    if len(group) > 1:
        group.sort(key=lambda skill: (skill.rank, not skill.exact))
    group = [skill for skill in group if invocable(skill)]
    claimed = {of} & menu.bundles
    number = 2
    forms: list[str] = []
    for skill in group:
        form = next((form for form in _forms(skill, of) if form not in claimed), "")
        while not form:
            numbered = f"{of}-{number}"
            number += 1
            if numbered not in menu.groups and numbered not in menu.bundles:
                form = numbered
        claimed.add(form)
        forms.append(form)
    shared = [*({of} & menu.bundles), *forms][: MAX_NAMED_CLASHES + 1]
    return [
        MenuCommand(form, skill, _others(shared, form))
        for form, skill in zip(forms, group, strict=True)
    ]


def _forms(skill: Nameable, of: str) -> list[str]:
    qualifiers = [slug(skill.plugin)] if skill.plugin else []
    return [of, *(f"{qualifier}:{of}" for qualifier in (*qualifiers, skill.scope) if qualifier)]


def _others(shared: list[str], form: str) -> Texts:
    return tuple(f"/{other}" for other in shared if other != form)[:MAX_NAMED_CLASHES]


def look_up(menu: Menu, typed: str, invocable: Callable[[Nameable], bool]) -> MenuCommand | None:
    """Give the skill that a command means, `_` and `-` and letters of any case alike; none when it
    means none.

    What has no command of its own is still found, so that whoever typed it learns why: a skill that
    is held back, one that is not for people to call, and by a qualified form any copy.
    """
    form, of = _normal(typed)
    base = of
    if of not in menu.groups and (numbered := _NUMBERED.match(of)):
        base = numbered[1]
    for command in commands_of(menu, base, invocable):
        if command.form == form:
            return command
    qualifier = form.partition(":")[0] if ":" in form else ""
    group = menu.groups.get(of, ())
    if qualifier:
        group = [skill for skill in group if skill.scope == qualifier] or [
            one for one in group if slug(one.plugin) == qualifier
        ]
    else:
        group = [skill for skill in group if not skill.copy and of not in menu.bundles]
    held = min(group, key=lambda skill: (skill.rank, skill.copy, not skill.exact), default=None)
    return MenuCommand(form, held) if held else None


def _normal(typed: str) -> tuple[str, str]:
    """Give a command as forms are written, and the slug in it."""
    qualifier, colon, rest = typed.partition(":")
    if not colon:
        return slug(typed), slug(typed)
    return f"{slug(qualifier)}:{slug(rest)}", slug(rest)


def suggestions(typed: str, forms: Iterable[str]) -> list[str]:
    """Name the commands that may have been meant: those with the same first two letters (CO-29) or
    a slip away, else what is near; where nothing is, the first few.
    """
    known = list(forms)
    start = typed[:2].lower()
    alike = [form for form in known if form[:2] == start]
    # A slip of the finger is costly to find, so it is looked for only among what is about as long.
    close = [
        form
        for form in known
        if form[:1] == start[:1] and abs(len(form) - len(typed)) <= 2 and len(form) <= MAX_TYPED
    ]
    slip = closest(typed, close[:MAX_COMPARED]) if len(typed) <= MAX_TYPED else ""
    near = [*nearest(typed, alike, MAX_SUGGESTIONS), *sorted(alike)[:MAX_SUGGESTIONS], slip]
    found = list(dict.fromkeys(filter(None, near)))[:MAX_SUGGESTIONS]
    return (
        found or near_names(typed, known, MAX_SUGGESTIONS) or nearest(typed, known, MAX_SUGGESTIONS)
    )


# --- bundles

BUNDLE_FOLDER = "skill-bundles"
BUNDLE_ENDINGS = (".yaml", ".yml")
MAX_BUNDLE_BYTES = 64 * 1024
MAX_BUNDLE_FILES = 256
MAX_BUNDLE_SKILLS = 32
"""Skills of one bundle; the rest is left out, with a warning."""
_MAX_SHOWN_CHARS = 200


class Bundle(NamedTuple):
    """Several skills under one command."""

    name: str
    slug: str
    description: str
    skills: Texts
    instruction: str
    path: str


class Bundles(NamedTuple):
    """The bundles by slug, in the order of their files, and what was wrong."""

    by_slug: dict[str, Bundle]
    warnings: Texts = ()


def read_bundles(files: Iterable[tuple[str, bytes]]) -> Bundles:
    """Read every bundle; of two with one slug the first file's counts."""
    found: dict[str, Bundle] = {}
    warnings: list[str] = []
    for path, data in files:
        bundle, wrong = read_bundle(data, path)
        warnings += wrong
        if bundle is not None and found.setdefault(bundle.slug, bundle) is not bundle:
            warnings.append(
                f"{path}: the bundle '/{bundle.slug}' is already in {found[bundle.slug].path}; "
                f"this one is not used"
            )
    return Bundles(found, tuple(warnings))


def read_bundle(data: bytes, path: str) -> tuple[Bundle | None, list[str]]:
    """Read one bundle, or say what is wrong with it and where."""
    if len(data) > MAX_BUNDLE_BYTES:
        return None, [f"{path}: larger than {MAX_BUNDLE_BYTES // 1024} KiB, not read"]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        return None, [f"{path}:{data.count(10, 0, fault.start) + 1}:1: not UTF-8"]
    loaded = full_yaml.load(text)
    if loaded.error is not None:
        message, line, column = loaded.error
        return None, [f"{path}:{line}:{column}: not valid YAML: {message}"]
    if not isinstance(loaded.value, dict):
        return None, [f"{path}:1:1: not a mapping with name, description, skills and instruction"]
    warnings = [
        f"{path}:{line}:{column}: {message}" for _code, message, line, column in loaded.faults[:5]
    ]
    return _bundle(loaded.value, loaded.spans, path, warnings), warnings


def _bundle(
    value: JsonObject, spans: dict[str, tuple[int, int]], path: str, warnings: list[str]
) -> Bundle | None:
    def wrong(key: str, what: str) -> None:
        line, column = spans.get(key, (1, 1))
        warnings.append(f"{path}:{line}:{column}: '{key}' {what}")

    def text(key: str) -> str:
        found = value.get(key, "")
        if not isinstance(found, str):
            wrong(key, "must be a text")
            return ""
        return found

    file = path.rpartition("/")[2].rpartition(".")[0]
    name = one_line(text("name"))[:_MAX_SHOWN_CHARS] or one_line(file)
    skills = _skills(value.get("skills"))
    if skills is None:
        wrong("skills", "must be a list of names")
        return None
    if len(skills) > MAX_BUNDLE_SKILLS:
        wrong("skills", f"has {len(skills)} names; only the first {MAX_BUNDLE_SKILLS} count")
    if not slug(name):
        wrong("name", "has no letter or digit, so no command can name it")
        return None
    return Bundle(
        name,
        slug(name),
        one_line(text("description")),
        skills[:MAX_BUNDLE_SKILLS],
        text("instruction").strip(),
        path,
    )


def _skills(value: Any) -> Texts | None:
    """Read a list of names, each once; `None` when it is not one, or has none."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(dict.fromkeys(filter(None, map(one_line, value)))) or None

"""Tells which skills a message or a list of names can mean, before any of them is judged, and reads
the user's bundles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.disclose import mentions, slash
from metier.discover.io import disk
from metier.standard.names import slug

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.context import Context
    from metier.disclose.slash import Bundle, Bundles
    from metier.model import Card


def slug_of_card(card: Card) -> str:
    """Give the slug under which a skill has its commands."""
    return slash.slug_of(card.name, card.plugin)


def named_in(
    bundles: Callable[[], Bundles], text: str, selections: Sequence[tuple[str, str]]
) -> Callable[[Card], bool]:
    """Give what tells whether a message can mean a skill: it, and every copy that shares its name,
    is judged before anything of it is given.
    """
    found = mentions.find_mentions(text)
    typed = slash.read_commands(text, lambda _name: True).commands
    book = bundles() if typed else slash.Bundles({})
    called = filter(None, (bundle_of(book, name) for name in typed))
    names = [*typed, *found.names, *(name for bundle in called for name in bundle.skills)]
    for name, path in (*found.links, *selections):
        place = mentions.path_key(path)
        parts = place.split("/")
        is_file = parts[-1].lower() == "skill.md"
        names += [name, place, parts[-2] if is_file and len(parts) > 1 else parts[-1]]
    return named_by(names)


def named_by(names: Iterable[str]) -> Callable[[Card], bool]:
    """Give what tells whether one of some names can mean a skill: its own, its folder's, or a
    numbered one.
    """
    keys: set[str] = set()
    for name in names:
        plain = slug(name.removesuffix("/SKILL.md").rpartition("/")[2].removesuffix(".md"))
        keys |= {plain, slug(name.rpartition(":")[2]), slash.unnumbered(plain)}
    keys.discard("")

    def is_meant(card: Card) -> bool:
        folder = card.path.rpartition("/")[2]
        return slug_of_card(card) in keys or slug(folder.removesuffix(".md")) in keys

    return is_meant


def read_bundles(context: Context) -> Bundles:
    """Read the user's bundles; a project has none, since nobody vouches for what it says."""
    folder = f"{context.data}/{slash.BUNDLE_FOLDER}"
    if not context.data or disk.kind_of(folder) != "folder":
        return slash.Bundles({})
    names = [name for name in disk.list_folder(folder).files if name.endswith(slash.BUNDLE_ENDINGS)]
    files: list[tuple[str, bytes]] = []
    wrong: list[str] = []
    for name in names[: slash.MAX_BUNDLE_FILES]:
        head = disk.read_head(f"{folder}/{name}", slash.MAX_BUNDLE_BYTES + 1)
        if head.fault:
            wrong.append(f"{folder}/{name}: cannot be read: {head.message}")
        else:
            files.append((f"{folder}/{name}", head.data))
    found = slash.read_bundles(files)
    if len(names) > slash.MAX_BUNDLE_FILES:
        wrong.append(
            f"{folder}: holds {len(names)} bundles; only the first {slash.MAX_BUNDLE_FILES} count"
        )
    return found._replace(warnings=(*wrong, *found.warnings))


def bundle_of(book: Bundles, typed: str) -> Bundle | None:
    """Give the bundle that a command means; a qualified one never means a bundle."""
    return None if ":" in typed else book.by_slug.get(slug(typed))

"""What differs between two looks at the library: by stats, and where those leave a doubt, by
content.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from metier.discover import skill_files
from metier.discover.io import disk
from metier.discover.watch_filter import upwards
from metier.model import Change

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from metier.pipeline import Catalogue, Look

    Stamps = Mapping[str, tuple[Any, ...]]

_FILES = ("/SKILL.md", "/skill.md", "/Skill.md", "/agents/openai.yaml")
MAX_HASHED_BYTES = 32 << 20
"""Larger trees are never hashed for this: their stats decide alone."""


class SkillFiles(NamedTuple):
    """All files of a skill as one look found them."""

    stats: bytes
    content: str
    """Their digest, as far as it was worth computing."""
    fresh: bool
    """Whether something changed so lately that another change could hide behind the same stats."""


def stamps(glanced: Look, found: Catalogue) -> Stamps:
    """Give each skill its card and the stats of all that its listing depends on."""
    keys: dict[str, bytes] = {}
    for one in glanced.seen:
        keys.update(one.keys())
    return {
        card.path: (card, keys.get(card.path), *(keys.get(card.path + file) for file in _FILES))
        for card in found.cards
    }


def between(old: Stamps, new: Stamps) -> Change:
    """Say which skills came, went, or are not as they were."""
    return _change(
        old, new, {path for path, stamp in new.items() if path in old and old[path] != stamp}
    )


def between_trees(
    old: Stamps,
    new: Stamps,
    known: dict[str, SkillFiles],
    touched: Iterable[str],
    now_ns: int,
    *,
    deep: bool,
) -> Change:
    """Say the same of whole folders: those that hold what was touched, or with `deep` all of them.

    `known` is what earlier looks remembered of each tree, and is brought up to date. A tree that
    nobody looked at before counts as changed when it was touched, and otherwise only from then on.
    Below a folder that was touched itself, as one that was put there whole, every tree is looked
    at.
    """
    owned = {path: _owners(path, new) for path in touched}
    owners = {owner for some in owned.values() for owner in some}
    whole = {path for path, some in owned.items() if not some or path in new}
    suspects = {path for path, stamp in new.items() if old.get(path) != stamp} | owners
    if whole:
        suspects.update(path for path in new if not whole.isdisjoint(upwards(path)))
    changed = set()
    for path in new if deep else suspects:
        before = known.get(path)
        after = known[path] = tree_of(path, now_ns, before)
        if path not in old:
            continue
        unlike = (
            _differ(before, after)
            if before
            else path in owners or _files_differ(old[path], new[path])
        )
        if unlike or old[path][0] != new[path][0]:
            changed.add(path)
    for path in known.keys() - new.keys():
        del known[path]
    return _change(old, new, changed)


def refreshed(known: dict[str, SkillFiles], change: Change, now_ns: int) -> None:
    """Bring what is remembered of trees up to date with a change that was found without looking at
    them.
    """
    for path in change.removed:
        known.pop(path, None)
    for path in (*change.added, *(path for path in change.changed if path in known)):
        known[path] = tree_of(path, now_ns, known.get(path))


def tree_of(path: str, now_ns: int, before: SkillFiles | None = None) -> SkillFiles:
    """Look at all files of a skill. They are hashed only where stats could deceive, or differ from
    those of `before`.
    """
    folder, only = (path, "") if disk.kind_of(path) == disk.FOLDER else path.rpartition("/")[::2]
    grown = disk.look_at_tree(folder, only)
    seen = repr((grown.pieces, grown.keys, sorted(grown.faults.items())))
    stats = hashlib.sha256(seen.encode("utf-8", "backslashreplace")).digest()
    fresh = _is_fresh(grown.keys, now_ns)
    if not fresh and (before is None or (before.stats == stats and not before.fresh)):
        return SkillFiles(stats, before.content if before else "", fresh=False)
    small = not grown.faults and sum(piece.size for piece in grown.pieces) <= MAX_HASHED_BYTES
    return SkillFiles(
        stats, (skill_files.digest(folder, grown.pieces) or "") if small else "", fresh
    )


def _is_fresh(keys: list[bytes], now_ns: int) -> bool:
    numbers = memoryview(b"".join(keys)).cast("q")
    return (
        max(max(numbers[1::4], default=0), max(numbers[2::4], default=0)) > now_ns - disk.SETTLED_NS
    )


def _differ(before: SkillFiles, after: SkillFiles) -> bool:
    """Compare by content where both are known: a file that was only touched is as it was."""
    if before.content and after.content:
        return before.content != after.content
    return before.stats != after.stats


def _files_differ(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    """Compare keys, but not that of a skill's own folder: it changes with every file that comes and
    goes, an editor's too.
    """
    start = 2 if new[0].kind == "skill-md" else 1
    return old[start:] != new[start:]


def _owners(path: str, new: Stamps) -> list[str]:
    """Give every skill whose folder holds a path, by its own name or behind links."""
    found = [above for above in upwards(path) if above in new]
    return found or [above for above in upwards(disk.real(path)) if above in new]


def _change(old: Stamps, new: Stamps, changed: set[str]) -> Change:
    added = new.keys() - old.keys()
    return Change(
        tuple(sorted(added)),
        tuple(sorted(changed)),
        tuple(sorted(old.keys() - new.keys())),
        len(new) - len(added) - len(changed),
    )

"""Which skills an opened source holds, and which of them somebody means: a name stands for exactly one, or an error lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.discover.walk import EXCLUDED, EXCLUDED_HIDDEN, SUPPORT
from metier.errors import AmbiguousError, NotFoundError
from metier.standard.document import read_document
from metier.standard.names import nearest, one_line
from metier.supplies import Picked
from metier.supply.gitlist import SUBMODULE
from metier.supply.marketplace import Market, marketplace_in, owner_of
from metier.supply.paths import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.supplies import Item, Request, Result

    Read = Callable[[Sequence[Item]], Mapping[str, bytes]]

MAX_PARTS = 64
"""A document deeper than this is not looked at: no skill lies there, and every part of a path is work."""
MAX_SHOWN = 100
"""How many candidates an error lists, and how many faults of a source are told."""
NAME_SHOWN = 128
BATCH_BYTES = 4 * 1024 * 1024
"""How much of a source's documents is in memory at a time."""
_OWN_RECORDS = frozenset({".git", ".hg", ".svn"})
"""A version control's own files are no part of a skill, wherever they come from."""


class Pickings(NamedTuple):
    """What an opened source offers."""

    skills: tuple[Picked, ...]
    problems: tuple[str, ...] = ()
    elsewhere: tuple[Request, ...] = ()
    """Where a marketplace keeps plugins that are not in this source."""
    market: Market | None = None


def skills_in(items: Sequence[Item], read: Read, below: str = "", *, fallback: str = "", market: bool = False) -> Pickings:
    """Find every skill in a source, or below a folder of it; of a `market`, only what it lists.

    `read` gives the bytes of small files, by path; what it leaves out counts as unreadable. `fallback` is the name of a skill at
    the source's own top, where its document has none.
    """
    own = [item for item in items if _is_below(item.path, below) and _is_own(item)]
    problems = [f"the submodule {shown(item.path)} is left out" for item in items if item.key.startswith(SUBMODULE)]
    heads = _documents(own, problems)
    found = marketplace_in(own, read, below)
    names = _names(heads, read, fallback, problems)
    holders = _holders(own, heads)
    owners = found.owners() if found else {}
    skills = [
        Picked(name, folder, tuple(holders[folder]), description, owner_of(folder, owners))
        for folder, (name, description) in sorted(names.items())
    ]
    if market:
        if found is None:
            raise NotFoundError("there is no marketplace and no plugin there", hint="without 'marketplace:' all skills are seen")
        skills = [skill for skill in skills if skill.plugin]
    problems += found.problems if found else ()
    return Pickings(tuple(skills), _few(problems), found.elsewhere if found else (), found)


def choose(pickings: Pickings, names: Sequence[str], everything: bool, below: str = "") -> tuple[Picked, ...]:  # noqa: FBT001
    """Give the skills that are meant; several where none was named, or one name for several, is an error that lists them."""
    skills = _distinct(pickings.skills)
    if not skills:
        notes = "; ".join(pickings.problems[:3])
        raise NotFoundError(f"there is no skill there{': ' if notes else ''}{notes}", code="no-skill",
                            hint="a skill is a folder with a SKILL.md")  # fmt: skip
    if names:
        renames = pickings.market.renames if pickings.market else {}
        return tuple(dict.fromkeys(_named(skills, _renamed(name, renames)) for name in names))
    if everything:
        twice = next((skill for skill in skills if len(_called(skills, skill.name)) > 1), None)
        if twice is not None:
            raise _several(f"'{shown(twice.name)}' is there more than once", _called(skills, twice.name), "name it by its path")
        return skills
    at = [skill for skill in skills if below and skill.path == below]
    if at or len(skills) == 1:
        return tuple(at or skills)
    raise _several(f"there are {len(skills)} skills there", skills, "choose with --skill NAME, or take them with --all")


def one_result(name: str, results: Iterable[Result]) -> Result:
    """Give the one result of a search that a short name means (HE-41)."""
    found = list(results)
    exact = list({one.source: one for one in found if one.name == name}.values())
    if len(exact) == 1:
        return exact[0]
    if not exact:
        near = nearest(name[:NAME_SHOWN], [one.name[:NAME_SHOWN] for one in found], 3)
        hint = f"did you mean {', '.join(near)}?" if near else "'metier search' looks through your taps and registries"
        raise NotFoundError(f"no tap or registry has a skill '{shown(name)}'", hint=hint)
    error = AmbiguousError(f"'{shown(name)}' is in {len(exact)} sources", code="choose",
                           hint=f"name the source: {', '.join(one.source for one in exact[:5])}")  # fmt: skip
    error.details["candidates"] = [{"name": one.name, "source": one.source} for one in exact[:MAX_SHOWN]]
    raise error


# --- finding


def _documents(items: Iterable[Item], problems: list[str]) -> dict[str, Item]:
    """Give the folders that are skills, with the file that makes each one; nested ones count, save in support folders."""
    found: dict[str, Item] = {}
    for item in items:
        folder, _, file = item.path.rpartition("/")
        if file.lower() != "skill.md":
            continue
        if item.path.count("/") >= MAX_PARTS:
            problems.append(f"too deep to be a skill: {shown(item.path)}")
        elif _is_searched(folder) and (folder not in found or file == "SKILL.md"):
            found[folder] = item
    odd = [item.path for item in found.values() if not item.path.endswith("SKILL.md")]
    problems.extend(f"{shown(path)} should be called SKILL.md" for path in odd)  # decision 26
    return {folder: item for folder, item in found.items() if not _in_support(folder, found)}


def _is_searched(folder: str) -> bool:
    """Tell whether a skill may lie there; a folder that is not searched is a skill all the same when it holds the document."""
    above = folder.split("/")[:-1]
    return all(part not in EXCLUDED and part not in EXCLUDED_HIDDEN for part in above)


def _in_support(folder: str, found: Mapping[str, Item]) -> bool:
    """Tell whether a folder is part of the support files of a skill above it (decision 28)."""
    parts = folder.split("/") if folder else []
    return any(parts[depth] in SUPPORT and "/".join(parts[:depth]) in found for depth in range(len(parts)))


def _holders(items: Iterable[Item], heads: Mapping[str, Item]) -> dict[str, list[Item]]:
    """Give each skill its items: all below its folder, save those of a skill further in."""
    owners: dict[str, str | None] = {}
    held: dict[str, list[Item]] = {folder: [] for folder in heads}
    for item in items:
        owner = _owner(item.path.rpartition("/")[0], held, owners)
        if owner is not None:
            held[owner].append(item)
    return held


def _owner(folder: str, held: Mapping[str, object], owners: dict[str, str | None]) -> str | None:
    """Find the innermost skill that a folder lies in, remembering it for every folder on the way."""
    asked, at = [], folder
    while at not in owners:
        asked.append(at)
        if at in held or not at:
            owners[at] = at if at in held else None
            break
        at = at.rpartition("/")[0]
    for one in asked:
        owners[one] = owners[at]
    return owners[at]


def _names(heads: Mapping[str, Item], read: Read, fallback: str, problems: list[str]) -> dict[str, tuple[str, str]]:
    """Give each skill's name and description, reading a few documents at a time."""
    names: dict[str, tuple[str, str]] = {}
    batch: dict[str, Item] = {}
    for folder, item in heads.items():
        batch[folder] = item
        if sum(one.size for one in batch.values()) >= BATCH_BYTES or len(batch) >= 512:
            names.update(_read_names(batch, read, fallback, problems))
            batch = {}
    names.update(_read_names(batch, read, fallback, problems))
    return names


def _read_names(batch: Mapping[str, Item], read: Read, fallback: str, problems: list[str]) -> dict[str, tuple[str, str]]:
    texts = read(list(batch.values())) if batch else {}
    names = {}
    for folder, item in batch.items():
        own = folder.rpartition("/")[2] or fallback
        data = texts.get(item.path)
        document = read_document(data, folder=own, file=item.path.rpartition("/")[2], size=len(data)) if data is not None else None
        if document is None:
            problems.append(f"{shown(item.path)} cannot be read")
        name, description = (document.name, document.description) if document else (own, "")
        names[folder] = (one_line(name) or one_line(own), one_line(description))
    return names


def _few(problems: Sequence[str]) -> tuple[str, ...]:
    more = len(problems) - MAX_SHOWN
    return (*problems[:MAX_SHOWN], *([f"and {more:,} more of that"] if more > 0 else []))


def _is_below(path: str, below: str) -> bool:
    return not below or path == below or path.startswith(below + "/")


def _is_own(item: Item) -> bool:
    return not item.key.startswith(SUBMODULE) and _OWN_RECORDS.isdisjoint(item.path.split("/"))


# --- choosing


def _named(skills: Sequence[Picked], name: str) -> Picked:
    wanted = name.removesuffix("/SKILL.md").removeprefix("./").strip("/")
    found = _called(skills, name) or [skill for skill in skills if skill.path == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        raise _several(f"'{shown(name)}' is there more than once", found, "name it by its path")
    near = nearest(name[:NAME_SHOWN], [skill.name[:NAME_SHOWN] for skill in skills], 3)
    error = NotFoundError(f"there is no skill '{shown(name)}'", hint=f"did you mean {', '.join(near)}?" if near else "")
    error.details["candidates"] = _listed(skills)
    raise error


def _called(skills: Sequence[Picked], name: str) -> list[Picked]:
    return [skill for skill in skills if name in {skill.name, f"{skill.plugin}:{skill.name}"}]


def _renamed(name: str, renames: Mapping[str, str]) -> str:
    """Follow a plugin to the name it has now."""
    plugin, colon, skill = name.partition(":")
    return f"{renames[plugin]}:{skill}" if colon and plugin in renames else name


def _distinct(skills: Iterable[Picked]) -> tuple[Picked, ...]:
    """Leave out a second copy of the very same files, as repositories keep for several agents; hidden folders yield."""
    first: dict[tuple[object, ...], Picked] = {}
    for skill in sorted(skills, key=lambda skill: ("/." in f"/{skill.path}", skill.path.count("/"), skill.path)):
        at = len(skill.path) + 1 if skill.path else 0
        same = frozenset((item.path[at:], item.mode, item.key) for item in skill.items)
        copies = (skill.name, same) if all(item.key and item.key != item.path for item in skill.items) else (skill.path, None)
        first.setdefault(copies, skill)
    return tuple(sorted(first.values(), key=lambda skill: skill.path))


def _several(message: str, skills: Sequence[Picked], hint: str) -> AmbiguousError:
    error = AmbiguousError(message, code="choose", hint=f"{hint}: {', '.join(_spot(skill) for skill in skills[:10])}")
    error.details["candidates"] = _listed(skills)
    return error


def _spot(skill: Picked) -> str:
    return f"{shown(skill.name)} ({shown(skill.path) or 'at the top'})"


def _listed(skills: Sequence[Picked]) -> list[dict[str, str]]:
    return [
        {"name": shown(skill.name), "path": shown(skill.path), "plugin": skill.plugin, "description": skill.description[:1024]}
        for skill in skills[:MAX_SHOWN]
    ]

"""Which skills an opened source holds, and which of them somebody means: a name stands for exactly
one, or an error lists them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.discover.walk import EXCLUDED, EXCLUDED_HIDDEN, SUPPORT
from metier.errors import AmbiguousError, NotFoundError
from metier.standard.document import read_document
from metier.standard.names import near_names, one_line
from metier.supply.model import SourceSkill
from metier.supply.safe_names import printable
from metier.supply.sources.git_commands import SUBMODULE
from metier.supply.sources.marketplace import Marketplace, marketplace_in, owner_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.model import Texts
    from metier.supply.model import Item, SearchResult
    from metier.supply.sources.marketplace import ReadFiles


MAX_DOCUMENT_DEPTH = 64
"""A document deeper than this is not looked at: no skill lies there, and every part of a path is
work."""
MAX_SHOWN = 100
"""How many faults of a source are told."""
MAX_CANDIDATES = 1_000
"""How many skills an error lists to choose from."""
MAX_NAME_CHARS = 128
BATCH_BYTES = 4 * 1024 * 1024
"""How much of a source's documents is in memory at a time."""
_OWN_RECORDS = frozenset({".git", ".hg", ".svn"})
"""A version control's own files are no part of a skill, wherever they come from."""


class SourceContents(NamedTuple):
    """What an opened source offers."""

    skills: tuple[SourceSkill, ...]
    problems: Texts = ()
    market: Marketplace | None = None


def skills_in(
    items: Sequence[Item],
    read: ReadFiles,
    below: str = "",
    *,
    fallback: str = "",
    market: bool = False,
) -> SourceContents:
    """Find every skill in a source, or below a folder of it; of a `market`, only what it lists.

    `read` gives the bytes of small files, by path; what it leaves out counts as unreadable.
    `fallback` is the name of a skill at the source's own top, where its document has none.
    """
    own = [
        item
        for item in items
        if (not below or f"{item.path}/".startswith(f"{below}/"))
        and not item.key.startswith(SUBMODULE)
        and _OWN_RECORDS.isdisjoint(item.path.split("/"))
    ]
    problems = [
        f"the submodule {printable(item.path)} is left out"
        for item in items
        if item.key.startswith(SUBMODULE)
    ]
    heads = _documents(own, problems)
    found = marketplace_in(own, read, below)
    names = _names(heads, read, fallback, problems)
    holders = _holders(own, heads)
    owners = found.owners() if found else {}
    skills = [
        SourceSkill(name, folder, tuple(holders[folder]), description, owner_of(folder, owners))
        for folder, (name, description) in sorted(names.items())
    ]
    if market:
        if found is None:
            raise NotFoundError(
                "there is no marketplace and no plugin there",
                hint="without 'marketplace:' all skills are seen",
            )
        skills = [skill for skill in skills if skill.plugin]
    problems += found.problems if found else ()
    more = len(problems) - MAX_SHOWN
    if more > 0:
        problems[MAX_SHOWN:] = [f"and {more:,} more of that"]
    return SourceContents(tuple(skills), tuple(problems), found)


def choose(
    pickings: SourceContents,
    names: Sequence[str],
    everything: bool,  # noqa: FBT001
    below: str = "",
) -> tuple[SourceSkill, ...]:
    """Give the skills that are meant; several where none was named, or one name for several, is an
    error that lists them.
    """
    skills = _distinct(pickings.skills)
    if not skills:
        notes = "; ".join(pickings.problems[:3])
        raise NotFoundError(
            f"no skill found there{': ' if notes else ''}{notes}",
            code="no-skill",
            hint="a skill is a folder with a SKILL.md",
        )
    if names:
        renames = pickings.market.renames if pickings.market else {}
        return tuple(dict.fromkeys(_named(skills, _renamed(name, renames)) for name in names))
    if everything:
        twice = next((skill for skill in skills if len(_called(skills, skill.name)) > 1), None)
        if twice is not None:
            raise _several(
                f"'{printable(twice.name)}' exists more than once",
                _called(skills, twice.name),
                "use its path",
            )
        return skills
    at = [skill for skill in skills if below and skill.path == below]
    if at or len(skills) == 1:
        return tuple(at or skills)
    raise _several(
        f"found {len(skills)} skills",
        skills,
        "choose with --skill NAME, or take them with --all",
    )


def one_result(name: str, results: Iterable[SearchResult]) -> SearchResult:
    """Give the one result of a search that a short name means (HE-41)."""
    found = list(results)
    exact = list({one.source: one for one in found if one.name == name}.values())
    if len(exact) == 1:
        return exact[0]
    if not exact:
        near = near_names(name[:MAX_NAME_CHARS], [one.name[:MAX_NAME_CHARS] for one in found])
        raise NotFoundError(
            f"no tap or registry has a skill '{printable(name)}'",
            hint=f"did you mean {', '.join(near)}?"
            if near
            else "search your taps and registries: metier search WORDS",
        )
    raise AmbiguousError(
        f"'{printable(name)}' is in {len(exact)} sources",
        code="choose",
        hint=f"name the source: {', '.join(one.source for one in exact[:5])}",
    ).with_details(
        candidates=[{"name": one.name, "source": one.source} for one in exact[:MAX_CANDIDATES]]
    )


# --- finding


def _documents(items: Iterable[Item], problems: list[str]) -> dict[str, Item]:
    """Give the folders that are skills, with the file that makes each one; nested ones count, save
    in support folders.

    A folder that is not searched is a skill all the same when it holds the document itself.
    """
    found = {}
    for item in items:
        folder, _, file = item.path.rpartition("/")
        if file.lower() != "skill.md":
            continue
        if item.path.count("/") >= MAX_DOCUMENT_DEPTH:
            problems.append(f"too deep to be a skill: {printable(item.path)}")
        elif (folder not in found or file == "SKILL.md") and all(
            part not in EXCLUDED and part not in EXCLUDED_HIDDEN for part in folder.split("/")[:-1]
        ):
            found[folder] = item
    problems += [
        f"{printable(item.path)} should be called SKILL.md"  # MT-26
        for item in found.values()
        if not item.path.endswith("SKILL.md")
    ]
    return {folder: item for folder, item in found.items() if not _in_support(folder, found)}


def _in_support(folder: str, found: Mapping[str, Item]) -> bool:
    """Tell whether a folder is part of the support files of a skill above it (MT-28)."""
    parts = folder.split("/") if folder else []
    return any(
        parts[depth] in SUPPORT and "/".join(parts[:depth]) in found for depth in range(len(parts))
    )


def _holders(items: Iterable[Item], heads: Mapping[str, Item]) -> dict[str, list[Item]]:
    """Give each skill its items: all below its folder, save those of a skill further in."""
    owners = {"": "" if "" in heads else None}
    owners |= {folder: folder for folder in heads}
    held: dict[str, list[Item]] = {folder: [] for folder in heads}
    for item in items:
        folder = at = item.path.rpartition("/")[0]
        while at not in owners:
            at = at.rpartition("/")[0]
        owner = owners[at]
        while folder != at:  # remembered for every folder on the way
            owners[folder] = owner
            folder = folder.rpartition("/")[0]
        if owner is not None:
            held[owner].append(item)
    return held


def _names(
    heads: Mapping[str, Item], read: ReadFiles, fallback: str, problems: list[str]
) -> dict[str, tuple[str, str]]:
    """Give each skill's name and description, reading a few documents at a time."""
    names = {}
    batch = {}
    size = 0
    for count, (folder, item) in enumerate(heads.items(), 1):
        batch[folder] = item
        size += item.size
        if size >= BATCH_BYTES or len(batch) >= 512 or count == len(heads):
            names.update(_read_names(batch, read, fallback, problems))
            batch, size = {}, 0
    return names


def _read_names(
    batch: Mapping[str, Item], read: ReadFiles, fallback: str, problems: list[str]
) -> dict[str, tuple[str, str]]:
    texts = read(list(batch.values()))
    names = {}
    for folder, item in batch.items():
        own = folder.rpartition("/")[2] or fallback
        data = texts.get(item.path)
        document = None
        if data is not None:
            file = item.path.rpartition("/")[2]
            document = read_document(data, folder=own, file=file, size=len(data))
        if document is None:
            problems.append(f"{printable(item.path)} cannot be read")
        name, description = (document.name, document.description) if document else (own, "")
        names[folder] = (one_line(name) or one_line(own), one_line(description))
    return names


# --- choosing


def _named(skills: Sequence[SourceSkill], name: str) -> SourceSkill:
    wanted = name.removesuffix("/SKILL.md").removeprefix("./").strip("/")
    found = _called(skills, name) or [skill for skill in skills if skill.path == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        raise _several(f"'{printable(name)}' exists more than once", found, "use its path")
    near = near_names(name[:MAX_NAME_CHARS], [skill.name[:MAX_NAME_CHARS] for skill in skills])
    raise NotFoundError(
        f"there is no skill '{printable(name)}'",
        hint=f"did you mean {', '.join(near)}?" if near else "choose one that the source has",
    ).with_details(candidates=_listed(skills))


def _called(skills: Sequence[SourceSkill], name: str) -> list[SourceSkill]:
    return [skill for skill in skills if name in {skill.name, f"{skill.plugin}:{skill.name}"}]


def _renamed(name: str, renames: Mapping[str, str]) -> str:
    """Follow a plugin to the name it has now."""
    plugin, colon, skill = name.partition(":")
    return f"{renames[plugin]}:{skill}" if colon and plugin in renames else name


def _distinct(skills: Iterable[SourceSkill]) -> tuple[SourceSkill, ...]:
    """Leave out a second copy of the very same files, as repositories keep for several agents;
    hidden folders yield.
    """
    first: dict[tuple[object, ...], SourceSkill] = {}
    for skill in sorted(
        skills, key=lambda skill: ("/." in f"/{skill.path}", skill.path.count("/"), skill.path)
    ):
        at = len(skill.path) + 1 if skill.path else 0
        same = frozenset((item.path[at:], item.mode, item.key) for item in skill.items)
        copies = (
            (skill.name, same)
            if all(item.key and item.key != item.path for item in skill.items)
            else (skill.path, None)
        )
        first.setdefault(copies, skill)
    return tuple(sorted(first.values(), key=lambda skill: skill.path))


def _several(message: str, skills: Sequence[SourceSkill], hint: str) -> AmbiguousError:
    spots = ", ".join(
        f"{printable(skill.name)} ({printable(skill.path) or 'at the top'})"
        for skill in skills[:10]
    )
    return AmbiguousError(message, code="choose", hint=f"{hint}: {spots}").with_details(
        candidates=_listed(skills)
    )


def _listed(skills: Sequence[SourceSkill]) -> list[dict[str, str]]:
    return [
        {
            "name": printable(skill.name),
            "path": printable(skill.path),
            "plugin": skill.plugin,
            "description": skill.description[:1024],
        }
        for skill in skills[:MAX_CANDIDATES]
    ]

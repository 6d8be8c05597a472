"""Reads which other skills a skill needs, from every form in use. Pure.

Where they stand:

- `depends-on`, `depends_on`, `requires_skills`, `requires-skills`, at the top, in `metadata`, and in
  any table of `metadata`
- `requires.skills`, in the same places
- `dependencies`, in the same places, as far as it names skills: `dependencies.skills`, an entry
  `skill:NAME`, one with a path such as `owner/repo/NAME`, a map that has `skill` or says
  `type: skill`. A plain word there is a package.
- `requires` as a list, by the same rules: a plain word there may be a command as well
- `dependencies.apm` there, and in an `apm.yml` beside SKILL.md

How one is written: `name`, `name@^1.2`, `name>=1,<2`, `owner/repo/name`, `owner/repo#ref:path`, an
address, `../name` inside the same source; or a map with `name`, `version` and `source`; or a map of
names to ranges. What `related_skills` names is a hint for people, and nothing is fetched for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.standard.needs import SKILL_KEYS
from metier.standard.semver import read_range

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Fields = Mapping[str, Any]

MAX_REQUIREMENTS = 1_000
"""Skills that one skill may name; what comes after them is not read."""
MAX_TABLES = 32
"""Tables of `metadata` that are looked at."""
MAX_ENTRY_CHARS = 500
MAX_SHOWN_CHARS = 80

_NAME = re.compile(r"[A-Za-z0-9][\w:.-]{0,128}")
_ENTRY = re.compile(
    r"(?P<what>[^\s@<>=!~^()*]{1,300})(?:\s*@?\s*(?P<signed>[\^~<>=!(*].*)|(?:\s*@\s*|\s+)(?P<plain>v?\d.*|latest|any))?"
)
_AT = re.compile(
    r"(?P<what>.{1,300}[^\s@])@\s*(?P<range>[\^~<>=!]?\s*v?\d[^/@]*|\*|latest)", re.DOTALL
)
_SIGN = re.compile(r"[\^~<>=!|]")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]{1,20}://|git\+|github:|clawhub:|marketplace:)")
_SCP = re.compile(r"[A-Za-z0-9_.-]{1,64}@[A-Za-z0-9.-]{1,253}:[^:]")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_REF_IS_RANGE = re.compile(r"[\^~<>=*]")


class SkillRequirement(NamedTuple):
    """Another skill that a skill needs, as it is written."""

    name: str
    range: str = ""
    """The versions that will do; nothing where any will."""
    source: str = ""
    """Where it is to be had, as for `metier add`; nothing where that is not said."""
    path: str = ""
    """Its folder inside the same source, from the needing skill's own, where that is said."""


class RequirementFault(NamedTuple):
    """An entry that cannot be read: the field it stands in, the code of its rule, and why."""

    field: str
    code: str
    why: str


class Requirements(NamedTuple):
    """Every skill that a skill needs, in the order it names them, and what could not be read."""

    skills: tuple[SkillRequirement, ...] = ()
    hints: tuple[str, ...] = ()
    """Skills that are only related to it."""
    faults: tuple[RequirementFault, ...] = ()
    cut: bool = False
    """Whether it names more than are read."""


NONE = Requirements()


def read_requirements(fields: Fields, apm: Fields | None = None) -> Requirements:
    """Gather the skills that a skill's frontmatter names, and its `apm.yml` where there is one."""
    faults: list[RequirementFault] = []
    found: dict[tuple[str, str, str, str], SkillRequirement] = {}
    cut = False
    for field, entry in _entries(fields, apm or {}):
        one = _requirement(field, entry)
        if isinstance(one, RequirementFault):
            faults.append(one)
        elif one not in found:
            if len(found) == MAX_REQUIREMENTS:
                cut = True
                break
            found[one] = one
        if len(faults) > MAX_REQUIREMENTS:
            cut = True
            break
    if cut:
        why = f"it names more than {MAX_REQUIREMENTS:,} skills; the rest is not read"
        faults.append(RequirementFault("depends-on", "SK064", why))
    return Requirements(tuple(found.values()), _hints(fields), tuple(faults), cut)


def _entries(fields: Fields, apm: Fields) -> Iterator[tuple[str, Any]]:
    """Give every entry that stands for a skill, with the field it stands in."""
    metadata = fields.get("metadata")
    tables = [("", fields)]
    if isinstance(metadata, dict):
        tables.append(("metadata.", metadata))
        inner = [(key, one) for key, one in metadata.items() if isinstance(one, dict)]
        tables += [(f"metadata.{key}.", one) for key, one in inner[:MAX_TABLES]]
    for where, table in tables:
        requires = table.get("requires")
        if isinstance(requires, dict):
            yield from _listed(f"{where}requires.skills", requires.get("skills"))
        else:
            yield from _dependencies(f"{where}requires", requires)
        for key in SKILL_KEYS:
            if key in table:
                yield from _listed(where + key, table[key])
        if "dependencies" in table:
            yield from _dependencies(f"{where}dependencies", table["dependencies"])
    declared = apm.get("dependencies")
    if isinstance(declared, dict):
        yield from _listed("apm.yml", declared.get("apm"))


def _dependencies(field: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Give the entries of `dependencies` that name skills: packages are something else."""
    if isinstance(value, dict):
        yield from _listed(f"{field}.skills", value.get("skills"))
        yield from _listed(f"{field}.apm", value.get("apm"))
        return
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, dict):
            kind = str(entry.get("type", "")).strip().lower()
            if "skill" in entry or kind == "skill":
                yield field, entry
        elif isinstance(entry, str) and _names_a_skill(entry.strip()):
            yield field, entry


def _names_a_skill(entry: str) -> bool:
    if entry.startswith("skill:"):
        return True
    parts = entry.partition("#")[0].split("/")
    if parts[-1].lower().endswith(".md"):  # a file beside it, and no repository
        return False
    return len(parts) > 2 and not entry.startswith(("@", "/", ".")) and "://" not in entry


def _listed(field: str, value: Any) -> Iterator[tuple[str, Any]]:
    if value is None or value == "":
        return
    if isinstance(value, str):
        yield from ((field, word) for word in _words(value))
    elif isinstance(value, list):
        yield from ((field, item) for item in value if item is not None and item != "")
    elif isinstance(value, dict):
        for name, about in value.items():
            if isinstance(about, dict):
                yield field, {"name": name, **about}
            else:
                yield field, {"name": name, "version": about}
    else:
        yield field, value


def _words(text: str) -> list[str]:
    """Cut a text at commas and spaces; what begins with the sign of a range belongs to what stands
    before it.
    """
    found: list[str] = []
    for word in re.split(r"[,\s]+", text.strip().removeprefix("[").removesuffix("]")[:100_000]):
        glued = bool(found) and (_SIGN.match(word) or _SIGN.fullmatch(found[-1][-1:]))
        if not word:
            continue
        if glued:
            found[-1] += f" {word}"
        else:
            found.append(word)
        if len(found) > MAX_REQUIREMENTS:
            break
    return found


def _requirement(field: str, entry: Any) -> SkillRequirement | RequirementFault:
    if isinstance(entry, dict):
        return _from_map(field, entry)
    if not isinstance(entry, str):
        return RequirementFault(field, "SK062", f"{_shown(entry)} is no name of a skill")
    text = entry.strip().removeprefix("skill:").strip()
    if not text or len(text) > MAX_ENTRY_CHARS:
        why = "is empty" if not text else f"is longer than {MAX_ENTRY_CHARS} characters"
        return RequirementFault(field, "SK062", f"{_shown(text)} {why}")
    what, wanted = _split(text)
    return _made(field, what, wanted)


def _from_map(field: str, entry: Fields) -> SkillRequirement | RequirementFault:
    name = _text(entry, "name", "skill", "id")
    source = _text(entry, "source", "git", "repo", "repository", "url", "from")
    wanted = _text(entry, "version", "range", "constraint")
    path = _text(entry, "path", "subdir")
    ref = _text(entry, "ref", "tag", "branch", "commit")
    if ref and _REF_IS_RANGE.match(ref):
        wanted, ref = wanted or ref, ""
    if max(len(name), len(source), len(wanted), len(path), len(ref)) > MAX_ENTRY_CHARS:
        return RequirementFault(field, "SK062", "an entry is too long")
    if source:
        place = f"{source}#{ref}:{path}" if path and "#" not in source else source
        place = f"{source}#{ref}" if ref and not path and "#" not in source else place
        made = _made(field, place, wanted)
        if isinstance(made, RequirementFault) or not name:
            return made
        return _named(field, made._replace(name=name))
    if not name:
        return RequirementFault(field, "SK062", "an entry has neither a name nor a source")
    what, more = _split(name)
    return _made(field, what, wanted or more)


def _split(text: str) -> tuple[str, str]:
    """Take an entry apart into what it names and the versions that will do."""
    if _ADDRESS.match(text) or _SCP.match(text) or "/" in text:
        place, mark, ref = text.partition("#")
        if mark and _REF_IS_RANGE.match(ref):  # as APM writes it
            return place, ref
        found = None if mark or _SCP.fullmatch(text) else _AT.fullmatch(text)
        return (found["what"], found["range"]) if found else (text, "")
    found = _ENTRY.fullmatch(text)
    return (found["what"], found["signed"] or found["plain"] or "") if found else (text, "")


def _made(field: str, what: str, wanted: str) -> SkillRequirement | RequirementFault:
    wanted = wanted.strip()
    if wanted and read_range(wanted) is None:
        return RequirementFault(
            field, "SK063", f"{_shown(wanted)} is no range of versions, for {_shown(what)}"
        )
    wanted = "" if wanted in {"*", "latest", "any"} else wanted
    if what.startswith(("./", "../")):
        name = what.rstrip("/").rpartition("/")[2]
        return _named(field, SkillRequirement(name, wanted, "", what))
    local = what.startswith(("/", "~", "file:")) or "\\" in what or _DRIVE.match(what)
    if local:
        return RequirementFault(
            field, "SK062", f"{_shown(what)} is a place on one machine, and not a source"
        )
    if _ADDRESS.match(what) or _SCP.match(what) or "/" in what:
        return _named(field, SkillRequirement(_last_name(what), wanted, what))
    return _named(field, SkillRequirement(what, wanted))


def _last_name(source: str) -> str:
    """Give the name that a source ends with: of the path inside it, or of the repository."""
    place, _, ref = source.partition("#")
    inside = ref.partition(":")[2]
    last = (inside or place.partition("?")[0]).rstrip("/").rpartition("/")[2]
    last = last.rpartition(":")[2] if not inside else last
    return last.removesuffix(".git").removesuffix(".zip").removesuffix(".tar.gz")


def _named(field: str, one: SkillRequirement) -> SkillRequirement | RequirementFault:
    if _NAME.fullmatch(one.name):
        return one
    return RequirementFault(field, "SK062", f"{_shown(one.name)} is no name of a skill")


def _text(entry: Fields, *keys: str) -> str:
    for key in keys:
        value = entry.get(key)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return str(value).strip()
    return ""


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else type(value).__name__
    cut = text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"
    return ascii(cut)


def _hints(fields: Fields) -> tuple[str, ...]:
    metadata = fields.get("metadata")
    tables = [fields, metadata] if isinstance(metadata, dict) else [fields]
    if isinstance(metadata, dict):
        tables += [one for one in metadata.values() if isinstance(one, dict)][:MAX_TABLES]
    found: list[str] = []
    for table in tables:
        for key in ("related_skills", "related-skills"):
            value = table.get(key)
            words = _words(value) if isinstance(value, str) else value
            found += [one.strip() for one in words or () if isinstance(one, str)][:MAX_REQUIREMENTS]
    return tuple(dict.fromkeys(one for one in found if _NAME.fullmatch(one)))

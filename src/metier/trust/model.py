"""Defines the data types of trust: the seven levels and which of them a source earns, where a skill
came from, and what people said about it.

What nobody knows is community, never better (MT-12).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from metier.standard import characters
from metier.trust.waivers import day_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from metier.model import LockedEdit, Scope, Trust
    from metier.trust.sign import Signed

    Said = Literal["approved", "quarantined", "blocked"]
    OwnBy = Literal["", "place", "project"]


LEVELS: tuple[Trust, ...] = (
    "builtin",
    "own",
    "trusted",
    "verified",
    "community",
    "quarantined",
    "blocked",
)
"""Most trusted first; the place in this tuple is the level's ordinal."""

AS_WRITTEN_LEVELS = frozenset(LEVELS[:3])
"""Levels whose text goes to a model as it was written, without a mark around it."""

VOUCHED_LEVELS = frozenset(LEVELS[:4])
"""Levels that somebody vouches for: all above community."""

UNKNOWN_LEVEL: Trust = "community"
"""What a skill without a record or a known source is (ZE-20 the other way round)."""

SHIPPED_SOURCE = "metier:shipped"
"""The one source that is builtin: what metier or the program that embeds it ships. No fetched
source is recorded so."""

TRUSTED_SOURCES = ("openai/skills", "anthropics/skills", "huggingface/skills", "NVIDIA/skills")
"""Repositories that are trusted unless configuration says otherwise (HE-36)."""

_RELAYS = (
    "skills-sh/",
    "skills.sh/",
    "skils-sh/",
    "skils.sh/",
    "https://skills.sh/",
    "https://www.skills.sh/",
)
_GITHUB = (
    "https://github.com/",
    "https://www.github.com/",
    "git@github.com:",
    "ssh://git@github.com/",
    "github.com/",
    "github:",
)
_ODD = frozenset("%\\?#@")
_ANYONE_S = frozenset({"pull", "commit"})
"""Paths under which a repository also shows what strangers sent in or keep in a fork of it."""


def rank(level: Trust) -> int:
    """Give a level's ordinal: 0 for builtin, 6 for blocked; a word that is no level counts as
    blocked.
    """
    return LEVELS.index(level) if level in LEVELS else len(LEVELS) - 1


def least(one: Trust, other: Trust) -> Trust:
    """Give the less trusted of two levels (ZE-19)."""
    return LEVELS[max(rank(one), rank(other))]


def level_of_source(source: str, trusted_sources: Iterable[str] = TRUSTED_SOURCES) -> Trust:
    """Give the level that a source earns by itself: exactly a trusted repository or a path below it
    (HE-36).

    `source` must be what metier wrote down when it fetched the skill. Builtin comes from that
    record alone: a name, a folder or a marker file such as `.bundled` inside the skill never earns
    anything (ZE-8, ZE-11).
    """
    if source == SHIPPED_SOURCE:
        return "builtin"
    place = repository(source)
    trusted = [known for known in map(repository, trusted_sources) if known]
    return (
        "trusted"
        if place and any(place == known or place.startswith(known + "/") for known in trusted)
        else UNKNOWN_LEVEL
    )


_ENCRYPTED = frozenset({"https", "hub+https", "mcp+https", "oci"})
"""What an address begins with whose other end is known."""


@lru_cache(maxsize=256)
def repository(source: str) -> str:
    """Give `owner/name[/path]` for a repository on GitHub, other sources as written, and nothing
    for one that is odd.

    A source with `..`, an escape or an `@` could begin with a trusted repository and mean another
    one.
    """
    text = source.strip()
    text = next((text[len(relay) :] for relay in _RELAYS if text.startswith(relay)), text)
    bare = next((text[len(site) :] for site in _GITHUB if text.startswith(site)), "")
    place = (bare or text).removesuffix("/").removesuffix(".git").rstrip("/")
    scheme, found, rest = place.partition("://")
    parts = (rest if found else place).split("/")
    odd = (
        any(part in {"", ".", ".."} for part in parts)
        or not _ODD.isdisjoint(place)
        or not place.isprintable()
    )
    odd = odd or not _ANYONE_S.isdisjoint(parts[2:])
    return "" if odd or len(parts) < 2 or (found and scheme not in _ENCRYPTED) else place


class Provenance(NamedTuple):
    """Where a skill came from, by metier's own records: never by what the skill or its project says
    of itself.
    """

    source: str = ""
    """The repository or address it was fetched from; nothing when that is not known."""
    ref: str = ""
    commit: str = ""
    publisher: str = ""
    signature: Signed | None = None
    """What `sign.verify` has found to be signed by one of the user's trusted keys."""
    scope: Scope = "user"
    project_trusted: bool = False
    """Whether the user has said `metier trust project` for the folder it lies in."""
    project: str = ""
    """That folder, to be named in the reason."""
    pinned: str = ""
    """The digest that a lock or a manifest promises for it; nothing when none does."""
    own: OwnBy = ""
    """What makes it the user's own: the user said so of this `place`, or it lies in a `project`
    that the user trusts and no tool's lock has it; nothing where it is not."""
    edited_from: str = ""
    """The digest of what was installed at this very place under this name, where the bytes that lie
    there now can do no more than those. Nothing where they can, or where that is not known; a
    listing compares nothing and gives it all the same."""
    changed: LockedEdit = ""
    """What became of the bytes that metier's lock has for this place: others that can do no more,
    others that can or that nobody can compare, or nobody can tell because the lock cannot be read.
    Nothing where they are those, or where no lock has the place."""
    came_from: str = ""
    """The source of what metier's lock has for this place, where that of these very bytes is not
    known: an edit does not wash off where a skill came from. It earns nothing."""


class RecordedSkills(NamedTuple):
    """The skills that the locks of a project have: ours, those of other tools, and what is mirrored
    from plugins.
    """

    names: frozenset[str] = frozenset()
    """Folded."""
    folders: frozenset[str] = frozenset()
    """Canonical paths."""

    def has(self, name: str, path: str) -> bool:
        """Tell whether a skill is among them: by its name, its folder's name or its place. A tool
        may lay the same skill out in several folders, so a name is enough.
        """
        called = {folded(name), folded(path.rpartition("/")[2])}
        if not called.isdisjoint(self.names):
            return True
        place = path
        while place and place not in self.folders:  # a whole folder of skills may be a tool's
            place = place.rpartition("/")[0]
        return bool(place)


class Approval(NamedTuple):
    """What a person said about one name and one digest. Records are in the order they were made;
    the last one counts.
    """

    name: str
    digest: str
    state: Said
    level: Trust
    at: str
    """The moment, in ISO form, UTC."""
    by: str = ""
    reason: str = ""
    accept_dangerous: bool = False
    installed: bool = False
    """Whether it was said by installing: it is seen and loaded then, and running it still asks."""


# --- everything that was decided

REPAIR = "metier trust repair"
"""What ends the time without decisions after they were damaged."""


class DecisionRow(NamedTuple):
    """A decision about a skill, and where that skill lay: a new name in the same place does not
    shake it off.
    """

    approval: Approval
    path: str = ""


class TrustedProject(NamedTuple):
    """A project whose skills are offered: its canonical folder, since when, and who said so."""

    path: str
    at: str
    by: str = ""


class OwnPlace(NamedTuple):
    """A skill that the user wrote: the canonical path of its folder or file, since when, and who
    said so. It is bound to the place and not to bytes, so that edits stay the user's own.
    """

    path: str
    at: str
    by: str = ""
    recorded: bool = False
    """Whether a tool's lock had the skill when the user said so. Otherwise one that has it now ends
    it: then the tool has put something there since."""


class Decisions(NamedTuple):
    """All decisions, in the order they were made."""

    rows: tuple[DecisionRow, ...] = ()
    projects: tuple[TrustedProject, ...] = ()
    own: tuple[OwnPlace, ...] = ()
    broken: str = ""
    """Why the record cannot be used. Then nothing is approved, and `rows` has what was ever blocked
    or quarantined."""
    all_blocked: bool = False
    """Whether nobody can tell what was blocked; then everything is."""
    note: str = ""
    """What is wrong with the second file, while the first one is good."""

    @property
    def doubt(self) -> str:
        """Say what is wrong and what to do about it; nothing when all is well."""
        return f"{self.broken}. Nothing is approved until you run: {REPAIR}" if self.broken else ""

    def barred(self, name: str, path: str, digest: str | None, real: str = "") -> str:
        """Say why a skill is blocked as long as the record is damaged; nothing when it is not."""
        if not self.broken:
            return ""
        if self.all_blocked:
            return "neither the second copy nor the audit log can tell what you have blocked"
        wanted = folded(name)
        for approval, place in self.rows:
            if approval.state == "blocked" and (
                folded(approval.name) == wanted
                or (bool(digest) and approval.digest == digest)
                or (bool(place) and place in {path, real or path})
            ):
                by = f" by {approval.by}" if approval.by else ""
                return f"it was blocked on {approval.at[:10]}{by}"
        return ""

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """The decisions about skills alone."""
        return tuple(row.approval for row in self.rows)

    def trusts(self, project: str) -> bool:
        """Tell whether a project is trusted: this very folder, not one above or below it."""
        return any(known.path == project for known in self.projects)

    def owns(self, path: str) -> bool:
        """Tell whether the user said that the skill at this canonical path is their own."""
        return self.own_place(path) is not None

    def own_place(self, path: str) -> OwnPlace | None:
        """Give what the user said of a canonical path; nothing where nothing was said."""
        return next((place for place in self.own if place.path == path), None)

    def installed_at(self, name: str, *paths: str) -> str:
        """Give the digest that was installed last under this name in a place, by any of its paths;
        nothing where nothing was.
        """
        found = (
            row.approval.digest
            for row in reversed(self.rows)
            if row.path in paths and row.approval.name == name and row.approval.installed
        )
        return next(found, "")

    def about(self, name: str, path: str, real: str = "") -> tuple[Approval, ...]:
        """Give the decisions that bear on a skill, those about what lay in the same place under its
        present name.

        A skill that was approved and then calls itself something else has changed like any other.
        One that was blocked or quarantined does not get away by taking a name that somebody has
        approved.
        """
        known = any(row.approval.name == name for row in self.rows)
        return tuple(
            row.approval._replace(name=name)
            if row.path in {path, real or path} and not (known and row.approval.state == "approved")
            else row.approval
            for row in self.rows
        )


# --- what they mean for one skill


class StandingRecords(NamedTuple):
    """What the records say about one skill: about these very bytes, or about others of its name."""

    same: Approval | None = None
    """The record that binds this name and this digest, or that blocks these bytes under any
    name."""
    other: Approval | None = None
    """The gravest record about the name with other bytes, when none is about these."""
    others: tuple[Approval, ...] = ()
    """All such records, the last one about each digest."""


def standing_records(
    approvals: Iterable[Approval], name: str, digest: str | None, now: str
) -> StandingRecords:
    """Find the records that bear on a skill. An approval binds name and digest (CO-7, CO-27); a
    block binds either.

    Of several digests of one name the gravest record counts, not the newest: otherwise approving
    one version would let the next change of a blocked one through. Where the bytes cannot be read
    whole, a block of the name holds.
    """
    looks = folded(name)
    own: Approval | None = None
    others: dict[str, Approval] = {}
    barred: dict[str, Approval] = {}
    for record in approvals:
        approved = record.state == "approved"
        if digest is not None and record.digest == digest:
            if approved and not _is_past(record, now):
                continue
            if record.name == name:
                own = record
            else:
                barred[record.name] = record
        elif record.name == name or (not approved and folded(record.name) == looks):
            others[record.digest] = record
    barring = _gravest(record for record in barred.values() if record.state != "approved")
    if own is not None or barring is not None:
        return StandingRecords(
            same=_gravest(record for record in (own, barring) if record is not None)
        )
    other = _gravest(others.values())
    if digest is None and other is not None and other.state == "blocked":
        return StandingRecords(
            same=other
        )  # bytes that cannot be told from the blocked ones count as those
    return StandingRecords(other=other, others=tuple(others.values()))


_GRAVITY = {"approved": 0, "quarantined": 1, "blocked": 2}


def _gravest(records: Iterable[Approval]) -> Approval | None:
    """Give the gravest record, the newest of equals; a state that nobody knows counts as
    blocked.
    """
    newest_first = reversed(list(records))
    return max(newest_first, key=lambda record: _GRAVITY.get(record.state, 2), default=None)


def _is_past(record: Approval, now: str) -> bool:
    """Tell whether an approval was made by now: one without a day, or from a day to come, was
    not.
    """
    made = day_of(record.at)
    today = day_of(now)
    return made is not None and today is not None and made <= today


_AS_OURS = str.maketrans(
    {
        twin: ours
        for table in (characters.TWINS, characters.CAPITAL_TWINS)
        for ours, twins in table.items()
        for twin in twins
    }
)
_UNSEEN_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Kinds of characters that the eye does not see inside a name."""
_DASHES = dict.fromkeys(map(ord, "_ \u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-")


def folded(name: str) -> str:
    """Give a name without the differences that the eye does not see, so that a new spelling escapes
    no block: letters of other alphabets that look like ours, case, width, accents on our letters,
    what has no width, and which sign stands between words.
    """
    plain = name.lower() if name.isascii() else _skeleton(name)
    return "-".join(filter(None, plain.translate(_DASHES).split("-"))) or name


def _skeleton(name: str) -> str:
    seen = re.sub(f"[{characters.UNSEEN}]", "", name.translate(_AS_OURS))
    parts = unicodedata.normalize("NFKD", seen).casefold().translate(_AS_OURS)
    kept: list[str] = []
    for char in parts:
        kind = unicodedata.category(char)
        accent = kind in {"Mn", "Me"} and (not kept or kept[-1].isascii())
        if kind == "Zs":
            kept.append("-")
        elif kind not in _UNSEEN_KINDS and not accent:
            kept.append(char)
    return "".join(kept)

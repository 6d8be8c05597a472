"""Finds the skills that other skills need, fetches them into quarantine and judges them there, each
like one that was asked for.

Where they are looked for, in this order: in the lock of the same place, in the source that the entry
names or that the needing skill came from, among what is installed elsewhere, in the user's taps.
Every source is opened once. A stranger's file does not decide whom this machine talks to: a source
on a host that neither the user nor the lock has named is told of, and not asked.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.io import disk
from metier.errors import MetierError, RefusedError, SourceError, StoreError
from metier.resolve.needs import usable_names
from metier.standard.document import read_document
from metier.standard.frontmatter import FRONTMATTER_BYTES
from metier.standard.names import lookup_key
from metier.standard.requirements import read_requirements
from metier.standard.semver import highest, read_range, read_version, satisfies
from metier.supply import fetch, places
from metier.supply.dependencies import MAX_ROUNDS, KnownSkill, NeededSkill, resolve
from metier.supply.deploy import path_of, working_of
from metier.supply.judge import TreeToJudge
from metier.supply.model import Refusal
from metier.supply.safe_names import fold_name, printable
from metier.supply.sources import pick, source_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.context import Context
    from metier.standard.requirements import Requirements
    from metier.standard.semver import SemanticVersion
    from metier.supply.dependencies import OpenNeed
    from metier.supply.fetch import FetchedSkill, OpenedSource, SourcePool
    from metier.supply.io.quarantine import Quarantine
    from metier.supply.judge import SkillJudge
    from metier.supply.model import DependencyEdge, Pin, PlanStep, Request, SourceSkill
    from metier.supply.places import InstallPlace
    from metier.supply.plan import InstallOffer

    MakeOffer = Callable[[FetchedSkill], InstallOffer | Refusal]

APM_FILE = "apm.yml"
MAX_VERSIONS_TOLD = 5


class GatheredSkills(NamedTuple):
    """What the skills of a change need beside themselves."""

    offers: tuple[InstallOffer, ...] = ()
    """What would come along, in quarantine and judged."""
    refused: tuple[Refusal, ...] = ()
    edges: tuple[DependencyEdge, ...] = ()


class NeedsOf(NamedTuple):
    """What a skill in quarantine, or on disk, says about itself and others."""

    requires: Requirements
    version: str = ""
    licence: str = ""


class _Found(NamedTuple):
    """A skill in a source, and how that was asked for."""

    source: OpenedSource
    picked: SourceSkill
    version: str
    ref: str


class _AbsentError(Exception):
    """Nobody has a skill that is needed; the text says why."""


def read_needs_of(folder: str) -> NeedsOf:
    """Read what a skill's files say it needs, its version and its licence; what cannot be read says
    nothing.
    """
    head = disk.read_head(f"{folder}/SKILL.md", FRONTMATTER_BYTES)
    document = None
    if not head.fault:
        name = folder.rpartition("/")[2]
        document = read_document(head.data, folder=name, file="SKILL.md", size=head.size)
    apm = disk.read_head(f"{folder}/{APM_FILE}", FRONTMATTER_BYTES)
    return needs_in(dict(document.fields) if document else {}, b"" if apm.fault else apm.data)


def needed_names(folder: str) -> list[str]:
    """Give the names of the skills that a skill's files say it needs."""
    return [one.name for one in read_needs_of(folder).requires.skills]


def needs_in(fields: dict[str, object], apm: bytes = b"") -> NeedsOf:
    """Read the same from a skill's frontmatter and its `apm.yml`."""
    metadata = fields.get("metadata")
    tables = (fields, metadata if isinstance(metadata, dict) else {})
    version = next(
        (
            str(one).strip()
            for table in tables
            if isinstance(one := table.get("version"), (str, int))
        ),
        "",
    )
    licence = fields.get("license")
    found = read_requirements(fields, _apm(apm) if apm else None)
    return NeedsOf(
        found,
        version if read_version(version) else "",
        " ".join(licence.split()) if isinstance(licence, str) else "",
    )


def _apm(data: bytes) -> dict[str, object]:
    from metier.supply.records.apm import read_yaml  # few skills have such a file

    try:
        found = read_yaml(data, APM_FILE)
    except MetierError:
        return {}
    return found if isinstance(found, dict) else {}


class Gatherer:
    """Looks up what skills need, round by round, until nothing is open."""

    def __init__(
        self,
        context: Context,
        desk: Quarantine,
        scales: SkillJudge,
        pool: SourcePool,
        place: InstallPlace,
        make_offer: MakeOffer,
    ) -> None:
        """Know where to look; `make_offer` judges what was fetched."""
        self.context = context
        self.desk = desk
        self.scales = scales
        self.pool = pool
        self.place = place
        self.make_offer = make_offer
        self.pins = {pin.name: pin for pin in places.read(place).lock.pins}
        self.known: dict[str, KnownSkill] = {}
        self.absent: dict[str, str] = {}
        self.offers: dict[str, InstallOffer] = {}
        self.refused: dict[str, Refusal] = {}
        self.laid: dict[str, FetchedSkill] = {}
        self.versions: dict[str, str] = {}
        """The versions that locked skills will have after the same change."""
        self._hosts: frozenset[str] | None = None

    def gather(self, asked: Sequence[FetchedSkill], names: Sequence[str] = ()) -> GatheredSkills:
        """Follow what these skills need; `names` are what they will be called here."""
        roots = list(names) or [one.picked.name for one in asked]
        for name, laid in zip(roots, asked, strict=True):
            self.laid[name] = laid
            self.known[name] = self._known(name, laid, "", frozenset())
        for _round in range(MAX_ROUNDS):
            found = resolve(roots, self.known, self.absent, self.pins)
            if not found.open:
                return GatheredSkills(
                    tuple(self.offers.values()), tuple(self.refused.values()), found.edges
                )
            self._look_up(found.open)
        raise RefusedError(
            "what these skills need does not settle",
            code="dependency-limit",
            hint="--no-deps installs them without what they need",
        )

    def _look_up(self, wanted: Sequence[OpenNeed]) -> None:
        fetched: list[tuple[OpenNeed, FetchedSkill | Refusal, str]] = []
        for one in wanted:
            name = one.need.name
            installed = self._in_lock(one)
            if installed is not None:
                self.known[name] = installed
                continue
            try:
                found = self._find(one)
            except _AbsentError as error:
                self._miss(one, str(error))
                continue
            if found is None:
                self.known[name] = KnownSkill(name, "installed")
                continue
            laid = fetch.lay_out(self.context, self.desk, found.source, found.picked)
            if not isinstance(laid, Refusal) and found.ref != laid.origin.ref:
                laid = laid._replace(
                    origin=laid.origin._replace(ref=found.ref),
                    told=laid.told._replace(ref=found.ref),
                )
            fetched.append((one, laid, found.version))
        self.scales.foresee(
            [
                TreeToJudge(laid.folder, laid.picked.name, laid.digest)
                for _one, laid, _version in fetched
                if not isinstance(laid, Refusal)
            ]
        )
        for one, laid, version in fetched:
            self._judge(one, laid, version)

    def _judge(self, one: OpenNeed, laid: FetchedSkill | Refusal, version: str) -> None:
        name = one.need.name
        offer = laid if isinstance(laid, Refusal) else self.make_offer(laid)
        self.offers.pop(name, None)
        self.refused.pop(name, None)
        if isinstance(offer, Refusal):
            self.refused[name] = offer._replace(name=name)
            self.known[name] = KnownSkill(name, "found", one.need.source, version)
            return
        self.offers[name] = offer
        self.laid[name] = offer.laid
        self.known[name] = self._known(name, offer.laid, version, one.ranges)

    def _miss(self, one: OpenNeed, why: str) -> None:
        """Note that nobody has it. What was found before, for other versions, does not fit all."""
        known = self.known.get(one.need.name)
        if known is None:
            self.absent[one.need.name] = why
        else:
            self.known[one.need.name] = known._replace(ranges=one.ranges)

    def _known(
        self, name: str, laid: FetchedSkill, version: str, ranges: frozenset[str]
    ) -> KnownSkill:
        said = read_needs_of(laid.folder)
        if said.requires.cut:
            raise RefusedError(
                f"'{printable(name)}' needs more others than are read",
                code="dependency-limit",
                hint="no honest skill does; --no-deps installs it without them",
            )
        needs = []
        for need in said.requires.skills:
            source = self._canonical(need.source) if need.source else ""
            path = posixpath.normpath(f"{laid.picked.path}/{need.path}") if need.path else ""
            needs.append(NeededSkill(need.name, need.range, source, need.source, path))
        return KnownSkill(
            name=name,
            state="found",
            source=fetch.source_in_lock(self.place, laid.origin.source),
            version=version or said.version or version_of_ref(laid.origin.ref, name),
            requires=tuple(needs),
            ranges=ranges,
        )

    def _canonical(self, said: str) -> str:
        try:
            return source_name.canonical(fetch.request_for(self.context, said))
        except MetierError:
            return said

    # --- where it is

    def _in_lock(self, one: OpenNeed) -> KnownSkill | None:
        pin = self.pins.get(one.need.name)
        if pin is None:
            return None
        known = installed_skill(self.place, pin)
        return known._replace(version=self.versions.get(pin.name, known.version))

    def _find(self, one: OpenNeed) -> _Found | None:
        """Find a skill in a source; nothing where it is installed elsewhere and will do."""
        need = one.need
        try:
            if need.said:
                return self._in_source(one, self._request(need.said))
            beside = self._beside(one)
            if beside is not None:
                return beside
        except (SourceError, StoreError) as error:
            raise _AbsentError(f"{error.code}: {error.message}") from error
        except MetierError as error:
            raise _AbsentError(error.message) from error
        if self._is_elsewhere(need.name):
            return None
        return self._in_taps(one)

    def _request(self, said: str) -> Request:
        """Take a stranger's words for a source apart. They name no place on this machine, no
        command, and no host that nobody here has named.
        """
        request = fetch.request_for(self.context, said)
        if request.location.startswith(("/", "file:")) or request.kind in {"folder", "bundled"}:
            raise _AbsentError(f"{printable(said)} is a place on this machine, and is not opened")
        hosts = source_name.hosts_of(request)
        if not hosts:
            raise _AbsentError(
                f"{printable(said)} is a command, which no skill may have started"
                if request.kind == "mcp"
                else f"{printable(said)} names no host"
            )
        strange = [host for host in hosts if host not in self._named_hosts()]
        if strange:
            raise _AbsentError(
                f"it comes from {printable(strange[0])}, which you have not named yet; "
                f"add it yourself: metier add {shlex.quote(said)}"
            )
        return request

    def _named_hosts(self) -> frozenset[str]:
        if self._hosts is None:
            said = [laid.origin.source for laid in self.laid.values()]
            said += [pin.source for pin in self.pins.values()]
            said += [source_name.tap_source(one) for one in self.context.settings.supply.taps]
            self._hosts = frozenset(host for one in said for host in self._hosts_of(one))
        return self._hosts

    def _hosts_of(self, said: str) -> Iterable[str]:
        try:
            return source_name.hosts_of(fetch.request_for(self.context, said))
        except MetierError:
            return ()

    def _beside(self, one: OpenNeed) -> _Found | None:
        """Look in the source that the needing skill came from."""
        parent = self.laid.get(one.by)
        if parent is None:
            return None
        request = self._whole_request(parent, one.need.name)
        if request is None:
            return None
        if one.need.path.startswith(".."):
            raise _AbsentError("its path leads out of the source")
        try:
            return self._in_source(one, request, parent.origin.ref)
        except _AbsentError:
            if one.need.path:
                raise
            return None

    def _whole_request(self, laid: FetchedSkill, name: str) -> Request | None:
        """Give the request for all of the source that a skill came from, at the same commit; for
        one that gives skills singly, that of the other skill.
        """
        origin = laid.origin
        source = self.pool.holding(origin)
        if source is not None and not source.request.path:
            whole = source.request.kind in fetch.WHOLE_SOURCE_KINDS
            if whole or _is_collection(source):
                return source.request
        request = source_name.request_of(origin.kind, origin.source, "", "")
        if origin.kind == "well-known":
            return request._replace(path=name)
        if source is not None and _is_collection(source):
            return request._replace(path=name, ref=origin.commit)
        if origin.kind not in fetch.WHOLE_SOURCE_KINDS:
            return None
        return request._replace(ref=origin.commit if origin.kind == "git" else origin.ref)

    def _in_source(self, one: OpenNeed, request: Request, ref: str | None = None) -> _Found:
        """Find a skill in a source, in a version that fits: the one that is there, or by a tag."""
        inside = one.need.path or (request.path if one.need.said else "")
        is_whole = request.kind in fetch.WHOLE_SOURCE_KINDS
        whole = request._replace(path="") if is_whole else request
        asked = whole.ref if ref is None else ref
        wanted = [read_range(text) or () for text in sorted(one.ranges)]
        if wanted and whole.kind == "oci" and not whole.ref:
            # No branch is there to begin with, and nobody has to keep a tag 'latest'.
            tags = versions_in(self.pool.tags(whole), one.need.name)
            if tags:
                return self._tagged(one, whole, inside, tags)
        source = self.pool.open(whole)
        picked = _picked(source, one.need.name, inside)
        version = _declared_version(source, picked) or version_of_ref(asked, one.need.name)
        known = read_version(version) if version else None
        if not wanted or (known is not None and all(satisfies(known, each) for each in wanted)):
            return _Found(source, picked, version, asked)
        tags = versions_in(self.pool.tags(whole), one.need.name) if whole.kind == "git" else {}
        if not tags and known is None:
            return _Found(source, picked, "", asked)  # there are no versions to go by
        return self._tagged(one, whole, inside, tags, version)

    def _tagged(
        self,
        one: OpenNeed,
        whole: Request,
        inside: str,
        tags: Mapping[SemanticVersion, str],
        version: str = "",
    ) -> _Found:
        """Find the newest version that fits by its tag; `version` is the one without any."""
        best = highest(tags, [read_range(text) or () for text in sorted(one.ranges)])
        if best is None:
            there = ", ".join(each.text for each in sorted(tags)[-MAX_VERSIONS_TOLD:]) or version
            raise _AbsentError(f"no version fits {', '.join(sorted(one.ranges))}; there is {there}")
        tag = tags[best]
        source = self.pool.open(whole._replace(ref=tag))
        return _Found(source, _picked(source, one.need.name, inside), best.text, tag)

    def _is_elsewhere(self, name: str) -> bool:
        """Tell whether a skill of this name can be used already, wherever it lies."""
        usable = usable_names(self.context.catalogue.contents().cards)
        return lookup_key(name) in usable

    def _in_taps(self, one: OpenNeed) -> _Found:
        """Look in the taps that the user has named, and nowhere else."""
        name = one.need.name
        if not self.context.settings.supply.taps:
            raise _AbsentError(
                "it is not in the same source, and nothing of that name is installed"
            )
        from metier.supply import search

        try:
            found = search.search_taps(self.context, name)
            best = pick.one_result(name, found.results)
            source, _, skill = best.source.partition(" --skill ")
            request = fetch.request_for(self.context, source)
            return self._in_source(one, request._replace(path=skill) if skill else request)
        except MetierError as error:
            raise _AbsentError(error.message) from error


def _is_collection(source: OpenedSource) -> bool:
    """Tell whether a registry's artifact is one of many skills."""
    return bool(getattr(source.tree, "is_collection", False))


def beside_own(context: Context, place: InstallPlace, steps: Sequence[PlanStep]) -> list[PlanStep]:
    """Say of what comes along where the user has another skill of that name already: agents know
    one by its name alone.
    """
    if not steps:
        return []
    own: dict[str, list[str]] = {}
    for card in context.catalogue.contents().cards:
        if card.state == "visible":
            own.setdefault(lookup_key(card.name), []).append(card.path)
    told = []
    for step in steps:
        here = {path_of(place, target) for target in step.targets}
        others = [path for path in own.get(lookup_key(step.name), ()) if path not in here]
        why = [f"you already have another one, in {path}" for path in others[:1]]
        told.append(step._replace(reasons=(*step.reasons, *why)))
    return told


def installed_skill(place: InstallPlace, pin: Pin) -> KnownSkill:
    """Give a locked skill as something that a need may be met by."""
    version = version_of_ref(pin.ref, pin.name) or read_needs_of(working_of(place, pin)).version
    return KnownSkill(pin.name, "installed", pin.source, version)


def _picked(source: OpenedSource, name: str, inside: str) -> SourceSkill:
    skills = source.pickings.skills
    found = [one for one in skills if inside and one.path == inside]
    found = found or [one for one in skills if name in {one.name, f"{one.plugin}:{one.name}"}]
    distinct = {one.path: one for one in found}
    if len(distinct) == 1 and found[0].name == name:
        return found[0]
    if len(distinct) == 1:
        raise _AbsentError(f"the skill there is called '{printable(found[0].name)}'")
    where = printable(source.request.said or source.origin.source)
    if found:
        raise _AbsentError(f"{where} has it {len(distinct)} times")
    twin = [one.name for one in skills if fold_name(one.name) == fold_name(name)]
    if twin:
        raise _AbsentError(
            f"{where} has '{printable(twin[0])}', which is spelt otherwise and so is another skill"
        )
    raise _AbsentError(f"{where} has no such skill")


def _declared_version(source: OpenedSource, picked: SourceSkill) -> str:
    """Give the version that a skill in a source says it has."""
    item = next((one for one in picked.items if one.path.lower().endswith("skill.md")), None)
    if item is None or item.size > fetch.MAX_HEAD_BYTES:
        return ""
    data = b"".join(chunk for _item, chunks in source.tree.contents([item]) for chunk in chunks)
    document = read_document(data, folder=picked.name, file="SKILL.md", size=len(data))
    return needs_in(dict(document.fields)).version if document is not None else ""


def versions_in(tags: Iterable[str], name: str) -> dict[SemanticVersion, str]:
    """Give the versions that tags stand for: those with the skill's own name where there are any,
    else those of the whole source.
    """
    own: dict[SemanticVersion, str] = {}
    plain: dict[SemanticVersion, str] = {}
    for tag in tags:
        version = read_version(tag)
        if version is not None:
            plain[version] = tag
        elif tag.startswith(name):
            version = read_version(re.sub(r"^[-@/_]", "", tag[len(name) :]))
            own |= {version: tag} if version is not None else {}
    return own or plain


def version_of_ref(ref: str, name: str) -> str:
    """Give the version that a ref stands for; nothing where it is a branch or a commit."""
    if not ref or len(ref) >= 40 or "." not in ref:
        return ""
    found = next(iter(versions_in((ref,), name)), None)
    return found.text if found is not None else ""

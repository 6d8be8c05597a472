"""Compares the plugins of a place with what their sources have now, and changes nothing.

A source or a folder is only read where its stats do not prove that nothing changed: where nothing
did, a look costs a pass over stats.

A stat proves that only when it was old enough when the folder was read: what is written in the same
tick of the clock as a stat that was taken looks the same. So nothing is kept about folders that
changed within the last seconds; they are read again.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from metier.catalogue import snapshot
from metier.discover.io.disk import SETTLED_NS
from metier.errors import MetierError
from metier.fast import CollectorOff
from metier.plugins import install, read_source
from metier.plugins.candidates import Proposal, reconcile
from metier.plugins.install import pin_of
from metier.plugins.io import tree_stats
from metier.plugins.mirror_ledger import OPEN_STATUSES, ShippedSkill, TreeHashes
from metier.plugins.mirror_store import digest_of_state, hashes_of_laid
from metier.plugins.model import Evidence, PluginFault
from metier.plugins.workspace import files_of
from metier.store.io.folders import state_of
from metier.store.layout import MAX_TREE_FILES
from metier.supply import fetch, judge
from metier.supply.assess import assess
from metier.supply.merge import combine
from metier.supply.model import Refusal, classify
from metier.supply.safe_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from metier.context import Context
    from metier.model import JsonObject, Texts
    from metier.plugins.install import PluginWorkspace
    from metier.plugins.io.tree_stats import TreeStats
    from metier.plugins.mirror_ledger import Ledger
    from metier.plugins.model import Binding, PluginRecord, VersionedSkill
    from metier.plugins.read_source import PluginSource, ShippedPlugin
    from metier.ports import Shelf
    from metier.supply.assess import AssessedUpdate
    from metier.supply.fetch import FetchedSkill
    from metier.supply.model import Request, SourceSkill
    from metier.supply.places import InstallPlace


MEMORY_FORMAT = "1"
"""Raise it whenever anything that is kept here changes its meaning."""
MAX_FOLDERS_KEPT = 200_000
"""So many folders are remembered; those that were read longest ago go first."""
MAX_SOURCE_ENTRIES = 1_000_000
"""A source with more than this is compared each time."""
SKIPPED_FOLDER = ".git"
"""Never a part of what a source offers."""
_KIND = b".L"


def folder_memory(context: Context, place: InstallPlace) -> FolderMemory:
    """Open what is remembered of a place's folders and of the sources of its plugins; to be used in
    a `with` block.
    """
    name = place.state.rpartition("/")[2].removesuffix(".json")
    return FolderMemory(context.shelf, f"plugins-{name}", context.edition, context.ports.clock_ns)


class FolderMemory:
    """Looks at folders, and remembers what it saw. What is remembered may be lost at any time: it
    is only time that is lost.
    """

    def __init__(self, shelf: Shelf, name: str, edition: str, clock_ns: Callable[[], int]) -> None:
        """Keep everything on a shelf under a name; what another edition of metier kept there is not
        believed.
        """
        self._shelf = shelf
        self._name = name
        self._clock_ns = clock_ns
        self._token = blake2b(
            f"{MEMORY_FORMAT}/{edition}".encode("utf-8", "surrogateescape"), digest_size=16
        ).digest()
        self._folders = dict[str, bytes]()
        """By path: the condensed stats, and after them the digest."""
        self._sources = dict[str, str]()
        self._changed = False

    def __enter__(self) -> FolderMemory:
        """Recall what was seen before."""
        with CollectorOff():
            kept = snapshot.opened(self._shelf.load(self._name), _KIND)
        if kept is not None and kept[0] == self._token:
            self._folders, self._sources = kept[1]
        return self

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        """Keep what was seen; not after an error, because then nobody knows which of the sources
        were dealt with.
        """
        if kind is None and self._changed:
            _trim(self._folders)
            _trim(self._sources)
            self._shelf.save(
                self._name, snapshot.sealed((self._folders, self._sources), self._token, _KIND)
            )
            self._changed = False

    def state(self, folder: str) -> str:
        """Give the state word of what lies at a path, as `state_of` does; a folder that is as it
        was is not read again.
        """
        now = self._clock_ns()  # before the first stat: what changes after it is newer than this
        seen = tree_stats.stat_tree(folder, MAX_TREE_FILES)
        kept = self._folders.get(folder)
        if seen is not None and kept is not None and kept.startswith(seen.condensed):
            return kept[tree_stats.DIGEST_BYTES :].decode("ascii")
        state = state_of(folder)
        proof = None
        # What shows that a folder still has its digest, unless it was not at rest while it was read.
        if (
            seen is not None
            and state.startswith("sha256:")
            and _is_settled(seen, now)
            and tree_stats.stat_tree(folder, MAX_TREE_FILES) == seen
        ):
            proof = seen.condensed + state.encode("ascii")
        self._keep(folder, proof)
        return state

    def stamp(self, folder: str) -> str:
        """Condense the stats of all that a source's folder offers; nothing when one is too fresh,
        or a part cannot be seen.
        """
        now = self._clock_ns()
        seen = tree_stats.stat_tree(folder, MAX_SOURCE_ENTRIES, skip=SKIPPED_FOLDER, follow=True)
        return seen.condensed.hex() if seen is not None and _is_settled(seen, now) else ""

    def seen(self, key: str, stamp: str) -> bool:
        """Tell whether a source had this stamp when it was compared last."""
        return bool(stamp) and self._sources.get(key) == stamp

    def remember(self, key: str, stamp: str) -> None:
        """Note that a source was compared when it had this stamp, which was taken before; one
        without a stamp is forgotten.
        """
        if not stamp:
            self.forget(key)
        elif self._sources.get(key) != stamp:
            self._sources.pop(key, None)  # so that it goes to the end
            self._sources[key] = stamp
            self._changed = True

    def forget(self, key: str) -> None:
        """Have a source compared the next time, whatever it looks like."""
        if self._sources.pop(key, None) is not None:
            self._changed = True

    def _keep(self, folder: str, what: bytes | None) -> None:
        known = self._folders.pop(folder, None)
        if what is not None:
            self._folders[folder] = what
        self._changed = self._changed or known != what


def _is_settled(seen: TreeStats, now: int) -> bool:
    """Tell whether any change that comes later will show: the rule of all who go by stats
    (`discover.disk.settled_keys`).
    """
    return now - seen.newest > SETTLED_NS


def _trim(known: JsonObject) -> None:
    for key in list(islice(known, max(0, len(known) - MAX_FOLDERS_KEPT))):
        del known[key]


# --- comparing plugins with their sources

_HERE = {
    judge.DANGEROUS_HINT: install.DANGEROUS_HINT,
    judge.FORCE_HINT: "look at its findings before you say yes",
}
"""What a person is told instead who has a candidate to decide about, and no command with these
options."""


class ComparedSkill(NamedTuple):
    """What one skill of a plugin turned out to be."""

    name: str
    local: str
    """The state of the working copy; nothing where there is none."""
    seen: ShippedSkill | None = None
    """What the plugin ships now; nothing where it no longer ships it."""
    laid: FetchedSkill | None = None
    """That in quarantine, where it has to go into the store."""
    proposal: Proposal | None = None
    merged: FetchedSkill | None = None
    """What was merged from it, where that is neither upstream's nor what is in place."""
    still: bool = False
    """Nothing is new but, at most, an edit."""


class ComparedPlugin(NamedTuple):
    """What one plugin turned out to be."""

    plugin_id: str
    version: str
    commit: str
    missing: bool
    skills: tuple[ComparedSkill, ...]
    remember: tuple[tuple[str, str], ...] = ()
    """What holds once this is written down: for the next look."""
    notes: Texts = ()
    stamp: str = ""
    """The stats of the source; nothing where it is to be read again."""


class PluginComparer:
    """Compares the plugins of one place with what their sources have now."""

    def __init__(self, work: PluginWorkspace, ledger: Ledger, memory: FolderMemory) -> None:
        """Gather what a look needs."""
        self.work = work
        self.ledger = ledger
        self.memory = memory
        self.unreachable: list[PluginFault] = []
        self._folders: dict[str, str] = {}
        """The folders that working copies lie in, by how targets name them."""

    def compare(self, plugins: Iterable[PluginRecord], *, offline: bool) -> list[ComparedPlugin]:
        """Look at plugins, each source once; `offline` takes upstream to be as it was seen last."""
        groups: dict[Request, list[PluginRecord]] = {}
        for plugin in plugins:
            groups.setdefault(plugin.source, []).append(plugin)
        found: list[ComparedPlugin] = []
        for request, group in groups.items():
            try:
                found += map(self._unchanged, group) if offline else self._source(request, group)
            except MetierError as error:
                if error.code == "not-found" and read_source.is_local(request):
                    found += map(self._missing, group)
                    continue
                self.unreachable.append(PluginFault.of(request.location, error))
                found += map(self._unchanged, group)  # edits are noted all the same
        return found

    def _source(self, request: Request, group: Sequence[PluginRecord]) -> list[ComparedPlugin]:
        local = read_source.is_local(request)
        context = self.work.context
        stamp = self._stamp(request) if local else read_source.newest_commit(context, request)
        found: list[ComparedPlugin] = []
        rest: list[PluginRecord] = []
        for one in group:
            if self._is_same(one, stamp, local=local):
                found.append(self._unchanged(one))
            else:
                rest.append(one)
        if rest:
            with read_source.open_source(context, request) as opened:
                found += [self._plugin(opened, one, stamp if local else "") for one in rest]
        return found

    def _stamp(self, request: Request) -> str:
        """Condense the stats of a folder of plugins; one that the project lies in has too much in
        it that is none of theirs.
        """
        inside = f"{self.work.place.base}/".startswith(f"{request.location}/")
        return "" if inside else self.memory.stamp(request.location)

    def _is_same(self, plugin: PluginRecord, stamp: str, *, local: bool) -> bool:
        if not stamp or plugin.status == "missing":
            return False
        if not local:
            return stamp == plugin.commit
        # A plugin of a folder that has a commit lies elsewhere, and the folder says nothing about
        # it.
        return not plugin.commit and self.memory.seen(
            f"plugin {plugin.plugin_id}", f"{stamp} {noted_stamp(plugin)}"
        )

    def _unchanged(self, plugin: PluginRecord) -> ComparedPlugin:
        """Look at working copies alone: upstream is as it was."""
        return ComparedPlugin(
            plugin.plugin_id,
            plugin.installed_version,
            plugin.commit,
            plugin.status == "missing",
            tuple(one for binding in plugin.skills for one in self._own(plugin, binding)),
        )

    def _missing(self, plugin: PluginRecord) -> ComparedPlugin:
        """Look at working copies alone: upstream is gone."""
        return self._unchanged(plugin)._replace(missing=True)

    def _own(self, plugin: PluginRecord, binding: Binding) -> Iterator[ComparedSkill]:
        # One that is only offered: a skill of that name is somebody else's.
        if binding.skill not in self.ledger.skills or not binding.accepted:
            return
        if binding.status in {"removed", "kept"}:
            local = self.local(binding.skill)
            waiting = self.ledger.candidates.get(binding.pending)
            same = waiting is not None and waiting.evidence.local_tree_hash == digest_of_state(
                local
            )
            yield ComparedSkill(binding.skill, local, still=same or binding.status == "kept")
            return
        seen = ShippedSkill(binding.path, TreeHashes(binding.observed))
        found = self._compared(plugin, binding, seen)
        if found is not None:
            yield found

    def local(self, name: str) -> str:
        """Give the state of a working copy; nothing where there is none."""
        skill = self.ledger.skills.get(name)
        if skill is None or not skill.targets or skill.status != "active":
            return ""
        folder, _, last = skill.targets[0].path.rpartition("/")
        if folder not in self._folders:  # ten thousand skills lie in one or two
            self._folders[folder] = self.work.here.working(skill).rpartition("/")[0]
        return self.memory.state(f"{self._folders[folder]}/{last}")

    # --- a plugin that may have changed

    def _plugin(self, opened: PluginSource, plugin: PluginRecord, stamp: str) -> ComparedPlugin:
        shipped = opened.shipped(plugin.name)
        if shipped is None:
            return self._missing(plugin)
        found = list[ComparedSkill]()
        remember = list[tuple[str, str]]()
        notes = [f"{plugin.plugin_id}: {fault.message}" for fault in shipped.faults]
        for source, picked in shipped.skills:
            try:
                one = self._shipped(plugin, source, picked, remember)
            except MetierError as error:
                one = Refusal(picked.name, (f"{error.code}: {error.message}",))
            if isinstance(one, Refusal):
                notes.append(
                    f"{plugin.plugin_id}: '{one.name}' is left as it is: {'; '.join(one.reasons)}"
                )
            elif one is not None:
                found.append(one)
        left = {one.skill for one in plugin.skills}.difference(
            self._names(shipped), shipped.withheld
        )
        found += [ComparedSkill(name, self.local(name)) for name in sorted(left)]
        return ComparedPlugin(
            plugin_id=plugin.plugin_id,
            version=shipped.offer.version,
            # What was not looked at whole is looked at again.
            commit=plugin.commit if notes else shipped.commit,
            missing=False,
            skills=tuple(found),
            remember=tuple(remember),
            notes=tuple(notes),
            stamp="" if notes else stamp,
        )

    def _names(self, shipped: ShippedPlugin) -> Iterator[str]:
        for _source, picked in shipped.skills:
            try:
                yield safe_name(picked.name)
            except MetierError:
                yield picked.name

    def _shipped(
        self,
        plugin: PluginRecord,
        source: fetch.OpenedSource,
        picked: SourceSkill,
        remember: list[tuple[str, str]],
    ) -> ComparedSkill | Refusal | None:
        """Look at one skill that a plugin ships."""
        name = safe_name(picked.name)
        if self.ledger.is_adopted(plugin.plugin_id, name):
            return None
        links = read_source.links_in(picked)
        if links:
            return Refusal(name, (read_source.SYMLINK_MESSAGE.format(links[0]),))
        binding = plugin.binding(name)
        key = f"skill {plugin.plugin_id} {name}"
        where = f"{source.request.location}/{picked.path}"
        state = self.memory.state(where) if read_source.is_local(source.request) else ""
        known = binding is not None and bool(binding.accepted) and name in self.ledger.skills
        if known and binding and state and self.memory.seen(key, f"{state} {binding.observed}"):
            seen = ShippedSkill(picked.path, TreeHashes(binding.observed))
            return self._compared(plugin, binding, seen)
        laid = fetch.lay_out(self.work.context, self.work.desk, source, picked)
        if isinstance(laid, Refusal):
            return laid
        if not known or binding is None:
            return self._new(name, laid)
        # Else it is nobody's state: it changed while it was read.
        if state and state == self.memory.state(where):
            remember.append((key, f"{state} {laid.digest}"))
        return self._compared(
            plugin, binding, ShippedSkill(picked.path, hashes_of_laid(laid)), laid
        )

    # --- what would come of it

    def _compared(
        self,
        plugin: PluginRecord,
        binding: Binding,
        seen: ShippedSkill,
        laid: FetchedSkill | None = None,
    ) -> ComparedSkill | None:
        """Compare the three trees of a skill; nothing where all is as it is written down."""
        name = binding.skill
        local = self.local(name)
        current = self.ledger.current(name).digest
        taken_up = bool(binding.pending) and reconcile(self.ledger, plugin.plugin_id, name)
        if taken_up:
            binding = self.ledger.binding_of(plugin.plugin_id, name)
        upstream = seen.tree.digest
        same = upstream == binding.observed and seen.path == binding.path and not taken_up
        synced = binding.status == "synced" and upstream == binding.accepted
        if same and synced and local in {current, ""}:
            return None
        mode = classify(binding.accepted, digest_of_state(local) or current, upstream)
        if mode in {"unchanged", "already_applied"}:
            return ComparedSkill(name, local, seen, laid)
        waiting = self.ledger.candidates.get(binding.pending)
        # What waits may be about something else: that the skill was gone, when it is back.
        waits = (
            waiting is not None
            and waiting.status in OPEN_STATUSES
            and (waiting.evidence.new_upstream_tree_hash, waiting.evidence.local_tree_hash)
            == (upstream, local)
        )
        if same and (waits or binding.status == "declined"):
            return ComparedSkill(name, local, still=True)
        return self._proposed(plugin, self.ledger.skills[name], binding, seen, laid)

    def _proposed(
        self,
        plugin: PluginRecord,
        skill: VersionedSkill,
        binding: Binding,
        seen: ShippedSkill,
        laid: FetchedSkill | None,
    ) -> ComparedSkill:
        pin = pin_of(plugin, skill, binding)
        theirs = laid or self.work.kept(pin, seen.tree.digest)
        if not seen.tree.content_hash:
            seen = ShippedSkill(seen.path, hashes_of_laid(theirs))
        prospect = assess(self.work.bench, pin, theirs)
        if isinstance(prospect, Refusal):
            local = self.local(skill.name)
            proposal = Proposal(
                "; ".join(prospect.reasons), Evidence(local_tree_hash=digest_of_state(local))
            )
            return ComparedSkill(skill.name, local, seen, theirs, proposal)
        assert prospect is not None, "upstream is not what was accepted"
        merged = theirs._replace(
            folder=prospect.folder,
            files=prospect.files,
            digest=prospect.digest,  # type: ignore[arg-type]
        )
        return ComparedSkill(
            skill.name,
            prospect.local,
            seen,
            theirs,
            proposal_of(prospect),
            merged if prospect.folder != theirs.folder and not prospect.conflicts else None,
        )

    def _new(self, name: str, laid: FetchedSkill) -> ComparedSkill | Refusal:
        """Judge a skill that a newer manifest brings."""
        weighed = self.work.weigh(laid.folder, name, laid.told)
        if isinstance(weighed, Refusal):
            return weighed
        verdict = weighed.verdict
        told = ("a new skill of this plugin", *weighed.decision.reasons)
        can = combine.abilities(files_of(laid), verdict.findings)
        evidence = Evidence(
            proposed_tree_hash=laid.digest,
            verdict=verdict.level,
            score=verdict.score,
            gained=tuple(sorted(can)),
        )
        seen = ShippedSkill(laid.picked.path, hashes_of_laid(laid))
        return ComparedSkill(name, "", seen, laid, Proposal(_told(told), evidence))


def noted_stamp(plugin: PluginRecord) -> str:
    """Condense what is written down of a plugin's upstream: a look at its source holds for that
    alone.
    """
    noted = repr([(one.skill, one.path, one.observed) for one in plugin.skills])
    return blake2b(noted.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def _told(reasons: Iterable[str]) -> str:
    return "; ".join(_HERE.get(why, why) for why in reasons)


def proposal_of(found: AssessedUpdate) -> Proposal:
    """Give what a person is told of a prospect."""
    fine = "merged with your edits"
    if found.mode != "three_way":
        fine = "no local edits"
    evidence = Evidence(
        local_tree_hash=found.local,
        gained=found.gained,
        lost=found.lost,
        conflicts=tuple(one.path for one in found.conflicts),
    )
    if found.weighed is not None:
        verdict = found.weighed.verdict
        evidence = evidence._replace(
            proposed_tree_hash="" if found.conflicts else found.digest,
            verdict=verdict.level,
            score=verdict.score,
        )
    return Proposal(_told(found.reasons) or fine, evidence)

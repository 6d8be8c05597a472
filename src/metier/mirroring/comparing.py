"""One look at plugins: what each ships now, what its working copies are, and what would come of both. Nothing is changed.

A source whose stats are what they were is not read again, and no tree whose stats are what they were is hashed again: where
nothing changed, a look costs a pass over stats.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError
from metier.mirroring import publishing, sourcing
from metier.mirroring.faces import laid_face
from metier.mirroring.workbench import pin_of
from metier.mirrors import Fault
from metier.plugins.candidates import Proposal, reconciled
from metier.plugins.moves import OPEN, Seen, Tree, bound, is_adopted
from metier.supplies import Refusal
from metier.supply.merge.classify import classify
from metier.supply.paths import safe_name
from metier.supplying import admitting, deploying, fetching, versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from metier.mirroring.grounds import Ground
    from metier.mirroring.looking import Looks
    from metier.mirroring.sourcing import Opened, Shipped
    from metier.mirroring.workbench import Workbench
    from metier.mirrors import Binding, Plugin, Skill
    from metier.plugins.ledger import Ledger
    from metier.supplies import Picked, Request
    from metier.supplying.fetching import Laid
    from metier.supplying.prospects import Prospect

_HERE = {admitting.WAY: publishing.DANGEROUS, admitting.FORCE: "look at its findings before you say yes"}
"""What a person is told instead who has a candidate to decide about, and no command with these options."""


class Found(NamedTuple):
    """What one skill of a plugin turned out to be."""

    name: str
    local: str
    """The state of the working copy; nothing where there is none."""
    seen: Seen | None = None
    """What the plugin ships now; nothing where it no longer ships it."""
    laid: Laid | None = None
    """That in quarantine, where it has to go into the store."""
    proposal: Proposal | None = None
    merged: Laid | None = None
    """What was merged from it, where that is neither upstream's nor what is in place."""
    still: bool = False
    """Nothing is new but, at most, an edit."""


class Looked(NamedTuple):
    """What one plugin turned out to be."""

    plugin_id: str
    version: str
    commit: str
    missing: bool
    skills: tuple[Found, ...]
    remember: tuple[tuple[str, str], ...] = ()
    """What holds once this is written down: for the next look."""
    notes: tuple[str, ...] = ()
    stamp: str = ""
    """The stats of the source; nothing where it is to be read again."""


class Look:
    """Looks at the plugins of one place."""

    def __init__(self, work: Workbench, ground: Ground, ledger: Ledger, looks: Looks) -> None:
        """Gather what a look needs."""
        self.work, self.library, self.place = work, work.library, ground.place
        self.ledger, self.looks = ledger, looks
        self.unreachable: list[Fault] = []
        self._folders: dict[str, str] = {}
        """The folders that working copies lie in, by how targets name them."""

    def at(self, plugins: Iterable[Plugin], *, offline: bool) -> list[Looked]:
        """Look at plugins, each source once; `offline` takes upstream to be as it was seen last."""
        groups: dict[Request, list[Plugin]] = {}
        for plugin in plugins:
            groups.setdefault(plugin.source, []).append(plugin)
        found = []
        for request, group in groups.items():
            try:
                found += self._unchanged(group) if offline else self._source(request, group)
            except MetierError as error:
                if error.code == "not-found" and sourcing.is_local(request):
                    found += self._missing(group)
                    continue
                self.unreachable.append(Fault(request.location, error.code, error.message))
                found += self._unchanged(group)  # edits are noted all the same
        return found

    def _source(self, request: Request, group: Sequence[Plugin]) -> list[Looked]:
        local = sourcing.is_local(request)
        stamp = self._stamp(request) if local else sourcing.newest(self.library, request)
        same = [one for one in group if self._is_same(one, stamp, local=local)]
        found, known = self._unchanged(same), {one.plugin_id for one in same}
        rest = [one for one in group if one.plugin_id not in known]
        if rest:
            with sourcing.opened(self.library, request) as opened:
                found += [self._plugin(opened, one, stamp if local else "") for one in rest]
        return found

    def _stamp(self, request: Request) -> str:
        """Condense the stats of a folder of plugins; one that the project lies in has too much in it that is none of theirs."""
        return "" if f"{self.place.base}/".startswith(f"{request.location}/") else self.looks.stamp(request.location)

    def _is_same(self, plugin: Plugin, stamp: str, *, local: bool) -> bool:
        if not stamp or plugin.status == "missing":
            return False
        if not local:
            return stamp == plugin.commit
        # A plugin of a folder that has a commit lies elsewhere, and the folder says nothing about it.
        return not plugin.commit and self.looks.seen(f"plugin {plugin.plugin_id}", f"{stamp} {as_noted(plugin)}")

    def _unchanged(self, plugins: Iterable[Plugin]) -> list[Looked]:
        """Look at working copies alone: upstream is as it was."""
        found = []
        for plugin in plugins:
            skills = tuple(one for binding in plugin.skills for one in self._own(plugin, binding))
            found.append(Looked(plugin.plugin_id, plugin.installed_version, plugin.commit, plugin.status == "missing", skills))
        return found

    def _missing(self, plugins: Iterable[Plugin]) -> list[Looked]:
        """Look at working copies alone: upstream is gone."""
        return [one._replace(missing=True) for one in self._unchanged(plugins)]

    def _own(self, plugin: Plugin, binding: Binding) -> Iterator[Found]:
        skill = self.ledger.skills.get(binding.skill)
        if skill is None or not binding.accepted:  # it is only offered: a skill of that name is somebody else's
            return
        if binding.status in {"removed", "kept"}:
            local, waiting = self.local(skill), self.ledger.candidates.get(binding.pending)
            same = waiting is not None and waiting.evidence.local_tree_hash == tree_of(local)
            yield Found(binding.skill, local, still=same or binding.status == "kept")
            return
        found = self._compared(plugin, skill, binding, Seen(binding.path, Tree(binding.observed)), None)
        if found is not None:
            yield found

    def local(self, skill: Skill) -> str:
        """Give the state of a working copy."""
        if not skill.targets or skill.status != "active":
            return ""
        folder, _, name = skill.targets[0].path.rpartition("/")
        if folder not in self._folders:  # ten thousand skills lie in one or two
            self._folders[folder] = deploying.path_of(self.place, skill.targets[0]).rpartition("/")[0]
        return self.looks.state(f"{self._folders[folder]}/{name}")

    # --- a plugin that may have changed

    def _plugin(self, opened: Opened, plugin: Plugin, stamp: str) -> Looked:
        shipped = opened.shipped(plugin.name)
        if shipped is None:
            return self._missing([plugin])[0]
        found, remember = list[Found](), list[tuple[str, str]]()
        notes = [f"{plugin.plugin_id}: {fault.message}" for fault in shipped.faults]
        for source, picked in shipped.skills:
            try:
                one = self._shipped(plugin, source, picked, remember)
            except MetierError as error:
                one = Refusal(picked.name, (f"{error.code}: {error.message}",))
            if isinstance(one, Refusal):
                notes.append(f"{plugin.plugin_id}: '{one.name}' is left as it is: {'; '.join(one.reasons)}")
            elif one is not None:
                found.append(one)
        left = {one.skill for one in plugin.skills} - set(self._names(shipped)) - set(shipped.withheld)
        found += [Found(name, self._local_of(name)) for name in sorted(left)]
        commit = plugin.commit if notes else shipped.commit  # what was not looked at whole is looked at again
        return Looked(plugin.plugin_id, shipped.offer.version, commit, False, tuple(found), tuple(remember),  # noqa: FBT003
                      tuple(notes), "" if notes else stamp)  # fmt: skip

    def _names(self, shipped: Shipped) -> Iterator[str]:
        for _source, picked in shipped.skills:
            try:
                yield safe_name(picked.name)
            except MetierError:
                yield picked.name

    def _local_of(self, name: str) -> str:
        skill = self.ledger.skills.get(name)
        return self.local(skill) if skill is not None else ""

    def _shipped(self, plugin: Plugin, source: fetching.Source, picked: Picked,
                 remember: list[tuple[str, str]]) -> Found | Refusal | None:  # fmt: skip
        """Look at one skill that a plugin ships."""
        name = safe_name(picked.name)
        if is_adopted(self.ledger, plugin.plugin_id, name):
            return None
        links = sourcing.links_in(picked)
        if links:
            return Refusal(name, (sourcing.SYMLINK.format(links[0]),))
        binding, skill = plugin.binding(name), self.ledger.skills.get(name)
        key = f"skill {plugin.plugin_id} {name}"
        where = f"{source.request.location}/{picked.path}" if sourcing.is_local(source.request) else ""
        state = self.looks.state(where) if where else ""
        if binding is not None and skill is not None and binding.accepted:
            if state and self.looks.seen(key, f"{state} {binding.observed}"):
                return self._compared(plugin, skill, binding, Seen(picked.path, Tree(binding.observed)), None)
            laid = fetching.lay(self.library, self.work.desk, source, picked)
            if isinstance(laid, Refusal):
                return laid
            if state and state == self.looks.state(where):  # else it is nobody's state: it changed while it was read
                remember.append((key, f"{state} {laid.digest}"))
            return self._compared(plugin, skill, binding, Seen(picked.path, laid_face(laid)), laid)
        laid = fetching.lay(self.library, self.work.desk, source, picked)
        return laid if isinstance(laid, Refusal) else self._new(name, laid)

    # --- what would come of it

    def _compared(self, plugin: Plugin, skill: Skill, binding: Binding, seen: Seen, laid: Laid | None) -> Found | None:
        """Compare the three trees of a skill; nothing where all is as it is written down."""
        local, current = self.local(skill), self.ledger.current(skill.name)
        taken_up = bool(binding.pending) and reconciled(self.ledger, plugin.plugin_id, skill.name)
        if taken_up:
            binding = bound(self.ledger, plugin.plugin_id, skill.name)
        upstream = seen.tree.digest
        same = upstream == binding.observed and seen.path == binding.path and not taken_up
        if same and local in {current.digest, ""} and binding.status == "synced" and upstream == binding.accepted:
            return None
        mode = classify(binding.accepted, tree_of(local) or current.digest, upstream)
        if mode in {"unchanged", "already_applied"}:
            return Found(skill.name, local, seen, laid)
        waiting = self.ledger.candidates.get(binding.pending)
        # What waits may be about something else: that the skill was gone, when it is back.
        waits = (waiting is not None and waiting.status in OPEN
                 and (waiting.evidence.new_upstream_tree_hash, waiting.evidence.local_tree_hash) == (upstream, local))  # fmt: skip
        if same and (waits or binding.status == "declined"):
            return Found(skill.name, local, still=True)
        return self._proposed(plugin, skill, binding, seen, laid)

    def _proposed(self, plugin: Plugin, skill: Skill, binding: Binding, seen: Seen, laid: Laid | None) -> Found:
        pin = pin_of(plugin, skill, binding)
        theirs = laid or self.work.kept(pin, seen.tree.digest)
        face = seen if seen.tree.content_hash else Seen(seen.path, laid_face(theirs))
        prospect = self.work.prospect(pin, theirs)
        if isinstance(prospect, Refusal):
            local = self.local(skill)
            return Found(skill.name, local, face, theirs, Proposal(tree_of(local), "", "; ".join(prospect.reasons)))
        assert prospect is not None, "upstream is not what was accepted"
        merged = theirs._replace(folder=prospect.folder, files=prospect.files, digest=prospect.digest)  # type: ignore[arg-type]
        return Found(skill.name, prospect.local, face, theirs, proposal_of(prospect),
                     merged if prospect.folder != theirs.folder and not prospect.conflicts else None)  # fmt: skip

    def _new(self, name: str, laid: Laid) -> Found | Refusal:
        """Judge a skill that a newer manifest brings."""
        working = deploying.working_copy(self.place, name)
        weighed = self.work.bench.scales.weigh(laid.folder, name, laid.told, self.place.scope, working)
        if isinstance(weighed, Refusal):
            return weighed
        verdict, told = weighed.verdict, ("its plugin brings it, and nobody has said yes", *weighed.decision.reasons)
        can = versions.abilities(versions.laid_out(laid.folder, laid.files, laid.digest), verdict.findings)
        proposal = Proposal("", laid.digest, _told(told), verdict.level, verdict.score, tuple(sorted(can)))
        return Found(name, "", Seen(laid.picked.path, laid_face(laid)), laid, proposal)


def tree_of(state: str) -> str:
    """Give the digest of what lies in a place; nothing where that is no folder."""
    return state if state.startswith("sha256:") else ""


def as_noted(plugin: Plugin) -> str:
    """Condense what is written down of a plugin's upstream: a look at its source holds for that alone."""
    noted = repr([(one.skill, one.path, one.observed) for one in plugin.skills])
    return blake2b(noted.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def _told(reasons: Iterable[str]) -> str:
    return "; ".join(_HERE.get(why, why) for why in reasons)


def proposal_of(found: Prospect) -> Proposal:
    """Give what a person is told of a prospect."""
    verdict = found.weighed.verdict if found.weighed is not None else None
    proposed = "" if found.conflicts or found.weighed is None else found.digest
    level, score = (verdict.level, verdict.score) if verdict is not None else ("", 0)
    fine = "it is merged with your edits" if found.mode == "three_way" else "it meets no edits of yours"
    return Proposal(found.local, proposed, _told(found.reasons) or fine, level, score, found.gained, found.lost,
                    tuple(one.path for one in found.conflicts))  # fmt: skip

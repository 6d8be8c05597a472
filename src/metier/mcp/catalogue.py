"""What is served: one snapshot of the catalogue at a time, and what was found out about the skills
in it.

A snapshot is put in place whole, and holds what was judged. A few skills that were not are judged
while somebody waits; of many, the rest is judged in the background, and clients are told as the
list grows. Whether a skill may be used is decided when it is first asked for, listed or found, and
holds until the skill, a decision or the configuration changes: the watcher tells of the first, a
look at three stats of the second.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from metier.disclose import offer, tools
from metier.disclose.offer import OfferRefusal
from metier.discover import skill_files
from metier.discover.io import disk
from metier.errors import MetierError
from metier.mcp import uris
from metier.mcp.copies import SkillCopies, SkillCopy, copy_skill, drop_oldest, frontmatter_json
from metier.mcp.sessions import LoadedRevision
from metier.model import Digest
from metier.run.interpreters import interpreter_of
from metier.standard.code import read_code
from metier.standard.names import one_line
from metier.standard.sidecar import PATH as SIDECAR_FILE, read_sidecar
from metier.trust.assess import assess_skill
from metier.trust.decide import usable
from metier.trust.io import decisions_file, key_files
from metier.trust.judge import judge_in_batches, unjudged
from metier.trust.load_gate import WITHHELD_STATES
from metier.usage import counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.disclose.offer import Audience, Door
    from metier.discover.agents import Agent
    from metier.library import Library
    from metier.model import Card, Change, JsonObject, Texts
    from metier.pipeline import Catalogue
    from metier.settings.merge import Settings
    from metier.standard.code import CodeFacts
    from metier.trust.decide import Usable

MAX_REMEMBERED_ORDERS = 64
"""How many orders are remembered, so that who is paging through one can go on after a change."""
MAX_KEPT_SKILLS = 20_000
MAX_JUDGED_AT_ONCE = 32
"""So many skills are judged while somebody waits; of more, all are judged in the background."""
BACKGROUND_BATCH = 64
"""Skills that are judged before they are offered together."""
DECISION_FILES = (
    decisions_file.STATE_FILE,
    decisions_file.COPY_FILE,
    key_files.KEYS_FOLDER,
    key_files.SIGNATURES_FOLDER,
)
"""What decisions are made from, beside the skills themselves and the configuration."""
DECISION_SECONDS = 300
"""How long a decision holds at most: waivers run out."""
UNREADABLE = "unreadable"
NOT_SERVED = "not-served"
_SHEBANG_BYTES = 256
_LOG = logging.getLogger("metier.mcp")


class ServedSnapshot(NamedTuple):
    """The catalogue at one moment, as far as one door shows it."""

    generation: int
    edition: int
    """The generation since which the order has been as it is."""
    found: Catalogue
    settings: Settings
    decisions: bytes | None
    audience: Audience
    """Who is served, with the names that this door keeps to itself and what its agent has by
    itself."""
    visible: dict[str, Card]
    """By path, what is visible, judged and not blocked at this door; whether it may be used as it
    is now is found out later."""
    names: dict[str, str]
    """Names that mean just one of these."""
    roots: dict[str, str]
    """By path, the place of a skill among the URIs."""
    places: dict[str, str]
    """The other way round."""
    order: Texts
    """The paths of those that have such a place, in the order of their URIs."""
    among: frozenset[str]
    closed: dict[str, Texts]
    """By path, the folders in it that are skills which nobody gets, or nobody at this door."""
    damage: str
    """Why skills are missing, if any are: damaged decisions, or a search that was stopped."""

    @property
    def terms(self) -> tuple[object, ...]:
        """What everything that was decided rests on, beside the skills."""
        return self.settings, self.decisions


class SkillPermission(NamedTuple):
    """Whether a skill may be used, and which bytes that was said of."""

    digest: Digest | None
    level: str
    refusal: OfferRefusal | None
    until: float
    skill: Usable[Card] | None = None
    """What may be read of it; nothing where it may not be, or where somebody else let it in."""


class ServedSkill(NamedTuple):
    """A skill that is served as files."""

    card: Card
    root: str
    digest: Digest
    frontmatter: JsonObject
    copy: SkillCopy
    """Without bytes: those are held by digest, for as long as there is room."""
    beside: JsonObject
    """What `agents/openai.yaml` says about how it is shown and what it depends on; empty where it
    says nothing."""


class ServedCatalogue:
    """What one door serves of a library."""

    def __init__(
        self, library: Library, door: Door, *, scripts: bool = True, beside: Agent | None = None
    ) -> None:
        """Look at nothing yet. Without `scripts` the client has no use for skills that bring some;
        what the agent `beside` reads by itself is not served.
        """
        self.library = library
        self.door = door
        self.scripts = scripts
        self.beside = beside
        self.context = library.context
        self.copies = SkillCopies()
        self.alone = threading.RLock()
        """Held while something is found out, so that nothing is found out twice at once."""
        self.orders: dict[int, Texts] = {}
        """The orders that are remembered, the newest last; whoever pages has this very mapping, so
        it is never changed."""
        self._now: ServedSnapshot | None = None
        self._standings: OrderedDict[str, SkillPermission] = OrderedDict()
        self._offers: OrderedDict[str, ServedSkill | OfferRefusal] = OrderedDict()
        self._said: set[str] = set()
        self._boxed = False
        self._aside = ThreadPoolExecutor(1, "metier-aside")
        self._background = ThreadPoolExecutor(1, "metier-judge")
        self._judge_alone = threading.Lock()
        self._judging = False
        self._ended = False
        self._seen: object = None
        self._tried: set[str] = set()
        """Skills that were tried to be judged since the disk was last looked at."""
        library.context.in_background = self._later
        # What is not there yet would change what everything rests on when the first skill is loaded.
        decisions_file.begin_record(self.context.data, self.context.home)

    # --- the snapshot

    def now(self) -> ServedSnapshot:
        """Give the snapshot, made anew when the catalogue, the configuration or a decision is not
        what it was.
        """
        return self.peek() or self.renew()

    def peek(self) -> ServedSnapshot | None:
        """Give the snapshot if it is current, and wait for nobody."""
        known = self._now
        is_current = (
            known is not None
            and known.found is self.context.catalogue.contents()
            and known.settings is self.context.settings
            and known.decisions == self._decisions()
        )
        return known if is_current else None

    def renew(self, change: Change | None = None) -> ServedSnapshot:
        """Put a new snapshot in place; what was found out about skills that are not as they were is
        forgotten.
        """
        self._judge_new()
        with self.alone:
            old = self._now
            new = self._made((old.generation if old else 0) + 1)
            if old is None or old.settings is not new.settings or old.decisions != new.decisions:
                self.forget()
            elif old.found is not new.found:
                self._drop(
                    path for path, card in old.visible.items() if new.visible.get(path) != card
                )
            if change is not None:
                self._drop((*change.added, *change.changed, *change.removed))
            if old is not None:
                if change is None and old.terms == new.terms and old.found.cards == new.found.cards:
                    # it was looked at, and all is as it was
                    new = new._replace(generation=old.generation)
                if old.roots != new.roots:
                    self._offers.clear()
                if old.order == new.order:
                    new = new._replace(edition=old.edition, order=old.order)
            self.orders = dict(
                [*(self.orders | {new.edition: new.order}).items()][-MAX_REMEMBERED_ORDERS:]
            )
            self._now = new
            return new

    def _judge_new(self) -> None:
        """Have what was not judged yet judged: at once where that is quick, else by and by."""
        if self._judging or self._ended:
            return
        with self._judge_alone:  # whoever comes second waits until these are judged
            new = self._untried()
            if len(new) <= MAX_JUDGED_AT_ONCE:
                self._judge(new)
            elif not self._judging:
                self._judging = True
                self._background.submit(self._judge_rest)

    def _untried(self) -> list[Card]:
        """Give what was not judged yet, without what could not be since the disk was last looked
        at.
        """
        seen = self.context.catalogue.glance().seen
        if seen is not self._seen:
            self._seen = seen
            self._tried.clear()
        cards = unjudged(self.context.catalogue.contents().cards)
        return [card for card in cards if card.path not in self._tried]

    def _judge(self, cards: list[Card]) -> None:
        if cards:
            judge_in_batches(self.context, cards)
            self._tried.update(card.path for card in cards)

    def _judge_rest(self) -> None:
        """Judge batch after batch, until nothing is left or the server ends. Whoever looks at what
        is served notices that there is more of it.
        """
        try:
            while not self._ended and (new := self._untried()):
                self._judge(new[:BACKGROUND_BATCH])
        except (MetierError, OSError) as error:
            _LOG.warning("not all skills could be judged: %s", error)
        finally:
            self._judging = False

    def _made(self, generation: int) -> ServedSnapshot:
        settings = self.context.settings
        decisions = self._decisions()
        found = self.context.catalogue.contents()
        damage = offer.missing_note(self.context)
        if damage and damage not in self._said:
            self._said.add(damage)
            _LOG.warning("%s", one_line(damage))
        audience = offer.audience_of(self.context, self.door)
        if self.beside is not None:
            had = offer.had_paths(self.context, self.beside)
            audience = audience._replace(had=had, beside=self.beside.title)
        visible = {card.path: card for card in found.cards if offer.is_offered(card, audience)}
        roots = uris.roots_of(card for card in visible.values() if card.kind != "code")
        counts: dict[str, list[str]] = {}
        for path, card in visible.items():
            counts.setdefault(card.name, []).append(path)
        names = {name: paths[0] for name, paths in counts.items() if len(paths) == 1}
        withheld = (
            card.path
            for card in found.cards
            if card.state in WITHHELD_STATES or offer.is_reserved(card, audience.reserved)
        )
        return ServedSnapshot(
            generation=generation,
            edition=generation,
            found=found,
            settings=settings,
            decisions=decisions,
            audience=audience,
            visible=visible,
            names=names,
            roots=roots,
            places={uris.lookup_place(root): path for path, root in roots.items()},
            order=tuple(sorted(roots, key=roots.__getitem__)),
            among=frozenset(visible),
            closed=_skills_holding(withheld, visible),
            damage=damage,
        )

    def _decisions(self) -> bytes | None:
        if not self.context.data:
            return None
        return b"|".join(
            disk.key_of(f"{self.context.data}/{name}") or b"" for name in DECISION_FILES
        )

    def forget(self, path: str = "") -> None:
        """Let a skill be looked at again, or all of them."""
        with self.alone:
            self._drop((path,) if path else tuple(self._standings.keys() | self._offers.keys()))

    def _drop(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._standings.pop(path, None)
            self._offers.pop(path, None)

    # --- may it be used

    def standing(self, card: Card) -> SkillPermission:
        """Say whether a skill may be used; nothing is noted down for it."""
        known = self._standings.get(card.path)
        if known is not None and known.until > time.monotonic():
            return known
        with self.alone:
            found = self._decided(card)
            self._standings[card.path] = found
            drop_oldest(self._standings, MAX_KEPT_SKILLS)
            return found

    def _decided(self, card: Card) -> SkillPermission:
        until = time.monotonic() + DECISION_SECONDS
        try:
            refusal = self.kept_in(card)
            if refusal is not None:
                return SkillPermission(None, "", refusal, until)
            decision = assess_skill(self.context, card).decision
        except (MetierError, OSError, ValueError) as error:
            why = _refusal(card, UNREADABLE, f"cannot be read: {error}", "list again")
            return SkillPermission(None, "", why, 0.0)
        held_back = decision.load not in {"allow", "warn"} or decision.state in WITHHELD_STATES
        if held_back or decision.digest is None:
            ruled = decision.ruled_on("load")
            code = "policy" if ruled else "ask" if decision.load == "ask" else "blocked"
            what = "can't be loaded" + (": a policy does not allow it" if ruled else "")
            why = _refusal(card, code, what)
            return SkillPermission(None, decision.level, why, until)
        skill = usable(card, decision.digest, decision, "load")
        return SkillPermission(Digest(decision.digest), decision.level, None, until, skill)

    def kept_in(self, card: Card) -> OfferRefusal | None:
        """Say what keeps a skill from this door besides trust: its own word, or scripts that cannot
        be run.
        """
        settings = self.context.settings.mcp
        if card.kind == "code":
            facts = self.facts_of(card)
            refusal = offer.code_refusal(card, facts.expose if facts else False, settings)
            if refusal is not None:
                return refusal
        if not self.scripts and _has_scripts(card):
            return _refusal(
                card,
                "no-scripts",
                "has scripts, and this client gets no skills with scripts",
                "the user can show it: 'metier mcp' without --no-scripts in the client's file",
            )
        if not settings.scripts and not self._has_box() and _has_scripts(card):
            return _refusal(
                card,
                "no-sandbox",
                "has scripts, and there is no sandbox to run them in",
                "the user can show it: mcp.scripts in the configuration",
            )
        return None

    def facts_of(self, card: Card) -> CodeFacts | None:
        """Read what a code skill says of itself."""
        return read_code(skill_files.bytes_of(card), skill_files.folder_name(card))

    def _has_box(self) -> bool:
        """Tell whether scripts can be run here at all."""
        if not self._boxed:  # what did not work once may work the next time
            try:
                self._boxed = all(
                    layer.active for layer in self.context.open_sandbox().layers() if layer.needed
                )
            except (MetierError, OSError, ImportError):
                return False
        return self._boxed

    def stands(self, path: str, standing: SkillPermission | None) -> bool:
        """Tell whether what was said of a skill is still what is known of it, and lets it be
        used.
        """
        return (
            standing is not None
            and self._standings.get(path) is standing
            and standing.until > time.monotonic()
        )

    def is_known(self, card: Card) -> bool:
        """Tell whether anything was said of a skill lately."""
        return card.path in self._standings

    def is_usable(self, card: Card) -> bool:
        """Tell whether a skill may appear at all."""
        return self.standing(card).refusal is None

    def admit(
        self, card: Card, digest: Digest | None, level: str, terms: object
    ) -> SkillPermission | None:
        """Take note that a skill was let in just now; nothing for one that nobody is shown, or
        where terms are others by now.
        """
        now = self.now()
        if digest is None or card.path not in now.visible or now.terms != terms:
            return None
        found = self._standings[card.path] = SkillPermission(
            digest, level, None, time.monotonic() + DECISION_SECONDS
        )
        return found

    def count(self, path: str, what: counter.What, tokens: int) -> None:
        """Count one use; what now and then is written to the disk for that, nobody waits for."""
        card = self._now.visible.get(path) if self._now else None
        if card is not None:
            counter.count_use(self.context, card, what, tokens)

    def _later(self, work: Callable[[], None]) -> None:
        try:
            self._aside.submit(work)
        except RuntimeError:  # the thread is gone already
            work()

    def settle(self) -> None:
        """Wait until all that was to be counted is, and do without the thread from now on."""
        self._ended = True
        self._background.shutdown(cancel_futures=True)
        self.context.in_background = _run_now
        self._aside.shutdown()

    def revision_of(
        self, snapshot: ServedSnapshot, copy: SkillCopy, card: Card, digest: str, level: str
    ) -> LoadedRevision:
        """Hold a skill's files, and give what a conversation goes on with that was given it."""
        self.copies.keep(copy)
        held = None if copy.fault else copy._replace(data={})
        closed = snapshot.closed.get(card.path, ())
        return LoadedRevision(card, digest, held, level, snapshot.terms, closed)

    # --- one skill as files

    def offer(self, path: str) -> ServedSkill | OfferRefusal:
        """Give a skill that is served as files, or say why it is not."""
        known = self._offers.get(path)
        card = self.now().visible.get(path)
        if known is not None and card is not None:
            standing = self.standing(card)
            if standing.refusal is None and (
                isinstance(known, OfferRefusal) or known.digest == standing.digest
            ):
                return known
        with self.alone:
            found = self._offered(self.now(), path)
            if (
                not isinstance(found, OfferRefusal) or found.code == NOT_SERVED
            ):  # any other may be otherwise a moment later
                self._offers[path] = found
            drop_oldest(self._offers, MAX_KEPT_SKILLS)
            return found

    def _offered(self, snapshot: ServedSnapshot, path: str) -> ServedSkill | OfferRefusal:
        card = snapshot.visible.get(path)
        root = snapshot.roots.get(path)
        if card is None or root is None:
            return OfferRefusal(NOT_SERVED, "it is not served", "")
        for _attempt in range(2):
            standing = self.standing(card)
            if standing.refusal is not None:
                return standing.refusal
            if path in snapshot.closed:
                return self._left_out(card, "it contains a skill that agents don't get")
            skill = standing.skill or self._decided(card).skill
            if skill is None:  # what was let in a moment ago would not be now
                self._standings.pop(path, None)
                continue
            copy = copy_skill(card)
            if copy.fault:
                return self._left_out(card, copy.fault)
            if copy.digest == standing.digest:
                return self._as_files(skill, root, copy)
            self._standings.pop(path, None)  # whoever writes to it just now gets a second look
        return _refusal(card, UNREADABLE, "changed while it was read", "ask again")

    def _as_files(
        self, skill: Usable[Card], root: str, copy: SkillCopy
    ) -> ServedSkill | OfferRefusal:
        """Give the copy of a skill that was let in, as the extension serves it."""
        card = skill.candidate
        if copy.digest is None or copy.digest != skill.decision.digest:
            return _refusal(card, UNREADABLE, "changed after it was approved", "ask again")
        frontmatter = frontmatter_json(copy.data.get(uris.MAIN_FILE, b""))
        if frontmatter is None:
            return self._left_out(
                card, "its frontmatter can't be shown as it is, or has no name or description"
            )
        if frontmatter["name"] != uris.name_of(card):
            return self._left_out(card, "its frontmatter has another name")
        sidecar = read_sidecar(copy.data.get(SIDECAR_FILE))
        beside = tools.told_beside(sidecar.interface, sidecar.tools, tools.sayable)
        return ServedSkill(
            card=card,
            root=root,
            digest=copy.digest,
            frontmatter=frontmatter,
            copy=copy._replace(data={}),
            beside={key: said for key, said in beside.items() if said},
        )

    def _left_out(self, card: Card, why: str) -> OfferRefusal:
        """Say once, where the server's own notes go, that a skill is not served as files; tools and
        prompts still serve it.
        """
        if card.path not in self._said and len(self._said) < MAX_KEPT_SKILLS:
            self._said.add(card.path)
            _LOG.warning("%s is not served as files: %s", one_line(card.path), why)
        return _refusal(
            card, NOT_SERVED, f"is not served as files: {why}", "load it with load_skill"
        )

    def bytes_of(self, copy: SkillCopy, path: str) -> bytes | None:
        """Give a file of a copy, held or read again; nothing when neither has these very bytes any
        more.
        """
        listed = next((one for one in copy.files if one.path == path), None)
        if listed is None or copy.digest is None:
            return None
        held = self.copies.get(copy.digest)
        if held is not None:
            return held.data.get(path)
        got = disk.read_whole(disk.real(listed.place), lambda _head: listed.size)
        same = not got.fault and got.sha256.hex() == listed.sha256 and got.size == listed.size
        return got.data if same else None


def _refusal(card: Card, code: str, what: str, hint: str = "") -> OfferRefusal:
    return OfferRefusal(code, f"'{one_line(card.name)}' {what}", hint)


def _run_now(work: Callable[[], None]) -> None:
    work()


def _skills_holding(blocked: Iterable[str], visible: dict[str, Card]) -> dict[str, Texts]:
    """Give the skills that hold blocked ones, each with where in it they lie, links followed."""
    withheld = tuple(blocked)
    if not withheld:
        return {}
    places: dict[str, list[str]] = {}
    for path in visible:
        places.setdefault(path, []).append(path)
        places.setdefault(disk.real(path), []).append(path)
    found: dict[str, Texts] = {}
    for inner in {*withheld, *map(disk.real, withheld)}:
        above = inner.rpartition("/")[0]
        while above:
            for holder in dict.fromkeys(places.get(above, ())):
                found[holder] = (*found.get(holder, ()), inner[len(above) + 1 :])
            above = above.rpartition("/")[0]
    return found


def _has_scripts(card: Card) -> bool:
    """Tell whether a skill has anything that could be run."""
    if card.kind != "skill-md":
        return card.kind == "code"
    return any(
        piece.executable
        or piece.path.startswith("scripts/")
        or interpreter_of(piece.path, _start_of(card, piece))
        for piece in disk.tree(card.path)
    )


def _start_of(card: Card, piece: disk.TreeItem) -> bytes:
    """Give the beginning of a file, where a script says what runs it."""
    return b"" if piece.link else disk.read_head(f"{card.path}/{piece.path}", _SHEBANG_BYTES).data

"""What is served: one snapshot of the catalogue at a time, and what was found out about the skills in it.

A snapshot is put in place whole. Whether a skill may be used is decided when it is first asked for, listed or found, never for a
whole library at once, and holds until the skill, a decision or the configuration changes: the watcher tells of the first, a look
at three stats of the second.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from metier import counting, skillfile
from metier.discover import disk
from metier.errors import MetierError
from metier.mcp import rules, uris
from metier.mcp.copies import Copies, Copy, copy_of
from metier.mcp.rules import Refusal
from metier.mcp.verbatim import frontmatter_of
from metier.model import Digest
from metier.preparing import interpreter_of
from metier.standard.code import read_code
from metier.standard.names import one_line
from metier.trust import disk as store
from metier.vetting.cases import case_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.app import Library
    from metier.mcp.rules import Door
    from metier.model import Card, Change
    from metier.pipeline import Catalogue
    from metier.settings import Settings
    from metier.standard.code import CodeFacts

EDITIONS = 64
"""How many orders are remembered, so that who is paging through one can go on after a change."""
KEPT = 20_000
DECIDED_BY = (store.STATE, store.KEYS, store.SIGNATURES)
"""What decisions are made from, beside the skills themselves and the configuration."""
AGED_SECONDS = 300
"""How long a decision holds at most: waivers run out."""
NOBODY_S = frozenset({"blocked", "quarantined"})
UNREADABLE, NOT_SERVED = "unreadable", "not-served"
_SHEBANG = 256
_LOG = logging.getLogger("metier.mcp")


class Snapshot(NamedTuple):
    """The catalogue at one moment, as far as one door shows it."""

    generation: int
    edition: int
    """The generation since which the order has been as it is."""
    found: Catalogue
    settings: Settings
    decisions: bytes | None
    visible: dict[str, Card]
    """By path, what is visible and not blocked at this door; whether it may be used is found out later."""
    names: dict[str, str]
    """Names that mean just one of these."""
    roots: dict[str, str]
    """By path, the place of a skill among the URIs."""
    places: dict[str, str]
    """The other way round."""
    order: tuple[str, ...]
    """The paths of those that have such a place, in the order of their URIs."""
    among: frozenset[str]
    closed: dict[str, tuple[str, ...]]
    """By path, the folders in it that are skills which nobody gets, or nobody at this door."""

    @property
    def terms(self) -> tuple[object, ...]:
        """What everything that was decided rests on, beside the skills."""
        return self.settings, self.decisions


class Standing(NamedTuple):
    """Whether a skill may be used, and which bytes that was said of."""

    digest: Digest | None
    level: str
    refusal: Refusal | None
    until: float


class Offer(NamedTuple):
    """A skill that is served as files."""

    card: Card
    root: str
    digest: Digest
    frontmatter: dict[str, Any]
    copy: Copy
    """Without bytes: those are held by digest, for as long as there is room."""


class Stock:
    """What one door serves of a library."""

    def __init__(self, library: Library, door: Door, *, scripts: bool = True) -> None:
        """Look at nothing yet. Without `scripts` the client has no use for skills that bring some."""
        self.library, self.door, self.scripts = library, door, scripts
        self.copies = Copies()
        self.alone = threading.RLock()
        """Held while something is found out, so that nothing is found out twice at once."""
        self.orders: dict[int, tuple[str, ...]] = {}
        """The orders that are remembered, the newest last; whoever pages has this very mapping, so it is never changed."""
        self._now: Snapshot | None = None
        self._standings: OrderedDict[str, Standing] = OrderedDict()
        self._offers: OrderedDict[str, Offer | Refusal] = OrderedDict()
        self._said: set[str] = set()
        self._boxed = False
        self._aside = ThreadPoolExecutor(1, "metier-aside")
        library.aside = self._later

    # --- the snapshot

    def now(self) -> Snapshot:
        """Give the snapshot, made anew when the catalogue, the configuration or a decision is not what it was."""
        return self.peek() or self.renew()

    def peek(self) -> Snapshot | None:
        """Give the snapshot if it is current, and wait for nobody."""
        known, library = self._now, self.library
        if known is None or known.found is not library.contents() or known.settings is not library.settings:
            return None
        return known if known.decisions == self._decisions() else None

    def renew(self, change: Change | None = None) -> Snapshot:
        """Put a new snapshot in place; what was found out about skills that are not as they were is forgotten."""
        with self.alone:
            old = self._now
            new = self._made((old.generation if old else 0) + 1)
            if change is None and old is not None and old.terms == new.terms and old.found.cards == new.found.cards:
                new = new._replace(generation=old.generation)  # it was looked at, and all is as it was
            if old is None or old.settings is not new.settings or old.decisions != new.decisions:
                self._standings.clear()
                self._offers.clear()
            elif old.found is not new.found:
                self._drop(path for path, card in old.visible.items() if new.visible.get(path) != card)
            if change is not None:
                self._drop((*change.added, *change.changed, *change.removed))
            if old is not None and old.roots != new.roots:
                self._offers.clear()
            if old is not None and old.order == new.order:
                new = new._replace(edition=old.edition, order=old.order)
            self.orders = dict([*(self.orders | {new.edition: new.order}).items()][-EDITIONS:])
            self._now = new
            return new

    def _made(self, generation: int) -> Snapshot:
        library = self.library
        settings, decisions, found = library.settings, self._decisions(), library.contents()
        keys = rules.keys_blocked(self.door, settings.mcp)
        visible = {card.path: card for card in found.cards if card.state == "visible" and not rules.is_blocked(card, keys)}
        roots = uris.roots_of(card for card in visible.values() if card.kind != "code")
        counts: dict[str, list[str]] = {}
        for path, card in visible.items():
            counts.setdefault(card.name, []).append(path)
        names = {name: paths[0] for name, paths in counts.items() if len(paths) == 1}
        places, order = {uris.place_at(root): path for path, root in roots.items()}, tuple(sorted(roots, key=roots.__getitem__))
        closed = _holding((card.path for card in found.cards if card.state in NOBODY_S or rules.is_blocked(card, keys)), visible)
        among = frozenset(visible)
        return Snapshot(generation, generation, found, settings, decisions, visible, names, roots, places, order, among, closed)

    def _decisions(self) -> bytes | None:
        if not self.library.data:
            return None
        return b"|".join(disk.key_of(f"{self.library.data}/{name}") or b"" for name in DECIDED_BY)

    def forget(self, path: str = "") -> None:
        """Let a skill be looked at again, or all of them."""
        with self.alone:
            self._drop((path,) if path else tuple(self._standings.keys() | self._offers.keys()))

    def _drop(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._standings.pop(path, None)
            self._offers.pop(path, None)

    # --- may it be used

    def standing(self, card: Card) -> Standing:
        """Say whether a skill may be used; nothing is noted down for it."""
        known = self._standings.get(card.path)
        if known is not None and known.until > time.monotonic():
            return known
        with self.alone:
            found = self._decided(card)
            self._standings[card.path] = found
            while len(self._standings) > KEPT:
                self._standings.popitem(last=False)
            return found

    def _decided(self, card: Card) -> Standing:
        until = time.monotonic() + AGED_SECONDS
        try:
            refusal = self.kept_in(card)
            if refusal is not None:
                return Standing(None, "", refusal, until)
            decision = case_of(self.library, card).decision
        except (MetierError, OSError, ValueError) as error:
            said = error.message if isinstance(error, MetierError) else str(error)
            return Standing(None, "", Refusal(UNREADABLE, f"'{one_line(card.name)}' cannot be read: {said}", "list again"), 0.0)
        if decision.load not in {"allow", "warn"} or decision.digest is None:
            why = Refusal("ask" if decision.load == "ask" else "blocked", f"'{one_line(card.name)}' may not be loaded", "")
            return Standing(None, decision.level, why, until)
        return Standing(Digest(decision.digest), decision.level, None, until)

    def kept_in(self, card: Card) -> Refusal | None:
        """Say what keeps a skill from this door besides trust: its own word, or scripts that cannot be run."""
        settings = self.library.settings.mcp
        if card.kind == "code":
            facts = self.facts_of(card)
            refusal = rules.hidden_code(card, facts.expose if facts else False, settings)
            if refusal is not None:
                return refusal
        if not self.scripts and _has_scripts(card):
            hint = "the user can show it: 'metier mcp' without --no-scripts in the client's file"
            return Refusal("no-scripts", f"'{one_line(card.name)}' has scripts, and this client is not to get such skills", hint)
        if not settings.scripts and not self._has_box() and _has_scripts(card):
            hint = "the user can show it: mcp.scripts in the configuration"
            return Refusal("no-sandbox", f"'{one_line(card.name)}' has scripts, and there is no sandbox to run them in", hint)
        return None

    def facts_of(self, card: Card) -> CodeFacts | None:
        """Read what a code skill says of itself."""
        return read_code(skillfile.bytes_of(card), skillfile.folder_name(card))

    def _has_box(self) -> bool:
        """Tell whether scripts can be run here at all."""
        if not self._boxed:  # what did not work once may work the next time
            try:
                self._boxed = all(layer.active for layer in self.library.box().layers() if layer.needed)
            except (MetierError, OSError, ImportError):
                return False
        return self._boxed

    def stands(self, path: str, standing: Standing | None) -> bool:
        """Tell whether what was said of a skill is still what is known of it, and lets it be used."""
        return standing is not None and self._standings.get(path) is standing and standing.until > time.monotonic()

    def is_known(self, card: Card) -> bool:
        """Tell whether anything was said of a skill lately."""
        return card.path in self._standings

    def is_usable(self, card: Card) -> bool:
        """Tell whether a skill may appear at all."""
        return self.standing(card).refusal is None

    def admit(self, card: Card, digest: Digest | None, level: str, terms: object) -> Standing | None:
        """Take note that a skill was let in just now; nothing for one that nobody is shown, or where terms are others by now."""
        now = self.now()
        if digest is None or card.path not in now.visible or now.terms != terms:
            return None
        found = self._standings[card.path] = Standing(digest, level, None, time.monotonic() + AGED_SECONDS)
        return found

    def count(self, path: str, what: counting.What, tokens: int) -> None:
        """Count one use; what now and then is written to the disk for that, nobody waits for."""
        card = self._now.visible.get(path) if self._now else None
        if card is not None:
            counting.note(self.library, card, what, tokens)

    def _later(self, work: Callable[[], None]) -> None:
        try:
            self._aside.submit(work)
        except RuntimeError:  # the thread is gone already
            work()

    def settle(self) -> None:
        """Wait until all that was to be counted is, and do without the thread from now on."""
        self.library.aside = _at_once
        self._aside.shutdown()

    # --- one skill as files

    def offer(self, path: str) -> Offer | Refusal:
        """Give a skill that is served as files, or say why it is not."""
        known, card = self._offers.get(path), self.now().visible.get(path)
        if known is not None and card is not None:
            standing = self.standing(card)
            if standing.refusal is None and (isinstance(known, Refusal) or known.digest == standing.digest):
                return known
        with self.alone:
            found = self._offered(self.now(), path)
            if not isinstance(found, Refusal) or found.code == NOT_SERVED:  # any other may be otherwise a moment later
                self._offers[path] = found
            while len(self._offers) > KEPT:
                self._offers.popitem(last=False)
            return found

    def _offered(self, snapshot: Snapshot, path: str) -> Offer | Refusal:
        card, root = snapshot.visible.get(path), snapshot.roots.get(path)
        if card is None or root is None:
            return Refusal(NOT_SERVED, "it is not served", "")
        for _attempt in range(2):
            standing = self.standing(card)
            if standing.refusal is not None:
                return standing.refusal
            if path in snapshot.closed:
                return self._left_out(card, "a skill that is not given to agents lies in it")
            copy = copy_of(card)
            if copy.fault:
                return self._left_out(card, copy.fault)
            if copy.digest == standing.digest:
                break
            self._standings.pop(path, None)  # whoever writes to it just now gets a second look
        else:
            return Refusal(UNREADABLE, f"'{one_line(card.name)}' changed while it was read", "ask again")
        frontmatter = frontmatter_of(copy.data[uris.MAIN]) if uris.MAIN in copy.data else None
        if frontmatter is None:
            return self._left_out(card, "its frontmatter cannot be told verbatim, or has no name or description")
        if frontmatter["name"] != uris.name_of(card):
            return self._left_out(card, "its frontmatter has another name")
        assert copy.digest is not None  # or it would not be that of a decision
        return Offer(card, root, copy.digest, frontmatter, copy._replace(data={}))

    def _left_out(self, card: Card, why: str) -> Refusal:
        """Say once, where the server's own notes go, that a skill is not served as files; tools and prompts still serve it."""
        if card.path not in self._said and len(self._said) < KEPT:
            self._said.add(card.path)
            _LOG.warning("%s is not served as files: %s", one_line(card.path), why)
        return Refusal(NOT_SERVED, f"'{one_line(card.name)}' is not served as files: {why}", "load it with load_skill")

    def bytes_of(self, copy: Copy, path: str) -> bytes | None:
        """Give a file of a copy, held or read again; nothing when neither has these very bytes any more."""
        listed = next((one for one in copy.files if one.path == path), None)
        if listed is None or copy.digest is None:
            return None
        held = self.copies.get(copy.digest)
        if held is not None:
            return held.data.get(path)
        got = disk.read_whole(disk.real(listed.place), lambda _head: listed.size)
        return got.data if not got.fault and got.sha256.hex() == listed.sha256 and got.size == listed.size else None


def _at_once(work: Callable[[], None]) -> None:
    work()


def _holding(blocked: Iterable[str], visible: dict[str, Card]) -> dict[str, tuple[str, ...]]:
    """Give the skills that hold blocked ones, each with where in it they lie."""
    found: dict[str, tuple[str, ...]] = {}
    for path in blocked:
        above = path.rpartition("/")[0]
        while above:
            if above in visible:
                found[above] = (*found.get(above, ()), path[len(above) + 1 :])
            above = above.rpartition("/")[0]
    return found


def _has_scripts(card: Card) -> bool:
    """Tell whether a skill has anything that could be run."""
    if card.kind == "code":
        return True
    if card.kind != "skill-md":
        return False
    for piece in disk.tree(card.path):
        if piece.executable or piece.path.startswith("scripts/") or interpreter_of(piece.path, _start_of(card, piece)):
            return True
    return False


def _start_of(card: Card, piece: disk.Piece) -> bytes:
    """Give the beginning of a file, where a script says what runs it."""
    return b"" if piece.link else disk.read_head(f"{card.path}/{piece.path}", _SHEBANG).data

"""Judges every skill that could reach a model before any of them does, and says what a listing may
show of the verdicts.

What was judged once costs a stat of each of its files and folders the next time. Only what is new
or has changed is read and scanned: on every core at once where there is much of it, batch by batch,
so that whoever stops it keeps what was judged so far.
"""

from __future__ import annotations

from metier.catalogue.judged import JudgedRoot, pack_rows
from metier.discover.io import disk
from metier.fast import TYPE_CHECKING, NamedTuple
from metier.model import KEY_BYTES, NO_KEY, Digest, Judged, Verdict
from metier.scan.known_rules import ruleset_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.context import Context
    from metier.model import Card, Entry, Key, Root, Said, State, Texts
    from metier.scan.cache import PlainVerdict, ScanTarget
    from metier.scan.service import LibraryScanner
    from metier.scan.waive import ScanTerms
    from metier.trust.decide import Decision
    from metier.trust.decision_records import DecisionIndex

REACHABLE_STATES = frozenset({"visible", "shadowed"})
"""What a model may be told of, or may name by its path."""
SMALL_LIBRARY = 500
"""Skills up to which every question of an open library looks at all files again."""
NS_PER_SKILL = 500_000
"""For how long the last look counts in a larger one, for each of its skills: it must not take more
time than the questions do."""
MAX_LOOK_NS = 5_000_000_000
DAY_NS = 86_400 * 1_000_000_000
BATCH_PER_CORE = 32
"""Skills that each core judges before what was learnt is kept."""
MAX_KNOWN_BATCH = 4_096
"""Skills whose verdicts are looked up before what was learnt is kept."""
NOTHING_LAID: Mapping[str, str] = {}
NOTHING_SEEN = disk.TreeLook([], [], {}, {})


def judge_listed(
    context: Context, states: Iterable[str] = (), *, menus: bool = False
) -> list[Card]:
    """Give all cards, after every skill that could reach a model was judged as it is now; those in
    further states too, where somebody asks for them, and with `menus` what people can call by a
    command.
    """
    stale = stale_listed(context, states, menus=menus)
    if stale is None:
        return context.catalogue.contents().cards
    now = context.ports.clock_ns()
    if stale:
        judge_in_batches(context, stale)
    found = context.catalogue.contents()
    context.judged.last_look = found, now, menus
    return found.cards


def judge_meant(
    context: Context, is_meant: Callable[[Card], bool], *, menus: bool = False
) -> list[Card]:
    """Give all cards, after those that somebody means were judged as they are now. The others may
    not have been: nobody is to be told of them.
    """
    meant = list(filter(is_meant, stale_listed(context, menus=menus) or ()))
    if meant:
        judge_in_batches(context, meant)
    return context.catalogue.contents().cards


def stale_listed(
    context: Context, states: Iterable[str] = (), *, menus: bool = False
) -> list[Card] | None:
    """Give what `judge_listed` would judge now, or None where the last look at a large library still
    counts.
    """
    looked_at = context.catalogue.is_looked_at()
    if looked_at:
        context.catalogue.retell()
    found = context.catalogue.contents()
    now = context.ports.clock_ns()
    window = min(len(found.cards) * NS_PER_SKILL, MAX_LOOK_NS)
    seen, seen_at, seen_menus = context.judged.last_look
    if (
        seen is found
        and not states
        and (seen_menus or not menus)
        and len(found.cards) > SMALL_LIBRARY
        and 0 <= now - seen_at < window
    ):
        return None
    return find_stale(context, found.cards, states, looked_at=looked_at, menus=menus)


def judge_in_batches(
    context: Context, stale: Sequence[Card], laid: Mapping[str, str] = NOTHING_LAID
) -> None:
    """Judge skills batch by batch, and let the catalogue know where that changes anything. `laid`
    has, by path, the digests of what was put there a moment ago.
    """
    from metier.discover.io.second_process import cores

    # What is looked up by its digest needs no core of its own.
    size = MAX_KNOWN_BATCH if laid else BATCH_PER_CORE * max(cores(), 1)
    news = False
    listed: dict[str, set[str]] = {}
    try:
        for start in range(0, len(stale), size):
            batch = stale[start : start + size]
            judged = judge_cards(
                context, batch, done=start, total=len(stale), laid=laid, listed=listed
            )
            news = judged or news
    finally:
        if news:
            context.catalogue.rejudge()


def judge_some(context: Context, limit: int) -> int:
    """Judge some of what was not judged yet, and give how many are left; what cannot be judged is
    left for whoever needs it.
    """
    new = unjudged(context.catalogue.contents().cards)
    if new:
        judge_in_batches(context, new[:limit])
    return max(0, len(new) - limit)


def take_note(context: Context) -> None:
    """Let lists show what was judged for other purposes: a scan, a look at one skill, an
    installation. The verdicts are known by now, so hardly anything is scanned. Never raises: a list
    can do without.
    """
    from contextlib import suppress

    from metier.errors import MetierError

    learnt, context.judged.learnt = context.judged.learnt, {}
    names = {name for name, _level, _digest in learnt.values()}
    places: dict[str, tuple[str, str, str]] = {}
    with suppress(MetierError, OSError, ValueError):
        laid = {path: digest for path, (_name, _level, digest) in learnt.items() if digest}
        listed = [
            card
            for card in _cards_as_laid(context, laid)
            if card.path in learnt or card.name.rpartition(":")[2] in names
        ]
        if any(card.path not in learnt for card in listed):  # links may lead to where it was judged
            places = {disk.real(path): told for path, told in learnt.items()}
        found = [
            (card, learnt.get(card.path) or places.get(disk.real(card.path))) for card in listed
        ]
        new = [(card, told[2]) for card, told in found if told and card.verdict != told[1]]
        laid = {card.path: digest for card, digest in new if digest}
        for some in (
            [card for card, digest in new if digest],
            [c for c, digest in new if not digest],
        ):
            if some:
                judge_in_batches(context, some, laid if some[0].path in laid else NOTHING_LAID)


def _cards_as_laid(context: Context, laid: Mapping[str, str]) -> Sequence[Card]:
    """Give all cards, for this question alone, and take what was laid a moment ago for what was laid: it
    is not read once more for this. Nobody else gets to see these cards.
    """
    if not laid:
        return context.catalogue.contents().cards
    from copy import copy

    from metier import pipeline

    machine = copy(context.machine)
    machine.laid = laid
    ports = context.ports._replace(machine=machine, later=lambda _task: None)
    seen = context.catalogue.glance()
    return pipeline.catalogue(seen, context.catalogue.policy, ports).cards


# --- what has to be judged


def unjudged(cards: Iterable[Card]) -> list[Card]:
    """Give the skills that could reach a model and of which nobody knows a verdict."""
    return [card for card in cards if card.state in REACHABLE_STATES and not card.verdict]


def find_stale(
    context: Context,
    cards: Iterable[Card],
    states: Iterable[str] = (),
    *,
    looked_at: bool = True,
    menus: bool = False,
) -> list[Card]:
    """Give the skills that could reach a model, or stand in a menu of commands, and whose bytes are
    not known to be judged.

    What a listing looks at is looked at again, unless it was looked at just now, for this question.
    """
    by_root: dict[str, list[Card]] = {}
    wanted = REACHABLE_STATES.union(states)
    for card in cards:
        # What is held back for its bytes may be different bytes by now.
        if card.state in wanted or card.verdict or (menus and _is_for_people(card)):
            by_root.setdefault(card.root, []).append(card)
    terms = _terms(context) if by_root else ""
    found: list[Card] = []
    for root, group in by_root.items():
        below = _terms_below(context, root, terms)
        changed = _changed_paths(context.judged.of(root), root, below, looked_at=looked_at)
        found += [
            card for card in group if not card.verdict or changed is None or card.path in changed
        ]
    return found


def _is_for_people(card: Card) -> bool:
    """Tell whether a skill that no model is told of may still have a command."""
    return card.state == "ask" or (card.state == "hidden" and card.held == "model")


def _changed_paths(known: JudgedRoot, root: str, terms: str, *, looked_at: bool) -> set[str] | None:
    """Give the paths of skills in which something has changed since they were judged; nothing when
    all have to be judged anew.
    """
    if known.terms != terms:
        return None
    changed = set()
    if looked_at:
        for path, row in known.rows().items():
            folder_key = disk.key_of(path) if row.folder_key else b""
            if disk.key_of(row.file) != row.key or folder_key != row.folder_key:
                changed.add(path)
    if not known.paths or disk.keys_below(root, known.paths, follow=False) == known.keys:
        return changed  # as nearly always
    start = 0
    for path, row in known.rows().items():
        end = start + row.watched
        keys = disk.keys_below(root, known.paths[start:end], follow=False)
        if keys != known.keys[start * KEY_BYTES : end * KEY_BYTES]:
            changed.add(path)
        start = end
    return changed


def _terms(context: Context) -> str:
    """Name all that verdicts and origins rest on, beside the files: rules, waivers, baseline, keys."""
    from metier import pipeline

    parts: list[object] = [ruleset_of(context)]
    analyzers = context.scan_analyzers()
    if analyzers:
        from metier.scan.custom_rules import digest_of

        parts += [digest_of(one) or (id(one), context.session.name) for one in analyzers]
    if context.trust_sources() or context.policy is not None:
        from metier.scan.waive import baseline_file

        policy = context.trust_policy
        baseline = baseline_file(context, policy)
        parts += [policy.waivers, baseline, disk.key_of(baseline) if baseline else None]
        if policy.waivers:
            parts.append(context.ports.clock_ns() // DAY_NS)
    if context.data:
        parts += [disk.key_of(f"{context.data}/{name}") for name in ("keys", "signatures")]
    return pipeline.name_of(*parts)


def _terms_below(context: Context, location: str, terms: str) -> str:
    """Name what verdicts below one root rest on: also the locks of metier that may have its skills."""
    from metier import pipeline

    seen = (one.root for one in context.catalogue.glance().seen)
    project = next((root.project for root in seen if root.location == location), "")
    stamps = [disk.keys_of_links([lock]) for lock in context.own_locks(project)]
    return pipeline.name_of(terms, *stamps) if any(stamps) else terms


# --- judging


class LookedAt(NamedTuple):
    """A skill with the files and folders that its verdict will depend on, and the stats they had
    before anything was read.
    """

    card: Card
    target: ScanTarget
    grown: disk.TreeLook
    file: str
    """The skill's own file, as its walk names it."""
    file_key: Key
    folder_key: Key
    paths: list[bytes]
    """Everything else."""
    keys: bytes


def judge_cards(
    context: Context,
    cards: Sequence[Card],
    *,
    done: int = 0,
    total: int = 0,
    laid: Mapping[str, str] = NOTHING_LAID,
    listed: dict[str, set[str]] | None = None,
) -> bool:
    """Judge skills as they are now, and remember it; tell whether that was any news. What cannot be
    read stays unjudged, and reaches no model. `listed` keeps what lies below each root, from one
    batch to the next.

    Of what was just `laid` somewhere the verdict on its digest is shown, and it is read before a
    model gets it.
    """
    from metier.errors import MetierError
    from metier.scan import service
    from metier.scan.waive import read_terms
    from metier.trust.decision_records import DecisionIndex
    from metier.trust.io import decisions_file

    terms_name = _terms(context)
    judge = service.LibraryScanner(context)
    terms = read_terms(context, judge.ruleset, None, None)
    index = DecisionIndex(decisions_file.read_decisions(context.data).rows)
    rows: dict[str, list[tuple[LookedAt, Judged | None]]] = {}
    ready: dict[str, PlainVerdict] = {}
    news = False

    def tell(count: int) -> None:
        context.progress("skills judged", done + count, total)

    def decide(one: LookedAt) -> None:
        try:
            known = ready.get(one.card.path)
            judged = _judge_one(context, judge, terms, index, one, known)
        except (MetierError, OSError, ValueError):  # gone, or not to be read
            judged = None
        rows.setdefault(one.card.root, []).append((one, judged))

    try:
        looked = [_look_once(judge, card, laid, ready) for card in cards]
        apart = [(one.target, one.grown) for one in looked if one.card.path not in ready]
        try:
            service.scan_apart(judge, apart, tell, ready)
        finally:  # also when somebody stops it: what was judged by then is kept
            for one in looked:
                if one.card.path in ready:
                    decide(one)
        rest = [one for one in looked if one.card.path not in ready]
        for number, one in enumerate(rest, len(ready) + 1):
            decide(one)
            tell(number)
    finally:
        judge.close()
        for root, found in rows.items():
            with context.lock:
                below = _terms_below(context, root, terms_name)
                there = _listed_below(context, root, {} if listed is None else listed)
                news = _remember(context, root, below, found, judge.started, laid, there) or news
    return news


def _look_once(
    judge: LibraryScanner, card: Card, laid: Mapping[str, str], ready: dict[str, PlainVerdict]
) -> LookedAt:
    """Look at a skill; the verdict on what was just laid there is `ready` then, where one is kept."""
    from metier.scan.service import target_of

    target = target_of(card.path, card.name)
    known = judge.scanner.known(laid[card.path], target) if card.path in laid else None
    if known is None:
        return _look(card, target)
    ready[card.path] = known
    return _glance(card, target)


def _glance(card: Card, target: ScanTarget) -> LookedAt:
    """Look at no more of what was just laid than where its own file is: nobody takes its verdict for
    more than something to show.
    """
    file = f"{card.path}/SKILL.md"
    file_key = disk.key_of(file)
    if card.kind != "skill-md" or file_key is None:
        return _look(card, target)
    return LookedAt(
        card,
        target,
        NOTHING_SEEN,
        file=file,
        file_key=file_key,
        folder_key=disk.key_of(card.path) or NO_KEY,
        paths=[],
        keys=b"",
    )


def _look(card: Card, target: ScanTarget) -> LookedAt:
    grown = disk.look_at_tree(target.folder, target.only)
    if target.only:
        from metier.trust.assess import MANIFEST_FILE

        # A manifest may come to lie beside code, or change.
        folder = card.path.rpartition("/")[0]
        beside = [f"{folder}/.", f"{folder}/{MANIFEST_FILE}"] if card.kind == "code" else []
        there = [one.encode("utf-8", "surrogateescape") for one in beside if disk.is_there(one)]
        keys = disk.keys_below("/", there)
        return LookedAt(
            card,
            target,
            grown,
            file=card.path,
            file_key=disk.key_of(card.path) or NO_KEY,
            folder_key=b"",
            paths=there,
            keys=keys if keys is not None else NO_KEY * len(there),
        )
    own = [piece.path for piece in grown.pieces if piece.path.lower() == "skill.md"]
    name = "SKILL.md" if "SKILL.md" in own or not own else own[0]
    prefix = f"{target.folder}/".removeprefix(f"{card.root}/")  # short paths are quicker to stat
    names = [f"{prefix}{piece.path}" for piece in grown.pieces if piece.path != name]
    # A folder is looked at as itself, even where the path to it is a link.
    names += [f"{prefix}{folder}." for folder in grown.folders if folder]
    paths = [one.encode("utf-8", "surrogateescape") for one in names]
    keys = disk.keys_below(card.root, paths, follow=False)
    return LookedAt(
        card,
        target,
        grown,
        file=f"{card.path}/{name}",
        file_key=disk.key_of(f"{card.path}/{name}") or NO_KEY,
        folder_key=disk.key_of(card.path) or NO_KEY,
        paths=paths,
        keys=keys if keys is not None else NO_KEY * len(paths),
    )


def _judge_one(
    context: Context,
    judge: LibraryScanner,
    terms: ScanTerms,
    index: DecisionIndex,
    one: LookedAt,
    ready: PlainVerdict | None,
) -> Judged | None:
    """Judge one skill: its verdict on the terms of configuration, and where its bytes came from.
    Nothing when its own file is not there any more.
    """
    from metier.scan.report import say_verdict
    from metier.trust.assess import edits_of, origin_facts

    if one.file_key == NO_KEY:
        return None
    plain = ready or judge.scanner.scan_tree(one.target, one.grown)
    scanned = terms.apply(plain, judge.rescan)
    facts = origin_facts(context, one.card, scanned.digest)
    edited_from, changed = edits_of(context, one.card, index, scanned)
    return Judged(
        file=one.file,
        key=one.file_key,
        folder_key=one.folder_key,
        digest=scanned.digest,
        level=scanned.plain,
        score=scanned.score,
        told=say_verdict(scanned.plain, scanned.findings) if scanned.plain != "safe" else "",
        origin=facts.origin,
        signed=tuple(facts.signature or ()),
        pinned=facts.pinned,
        edited_from=edited_from,
        changed=changed,
        watched=len(one.paths),
    )


def _listed_below(context: Context, root: str, known: dict[str, set[str]]) -> set[str]:
    """Give the paths of all skills below a root; what is `known` is not read once more."""
    if root not in known:
        seen = context.catalogue.glance().seen
        known[root] = {
            entry.path
            for one in seen
            if one.root.location == root
            for entry in one.survey().entries
        }
    return known[root]


def _remember(
    context: Context,
    root: str,
    terms: str,
    found: Sequence[tuple[LookedAt, Judged | None]],
    started: int,
    laid: Mapping[str, str],
    listed: set[str],
) -> bool:
    """Put new verdicts beside those that are known of a root and still listed; tell whether any of
    them says something new. Of what was just laid there nobody is sure: the next who needs it reads
    it.
    """
    known = context.judged.of(root)
    before = known.rows()
    new = {one.card.path: (one, judged) for one, judged in found}
    rows: dict[str, Judged] = {}
    paths: list[bytes] = []
    keys: list[bytes] = []
    start = 0
    for path, row in before.items():
        end = start + row.watched
        if known.terms == terms and path in listed and path not in new:
            rows[path] = row
            paths += known.paths[start:end]
            keys.append(known.keys[start * KEY_BYTES : end * KEY_BYTES])
        start = end
    for path, (one, judged) in new.items():
        if judged is None:
            continue
        whole = one.file_key + one.folder_key + one.keys
        sure = path not in laid and judged.digest is not None and disk.is_settled(whole, started)
        rows[path] = judged if sure else judged._replace(watched=len(one.paths) + 1)
        paths += one.paths if sure else [*one.paths, b"."]
        keys.append(one.keys if sure else NO_KEY * (len(one.paths) + 1))
    news = any(
        bool(one.card.verdict) != (judged is not None)
        or _without_keys(before.get(path)) != _without_keys(judged)
        for path, (one, judged) in new.items()
    )
    token = context.ports.token() if news or not known.token else known.token
    found_now = JudgedRoot(token, terms, paths, b"".join(keys), pack_rows(rows))
    context.judged.put(root, found_now)
    context.judged.judged_now.update(new)
    return news


def _without_keys(row: Judged | None) -> Judged | None:
    return row and row._replace(key=NO_KEY, folder_key=NO_KEY, watched=0)


# --- what a listing shows


def weigh_listed(context: Context, said: Said) -> Said:
    """Let the policy have its say about what was judged, in a listing: the same decision as where a
    skill is loaded, of what is known without a scan.
    """
    from metier.trust.assess import OriginFacts, SkillAt, decide_at
    from metier.trust.decision_records import LAST_DAY, DecisionIndex, Decisions
    from metier.trust.sign import Signed

    state = said.decided or Decisions()
    index = DecisionIndex(state.rows)

    def state_of(
        root: Root, entry: Entry, digest: Digest | None, judged: Judged | None
    ) -> tuple[State, Texts]:
        if judged is not None and judged.digest == digest:
            verdict = Verdict(digest, "", judged.level, judged.score, ())
            signature = Signed._make(judged.signed) if judged.signed else None
            facts = OriginFacts(
                judged.origin,
                signature,
                judged.pinned,
                judged.edited_from,
                judged.changed,
            )
        else:  # whether an edit can do more is found out before a model gets it
            verdict = None
            installed = index.installed_at(entry.name, entry.path, entry.real or entry.path)
            facts = OriginFacts(edited_from=installed)
        skill = SkillAt(root, root.scope, entry.name, entry.path, digest)
        approvals = index.about(entry.name, entry.path, digest, entry.real)
        decision = decide_at(context, skill, facts, verdict, state, approvals, LAST_DAY)
        return decision.state, _shown_reasons(decision, judged if verdict else None)

    # Who owns a skill depends on locks, which no listing watches; it matters to a policy of one's own.
    fleeting = bool(state.projects and (context.trust_sources() or context.policy))
    return said._replace(state_of=state_of, asks_safe=_asks_safe(context), fleeting=fleeting)


def _shown_reasons(decision: Decision, judged: Judged | None) -> Texts:
    """Leave out what only matters when a skill is loaded."""
    told = [
        reason
        for reason in decision.reasons
        if not reason.startswith(("level ", "not scanned", "the scan says"))
        and not reason.endswith((": block", ": ask", ": warn"))
    ]
    return (judged.told, *told) if judged is not None and judged.told else tuple(told)


def _asks_safe(context: Context) -> bool:
    """Tell whether the policy may hold back even what is safe, so that each skill has to be decided
    about.
    """
    if not context.trust_sources() and context.policy is None:
        return False
    from metier.trust.model import LEVELS

    policy = context.trust_policy
    if policy.damage or policy.source_rules:
        return True
    usual = [level for level in LEVELS if level not in {"quarantined", "blocked"}]
    return policy.local_default not in usual or any(
        policy.action(level, "safe", "load") in {"ask", "block"} for level in usual
    )

"""Observes skills: from a path, a name or a source to what they did, kept under their digest.

One function shows the job: `observe_tree` plans, sets the stage, has it watched and judges.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.discover import skill_files
from metier.discover.io import disk
from metier.errors import NotFoundError, RefusedError, SandboxError, UsageError
from metier.model import Finding
from metier.run.interpreters import KNOWN_INTERPRETERS
from metier.run.io import copies, find_interpreter
from metier.run.io.decoy_table import load_callers, load_decoys
from metier.run.model import REFUSED, never
from metier.run.observe.judge import judge
from metier.run.observe.kept import kept_observation, observe_ruleset
from metier.run.observe.later import later_tries
from metier.run.observe.model import SkillObservation, WatchLimits
from metier.run.observe.plan import ReadSkill, asked_variables, plan_tries
from metier.run.observe.stage import build_stage, program_names
from metier.run.observe.suggest import suggest_run
from metier.run.observe.three_views import compare_views
from metier.run.plan import name_scripts, scripts_of
from metier.run.run_script import choose_script, elapsed
from metier.scan import engine
from metier.scan.io import observed_files
from metier.scan.model import ScanEntry, ScanTree
from metier.scan.service import LibraryScanner, scan_tree, target_of
from metier.scan.waive import in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.context import Context
    from metier.model import Digest, JsonObject, Level
    from metier.ports import SkillObserver
    from metier.run.observe.model import Seen, Stage, Try
    from metier.run.observe.suggest import RunSuggestion

MAX_SECONDS = 600
MAX_READ_BYTES = 1024 * 1024
"""How much of a file is read to plan."""
MAX_KEPT_EVENTS = 200
"""Events that are kept with an observation; the findings are kept whole."""
LEVELS = ("safe", "caution", "dangerous")
SKILL_ENDINGS = (".md", ".py")
"""How a file is called that is a skill by itself."""


class ObserveOptions(NamedTuple):
    """How an observation is wanted."""

    script: str = ""
    """Just this script."""
    seconds: int = WatchLimits().seconds
    skills: tuple[str, ...] = ()
    """Of a source, just these."""


DEFAULT_OPTIONS = ObserveOptions()


class ToObserve(NamedTuple):
    """One skill to observe: where it lies, and what it is called."""

    path: str
    name: str


def observe(
    context: Context, targets: Sequence[str], options: ObserveOptions = DEFAULT_OPTIONS
) -> list[SkillObservation]:
    """Observe every skill that the targets mean: paths, names of skills, or sources, which are
    fetched into quarantine first and gone afterwards.
    """
    if not 1 <= options.seconds <= MAX_SECONDS:
        raise UsageError(
            f"invalid time {options.seconds}: expected 1 to {MAX_SECONDS} seconds",
            hint="try --time 20",
        )
    observer = open_observer(context)
    found: list[SkillObservation] = []
    here: list[ToObserve] = []
    for target in targets:
        known = list(_find(context, target))
        if known:
            here += known
        else:
            found += _observe_source(context, observer, target, options)
    for number, one in enumerate(here, 1):
        context.progress("observed", number - 1, len(here))
        found.append(observe_tree(context, observer, one, options))
        context.progress("observed", number, len(here))
    return found


def open_observer(context: Context) -> SkillObserver:
    """Give what watches, or refuse with what is missing: then nothing is run."""
    observer = context.open_observer()
    missing = observer.missing()
    if missing:
        error = SandboxError(
            f"skills can't be observed here: {missing}",
            code="no-observer",
            hint="metier doctor shows what the sandbox needs; the scan's verdict stands as it is",
        )
        error.exit_code = REFUSED  # as 'metier run' says it, whoever asked to observe
        raise error
    return observer


def observe_one(context: Context, folder: str, name: str) -> SkillObservation:
    """Observe the skill in a folder: in quarantine, for an installation."""
    return observe_tree(context, open_observer(context), ToObserve(folder, name))


def _data_folder(context: Context) -> str:
    """Give where copies of skills lie while they are observed, so that nobody changes them."""
    if not context.data:
        raise RefusedError(
            "there is no place to copy the skill to first",
            hint="set METIER_HOME or HOME",
            code="no-home",
        )
    return context.data


def observe_tree(
    context: Context,
    observer: SkillObserver,
    one: ToObserve,
    options: ObserveOptions = DEFAULT_OPTIONS,
) -> SkillObservation:
    """Observe one skill, note it down, and keep what was found under its digest."""
    began = context.ports.clock_ns()
    skill, digest = _read(one)
    limits = WatchLimits(seconds=options.seconds)
    rows = load_decoys()
    has = find_interpreter.system_programs(("python3", *KNOWN_INTERPRETERS, *program_names(rows)))
    asked = asked_variables(skill.files)
    stage = build_stage(digest, _folder_name(skill.name), rows, asked, has)
    plan = plan_tries(
        skill,
        stage,
        limits,
        only=options.script,
        has=has,
        callers=load_callers(),
        now=began / 1e9,
    )
    if options.script and not plan.tries:
        raise NotFoundError(
            f"'{skill.name}' has no script '{options.script}' that can be run",
            hint=f"see its files: metier show {skill.name}",
        )
    data = _data_folder(context)
    copy = copies.ensure(data, context.home, one.path, digest, context.ports.token().hex())
    watched = observer.observe(stage, copy, _with_later(plan.tries, stage), limits, _no_news, never)
    verdict = judge(skill, stage, watched, _level_of)
    scanned = scan_tree(context, one.path, one.name, tells=False)
    views = compare_views(skill, scanned.findings, verdict.events)
    done = SkillObservation(
        path=one.path,
        name=skill.name,
        digest=digest,
        level=verdict.level,
        findings=verdict.findings,
        # Of many skills, only what was made of their bytes is held, not the bytes.
        events=tuple(event._replace(data=b"") for event in verdict.events),
        tried=watched.tried,
        not_tried=(*plan.left_out, *watched.not_tried),
        seconds=elapsed(context, began),
        **views._asdict(),
    )
    if not options.script:  # a look at one script says nothing of the others
        noted = {"at": _told_time(began), "ruleset": observe_ruleset(), **_document(done)}
        kept = _with_earlier(noted, kept_observation(context, digest))
        observed_files.keep_observation(data, context.home, digest, kept)
        context.learn(one.path, skill.name, _together(context, one))
    log.record(
        context,
        "observe",
        done.level,
        name=skill.name,
        digest=digest,
        path=one.path,
        rules=sorted({one.rule for one in done.findings}),
        seconds=done.seconds,
    )
    return done


def _with_later(tries: Sequence[Try], stage: Stage) -> list[Try]:
    """Add what happens later, before functions are called one by one: what these leave behind is not
    what the skill would.
    """
    calls = [one for one in tries if one.kind == "functions"]
    usual = [one for one in tries if one not in calls]
    return [*usual, *(later_tries(stage) if usual else ()), *calls]


def suggest(context: Context, name: str, script: str) -> RunSuggestion:
    """Say what a script needed when its skill was observed, as it is now."""
    card = context.catalogue.resolve(name)
    base, pieces = skill_files.pieces_of(card.path)
    kept = kept_observation(context, skill_files.digest(base, pieces))
    if kept is None or "events" not in kept:
        raise NotFoundError(
            f"'{card.name}' was not observed as it is now",
            hint=f"first: metier observe {card.name}",
        )
    chosen = choose_script(context, card, script).removeprefix("./")
    scripts = scripts_of(context, card)
    if card.kind == "skill-md" and chosen not in {*scripts, *(piece.path for piece in pieces)}:
        raise NotFoundError(
            f"'{card.name}' has no script '{chosen}'", hint=f"its scripts: {name_scripts(scripts)}"
        )
    return suggest_run(chosen, kept["level"], kept["events"])


def event_fields(one: Seen) -> JsonObject:
    """Give an event as JSON has it: never the bytes themselves."""
    return {
        "kind": one.kind,
        "what": one.what,
        "where": one.where,
        "canary": ", ".join(one.canaries) or None,
        "size": one.size,
    }


def _document(done: SkillObservation) -> JsonObject:
    return {
        "name": done.name,
        "level": done.level,
        "findings": [finding._asdict() for finding in done.findings],
        "events": [event_fields(one) for one in done.events[:MAX_KEPT_EVENTS]],
        "tried": list(done.tried),
        "not_tried": [one._asdict() for one in done.not_tried],
        "declared": list(done.declared),
        "seen": list(done.seen),
        "done": list(done.done),
    }


def _with_earlier(now: JsonObject, earlier: JsonObject | None) -> JsonObject:
    """Add what an earlier observation of the same bytes found, where it tried what this one did not
    come to: less time must not make a skill look safer.
    """
    if earlier is None or not set(earlier.get("tried", ())) - set(now["tried"]):
        return now
    known = {one["fingerprint"] for one in now["findings"]}
    more = [one for one in earlier["findings"] if one.fingerprint not in known]
    found = in_order([*(Finding(**one) for one in now["findings"]), *more])
    level = max(now["level"], earlier["level"], key=LEVELS.index)
    tried = [*now["tried"], *(one for one in earlier["tried"] if one not in now["tried"])]
    return {**now, "level": level, "findings": [one._asdict() for one in found], "tried": tried}


def _told_time(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat(timespec="seconds")


def _no_news(_done: int, _total: int) -> None:
    """Say nothing of single tries: skills are counted."""


def _level_of(path: str, data: bytes) -> Level:
    """Scan a text that was written for agents, as if it were a skill's own."""
    name = "SKILL.md" if path.endswith(".md") else path.rpartition("/")[2].lstrip(".") or "text"
    tree = ScanTree("written", (ScanEntry(name, data, len(data)),))
    return engine.scan(tree).level


def _together(context: Context, one: ToObserve) -> str:
    """Give the level of the text and the deeds together, for lists."""
    return scan_tree(context, one.path, one.name, tells=False).plain


def _folder_name(name: str) -> str:
    """Give a folder's name that any shell takes as it is."""
    plain = "".join(
        char if char.isascii() and (char.isalnum() or char in "-_.") else "-" for char in name
    )
    return plain.strip(".-")[:64] or "skill"


def _read(one: ToObserve) -> tuple[ReadSkill, Digest]:
    """Read a skill to plan, and its digest: what runs is a copy with that digest."""
    base, pieces = skill_files.pieces_of(one.path)
    digest = skill_files.digest(base, pieces)
    if digest is None:
        raise RefusedError(
            f"{one.path} can't be read whole, so it was not run",
            code="unread",
            hint=f"see: metier scan {one.path}",
        )
    files = {
        piece.path: disk.read_head(f"{base}/{piece.path}", MAX_READ_BYTES).data
        for piece in pieces
        if not piece.link
    }
    main = next((path for path in files if path.lower() == "skill.md"), "")
    if not main:
        single = len(files) == 1
        main = (
            next(iter(files), "") if single else next((p for p in files if p.endswith(".md")), "")
        )
    kind = "code" if main.endswith(".py") else "skill-md"
    return ReadSkill(one.name, kind, main, files), digest


def _find(context: Context, target: str) -> Iterator[ToObserve]:
    """Give the skills below a path, or the one that a name means."""
    place = disk.absolute(target, context.cwd, context.home)
    kind = disk.kind_of(place)
    if kind == disk.FOLDER:
        scanner = LibraryScanner(context)
        try:
            found, _problems, _watched = scanner.find_targets(place, len(place) + 1)
        finally:
            scanner.close()
        known = [ToObserve(one.path, one.name) for one in found]
        yield from known or [ToObserve(place, place.rpartition("/")[2])]
    elif kind is not None and place.lower().endswith(SKILL_ENDINGS):
        if place.rpartition("/")[2].lower() == "skill.md":
            place = place.rpartition("/")[0]
        one = target_of(place)
        yield ToObserve(one.path, one.name)
    elif kind is None:  # any other file is an archive, if it is anything: a source
        try:
            card = context.catalogue.resolve(target)
        except NotFoundError:
            if not _looks_like_source(target):
                raise
            return
        yield ToObserve(card.path, card.name)


def _looks_like_source(target: str) -> bool:
    return "/" in target or ":" in target


def _observe_source(
    context: Context, observer: SkillObserver, source: str, options: ObserveOptions
) -> Iterator[SkillObservation]:
    """Fetch a source into quarantine, and observe its skills there."""
    from metier.supply import fetch
    from metier.supply.model import Refusal
    from metier.supply.sources import pick

    request = fetch.typed_request(context, source)
    with fetch.open_quarantine(context) as desk, fetch.SourcePool(context) as pool:
        opened = pool.open(request)
        chosen = pick.choose(opened.pickings, options.skills, not options.skills, request.path)
        for number, picked in enumerate(chosen, 1):
            laid = fetch.lay_out(context, desk, opened, picked)
            if isinstance(laid, Refusal):
                context.warn(f"{laid.name}: {'; '.join(laid.reasons)}")
                continue
            found = observe_tree(context, observer, ToObserve(laid.folder, picked.name), options)
            context.progress("observed", number, len(chosen))
            yield found._replace(path=f"{source} ({picked.path})")

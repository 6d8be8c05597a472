"""Triggers of the skills on this machine: which of them a task has, who takes it, and which
observations call for a skill.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from metier.audit import log
from metier.discover import skill_files
from metier.discover.io import disk
from metier.find import triggers
from metier.find.model import warn_once
from metier.standard.code import MAX_BYTES, read_code
from metier.standard.names import lookup_key
from metier.trust.judge import judge_listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

    from metier.context import Context
    from metier.find.observation import (
        Observation,
        Observed,
        Switches,
        TriggerMemory,
        UnreadableTrigger,
        Watched,
    )
    from metier.find.triggers import Dispatched, Match, SkillTriggers
    from metier.model import Card
    from metier.standard.code import CodeFacts

CODEC_MUTES_FILE = ".codec/triggers.json"
"""Where CODEC keeps `muted_skills` and `muted_until`, below home."""
SWITCH_VARIABLE = "TRIGGERS_ENABLED"
"""The variable that turns all observation triggers off, whatever configuration says; it cannot turn
them on."""
_OFF = frozenset({"0", "false", "no", "off"})


def matches(context: Context, task: str) -> list[Match]:
    """Give the skills of which a trigger phrase stands in a task: longest phrase first, then by
    score, name and path.
    """
    from metier.find import service

    found = triggers.matches(service.trigger_table(context), task)
    if found:
        cards = cards_to_suggest(context, {one.name for one in found})
        may_be = {card.path for card in cards}
        found = [one for one in found if one.path in may_be]
    lengths = Counter(triggers.length(one.phrase) for one in found)
    tied = [one.path for one in found if lengths[triggers.length(one.phrase)] > 1]
    scores = service.scores_of(context, task, tied) if tied else {}
    scored = [one._replace(score=scores.get(one.path, one.score)) for one in found]
    return sorted(
        scored, key=lambda one: (-triggers.length(one.phrase), -one.score, one.name, one.path)
    )


def cards_to_suggest(context: Context, names: Collection[str] | None = None) -> list[Card]:
    """Give the skills that may be suggested: what is visible and was judged, and of each name the
    copy that the name means.
    """
    found: dict[tuple[str, str], Card] = {}
    for card in judge_listed(context):
        if card.state == "visible" and card.verdict and (names is None or card.name in names):
            found.setdefault((card.plugin, card.name), card)
    return list(found.values())


def declared_triggers(context: Context) -> list[SkillTriggers]:
    """Give what calls for each skill that may be suggested, of those that anything calls for."""
    from metier.find.refresh import update_index

    cards = cards_to_suggest(context)
    declared = update_index(context, vectors=False).engine.triggers()
    custom = triggers.custom_phrases(context)
    counting = {one.path: one for one in triggers.with_custom_phrases(cards, declared, custom)}
    own = {lookup_key(name) for name, phrases in custom.items() if phrases}
    found: list[SkillTriggers] = []
    for card in cards:
        phrases = counting[card.path].phrases if card.path in counting else ()
        facts, seen = _code_triggers(context, card) if card.kind == "code" else (None, None)
        if not (phrases or (facts and (facts.observation or facts.needs_observation))):
            continue
        found.append(
            triggers.SkillTriggers(
                name=card.name,
                path=card.path,
                phrases=phrases,
                declared=declared.get(card.path, ()),
                custom=lookup_key(card.name) in own,
                observation=facts.observation if facts else None,
                key=seen.key if seen else "",
                fault=getattr(seen, "message", ""),
                needs_observation=bool(facts and facts.needs_observation),
                destructive=bool(facts and facts.destructive),
            )
        )
    return found


def _code_triggers(
    context: Context, card: Card
) -> tuple[CodeFacts | None, Watched | UnreadableTrigger | None]:
    """Read what a code skill says of itself, and its observation trigger."""
    head = disk.read_head(card.path, MAX_BYTES + 1)
    if head.fault:
        return None, None
    facts = read_code(head.data, skill_files.folder_name(card))
    return facts, _read_trigger(context, card, head.data)


def dispatch(context: Context, task: str, attempt: Callable[[Match], str | None]) -> Dispatched:
    """Offer a task to the skills whose triggers it has, one after the other, until one takes it."""
    return triggers.offer_to_each(matches(context, task), attempt, context.ports.token().hex())


def observe(
    context: Context,
    seen: Observation,
    now: datetime,
    consent: Callable[[Watched], bool],
    memory: TriggerMemory | None = None,
) -> list[Observed]:
    """Hold what was seen against the observation triggers of all skills that may be suggested."""
    from metier.find import observation

    if memory is None:
        memory = context.trigger_memory = context.trigger_memory or observation.TriggerMemory()
    declared = [
        _declared_trigger(context, card, memory)
        for card in cards_to_suggest(context)
        if card.kind == "code"
    ]
    watched = [one for one in declared if one is not None]
    found, fired = observation.observe(watched, seen, now, switches(context), consent, memory.fired)
    memory.fired.update(fired)
    for one in found:
        if one.outcome in {"fired", "refused"}:
            log.record(
                context, one.events[-1], one.outcome, name=one.name, path=one.path, trigger=one.key
            )
    return found


def _declared_trigger(
    context: Context, card: Card, memory: TriggerMemory
) -> Watched | UnreadableTrigger | None:
    """Read the trigger of a code skill, unless its file is the one that was read before."""
    known = memory.read.get(card.path)
    if known is not None and known[0] == disk.key_of(card.path):
        return known[1]
    head = disk.read_head(card.path, MAX_BYTES + 1)
    found = _read_trigger(context, card, head.data) if not head.fault else None
    memory.read[card.path] = head.key, found
    return found


def _read_trigger(context: Context, card: Card, data: bytes) -> Watched | UnreadableTrigger | None:
    """Read the trigger that the text of a code skill declares, if it does."""
    from metier.find import observation

    try:
        facts = read_code(data, skill_files.folder_name(card))
    except Exception as error:  # noqa: BLE001 - one skill that surprises the reader takes no other's trigger away
        return observation.unreadable(
            card.name, card.path, f"it cannot be read ({type(error).__name__})"
        )
    if facts is None or facts.observation is None:
        return None
    return observation.read_trigger(
        card.name,
        card.path,
        facts.observation,
        destructive=facts.destructive,
        home=context.home or "",
    )


def switches(context: Context) -> Switches:
    """Give what the user has turned on and off: by configuration, by the environment and in CODEC's
    own file.
    """
    from metier.find.observation import Switches

    route = context.settings.route
    names, until, silence = _read_mutes(context)
    enabled = route.observe and context.env.get(SWITCH_VARIABLE, "").strip().lower() not in _OFF
    return Switches(
        enabled, names | frozenset(route.muted), {**until, **dict(route.muted_until)}, silence
    )


def _read_mutes(context: Context) -> tuple[frozenset[str], dict[str, str], str]:
    """Read CODEC's own mutes. What mutes is there for safety: when it cannot be told whom it means,
    it means everybody.
    """
    if not context.home:
        return frozenset(), {}, ""
    path = f"{context.home}/{CODEC_MUTES_FILE}"
    table, fault = triggers.json_object_of(*triggers.read_user_file(path))
    names = [] if table.get("muted_skills") is None else table["muted_skills"]
    until = {} if table.get("muted_until") is None else table["muted_until"]
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not all(isinstance(one, (str, int, float)) for one in names):
        fault = "muted_skills is not a list of names"
    elif not isinstance(until, dict):
        fault = "muted_until is not an object of names with times"
    if fault:
        fault = f"{path} cannot be used: {fault}"
        warn_once(context, f"{fault}; until it is put right, every observation trigger is muted")
        return frozenset(), {}, fault
    return frozenset(map(str, names)), {name: str(moment) for name, moment in until.items()}, ""

"""`why`: which copy a name means, and what keeps each other one back: a rule, a decision, a plugin, the
prompt's budget.

Whoever has no plugins pays one look for a folder, and nothing of the mirror is loaded.
"""

from __future__ import annotations

from metier.disclose import offer
from metier.discover.io import disk
from metier.errors import MetierError, NotFoundError
from metier.fast import TYPE_CHECKING
from metier.standard.names import lookup_key
from metier.trust.assess import assess_skill, full_decision_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from metier.context import Context
    from metier.disclose.prompt import Disclosure
    from metier.discover.agents import Agent
    from metier.model import Card, Choice, Problem, Root, Why
    from metier.plugins.mirror_store import MirroredPlace
    from metier.plugins.model import Binding, VersionedSkill

PLUGINS_FOLDER = "plugins"
_DISABLED = "plugin_disabled:"
_ADOPTED = "adopted_from_plugin:"


def why(context: Context, name: str, told: Disclosure | None = None, *, budget: bool = True) -> Why:
    """Explain a name: its copies, what plugins have to do with them, and what the prompt's budget
    leaves out, by a catalogue made before where there is one.
    """
    from metier.disclose import prompt

    answer = _with_plugins(context, name)
    return prompt.with_budget(context, answer, told) if budget else answer


def _with_plugins(context: Context, name: str) -> Why:
    if not context.data or disk.kind_of(f"{context.data}/{PLUGINS_FOLDER}") != disk.FOLDER:
        return _explain_copies(context, name)
    known = _known(context)
    try:
        answer = _explain_copies(context, name)
    except NotFoundError as error:
        raise _absent(known, name) or error from error
    return answer._replace(candidates=tuple(_told(one, known) for one in answer.candidates))


def _explain_copies(context: Context, name: str) -> Why:
    """Explain a name; for an agent, also what lies where that agent does not look."""
    from metier.resolve.explain import Asking, explain

    asker = context.agent.id if context.agent else "metier"
    elsewhere: list[Card] = []
    if context.agent is not None and context.given is None:
        with context.as_agent(None) as machine:
            elsewhere = machine.catalogue.contents().cards
    found = context.catalogue.contents()
    agent = context.agent
    asking = Asking(
        asker,
        context.cwd,
        disk.real,
        context.settings.on_collision == "refuse",
        strongest=context.names_strongest,
        title=agent.title if agent is not None else "",
        by="" if agent is None or agent.asked else f", by {agent.read_in}",
        depths={
            seen.root.location: seen.root.limits.depth
            for seen in context.catalogue.glance().seen
            if seen.root.limits is not None
        },
    )
    try:
        answer = explain(name, found.cards, elsewhere, _lost(context), asking)
    except NotFoundError as error:
        raise context.catalogue.absent(name, error) from None
    shipped = {
        seen.root.location: f"shipped by {seen.root.told_by}"
        for seen in context.catalogue.glance().seen
        if seen.root.scope == "package"
    }
    own = {card.path for card in found.cards if offer.has_itself(card)} if agent else set()
    return answer._replace(
        candidates=tuple(
            _with_package(
                _with_reader(agent, _with_decision(context, choice, answer.chosen), own), shipped
            )
            for choice in answer.candidates
        )
    )


def _with_reader(agent: Agent | None, choice: Choice, own: Collection[str]) -> Choice:
    """Add that the asking agent reads a copy by itself, though metier does not hand it out."""
    if agent is None or choice.state not in _DECIDED or choice.path not in own:
        return choice
    told = (
        f"metier doesn't hand it out, but {agent.title} reads {choice.root} by itself and still "
        f"sees it. To stop that, move its folder away, or if metier installed it: metier remove"
    )
    return choice._replace(reasons=(*choice.reasons, told))


def _with_package(choice: Choice, shipped: Mapping[str, str]) -> Choice:
    """Add which package a copy comes with."""
    told = shipped.get(choice.root)
    return choice._replace(reasons=(*choice.reasons, told)) if told else choice


_DECIDED = frozenset({"ask", "quarantined", "blocked"})


def _with_decision(context: Context, choice: Choice, chosen: str | None) -> Choice:
    """Add what was decided about a copy, and why, to the one that is chosen and to those that a
    decision holds back.
    """
    if choice.path != chosen and choice.state not in _DECIDED:
        return choice
    standing = full_decision_of(
        context, assess_skill(context, context.catalogue.resolve(choice.path))
    )
    told = tuple(reason for reason in standing.reasons if reason not in choice.reasons)
    return choice._replace(
        state=standing.state if choice.state == "visible" else choice.state,
        reasons=(*choice.reasons, *told),
    )


def _lost(context: Context) -> list[tuple[Root, Problem]]:
    """Pair each problem of the walk with the root it lies below."""
    roots = [one.root for one in context.catalogue.glance().seen]
    return [
        (root, problem)
        for problem in context.catalogue.problems()
        for root in roots
        if f"{problem.path}/".startswith(f"{root.location}/")
    ]


def _known(context: Context) -> tuple[MirroredPlace, ...]:
    """Give what is mirrored; a file that cannot be read takes nothing from the answer but what it
    would have said.
    """
    from metier.plugins import mirror_store

    try:
        return mirror_store.mirrored_places(context, None)
    except MetierError as error:
        context.warnings.append(f"{error.message}; {error.hint}" if error.hint else error.message)
        return ()


def _told(choice: Choice, known: Iterable[MirroredPlace]) -> Choice:
    name = choice.path.rpartition("/")[2]
    for ground in known:
        skill = ground.mirror.skill(name)
        if skill is not None and skill.status == "active" and _is_copy(choice.path, ground, skill):
            return choice._replace(reasons=(*choice.reasons, *_reasons(ground, skill)))
    return choice


def _is_copy(path: str, ground: MirroredPlace, skill: VersionedSkill) -> bool:
    """Tell whether a skill was put there; a scope may have come to it by another way."""
    real = disk.real(path)
    return any(real == disk.real(f"{ground.place.base}/{target.path}") for target in skill.targets)


def _reasons(ground: MirroredPlace, skill: VersionedSkill) -> Iterator[str]:
    if skill.lineage.startswith(_ADOPTED):
        yield (
            f"adopted from the plugin {skill.lineage.removeprefix(_ADOPTED)} ({skill.current}): "
            f"it is your own"
        )
        return
    plugin_id = skill.owner.removeprefix("plugin:")
    yield f"mirrored from the plugin {plugin_id} ({skill.current})"
    plugin = ground.mirror.plugin(plugin_id)
    binding = plugin.binding(skill.name) if plugin is not None else None
    if plugin is not None and plugin.status == "paused":
        yield f"the plugin is paused: metier plugin resume {plugin_id}"
    if binding is not None and binding.pending:
        yield (
            f"{_WAITS.get(binding.status, 'an update waits')}: metier review show {binding.pending}"
        )


_WAITS = {"removed": "its plugin no longer ships it, and you have not decided yet"}


def _absent(known: Iterable[MirroredPlace], name: str) -> NotFoundError | None:
    """Say why a name that a plugin shipped, or would ship, means nothing now."""
    key = lookup_key(name)
    for ground in known:
        for skill in ground.mirror.skills:
            if skill.status == "disabled" and key == lookup_key(skill.name):
                return NotFoundError(
                    f"'{skill.name}' is disabled: {skill.why_text}", hint=_remedy(skill)
                )
        for binding in _offered(ground):
            if key == lookup_key(binding.skill):
                return NotFoundError(
                    f"'{binding.skill}' is not here yet: its plugin offers it, and it waits for "
                    f"your yes",
                    hint=f"metier review show {binding.pending}",
                )
    return None


def _remedy(skill: VersionedSkill) -> str:
    if skill.why.startswith(_DISABLED):
        return f"metier plugin enable {skill.why.removeprefix(_DISABLED)}"
    return f"its versions are kept: metier history {skill.name}"


def _offered(ground: MirroredPlace) -> Iterator[Binding]:
    return (
        one
        for plugin in ground.mirror.plugins
        for one in plugin.skills
        if one.status == "new" and one.pending
    )

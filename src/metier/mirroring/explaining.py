"""`why`, for what plugins have a say in: which copy is mirrored from one, and which name is gone because its plugin is disabled.

Whoever has no plugins pays one look for a folder, and nothing of the mirror is loaded.
"""

from __future__ import annotations

from metier import reading
from metier.discover import disk
from metier.errors import MetierError, NotFoundError
from metier.light import TYPE_CHECKING
from metier.standard.names import lookup_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metier.app import Library
    from metier.mirroring.grounds import Ground
    from metier.mirrors import Binding, Skill
    from metier.model import Choice, Why

FOLDER = "plugins"
_DISABLED, _REMOVED, _ADOPTED = "plugin_disabled:", "plugin_removed:", "adopted_from_plugin:"


def why(library: Library, name: str) -> Why:
    """Explain a name, with what plugins have to do with it."""
    if not library.data or disk.kind_of(f"{library.data}/{FOLDER}") != disk.FOLDER:
        return reading.why(library, name)
    known = _known(library)
    try:
        answer = reading.why(library, name)
    except NotFoundError as error:
        raise _absent(known, name) or error from error
    told = tuple(_told(choice, known) for choice in answer.candidates)
    return answer._replace(candidates=told)


def _known(library: Library) -> tuple[Ground, ...]:
    """Give what is mirrored; a file that cannot be read takes nothing from the answer but what it would have said."""
    from metier.mirroring import grounds

    try:
        return grounds.grounds(library, None)
    except MetierError as error:
        library.warnings.append(f"{error.message}; {error.hint}" if error.hint else error.message)
        return ()


def _told(choice: Choice, known: Iterable[Ground]) -> Choice:
    name = choice.path.rpartition("/")[2]
    for ground in known:
        skill = ground.mirror.skill(name)
        if skill is not None and skill.status == "active" and _is_copy(choice.path, ground, skill):
            return choice._replace(reasons=(*choice.reasons, *_reasons(ground, skill)))
    return choice


def _is_copy(path: str, ground: Ground, skill: Skill) -> bool:
    """Tell whether a skill was put there; a scope may have come to it by another way."""
    real = disk.real(path)
    return any(real == disk.real(f"{ground.place.base}/{target.path}") for target in skill.targets)


def _reasons(ground: Ground, skill: Skill) -> Iterator[str]:
    if skill.lineage.startswith(_ADOPTED):
        yield f"adopted from the plugin {skill.lineage.removeprefix(_ADOPTED)} ({skill.current}): it is your own"
        return
    plugin_id = skill.owner.removeprefix("plugin:")
    yield f"mirrored from the plugin {plugin_id} ({skill.current})"
    plugin = ground.mirror.plugin(plugin_id)
    binding = plugin.binding(skill.name) if plugin is not None else None
    if plugin is not None and plugin.status == "paused":
        yield f"the plugin is paused: metier plugin resume {plugin_id}"
    if binding is not None and binding.pending:
        yield f"{_WAITS.get(binding.status, 'an update waits')}: metier review show {binding.pending}"


_WAITS = {"removed": "its plugin no longer ships it, and you have not decided yet"}


def _absent(known: Iterable[Ground], name: str) -> NotFoundError | None:
    """Say why a name that a plugin shipped, or would ship, means nothing now."""
    key = lookup_key(name)
    for ground in known:
        for skill in ground.mirror.skills:
            if skill.status == "disabled" and key == lookup_key(skill.name):
                return NotFoundError(f"'{skill.name}' is disabled: {skill.why}", hint=_remedy(skill))
        for binding in _offered(ground):
            if key == lookup_key(binding.skill):
                return NotFoundError(f"'{binding.skill}' is not here yet: its plugin offers it, and it waits for your yes",
                                     hint=f"metier review show {binding.pending}")  # fmt: skip
    return None


def _remedy(skill: Skill) -> str:
    if skill.why.startswith(_DISABLED):
        return f"metier plugin enable {skill.why.removeprefix(_DISABLED)}"
    if skill.why.startswith(_REMOVED):
        return f"its plugin no longer ships it; its versions are kept: metier history {skill.name}"
    return f"its versions are kept: metier history {skill.name}"


def _offered(ground: Ground) -> Iterator[Binding]:
    return (one for plugin in ground.mirror.plugins for one in plugin.skills if one.status == "new" and one.pending)

"""Whether a skill is offered here: each refusal with its reason."""

from __future__ import annotations

from metier.light import TYPE_CHECKING
from metier.resolve.needs import missing_of
from metier.standard.needs import UNREADABLE

if TYPE_CHECKING:
    from metier.model import Entry, Gates, Readiness
    from metier.resolve.policy import World
    from metier.settings import Rule, Settings

__all__ = ["KNOWN_ENVIRONMENTS", "closed_by", "disabled_by", "missing_of"]

_PLATFORM_NAMES = {"linux": ("linux",), "darwin": ("macos", "darwin", "osx"), "win32": ("windows", "win32"),
                   "android": ("linux", "android")}  # fmt: skip


def closed_by(gates: Gates, settings: Settings, world: World) -> tuple[str, Readiness, str]:
    """Give the reason a gate is closed, the readiness that follows and what kind it is; no reason when all are open."""
    if any(UNREADABLE in words for words in gates[:7]):
        return "gate: one of its restrictions cannot be read, so it is held back", "available", "gate"
    if gates.platforms and not _platform_fits(gates.platforms, world.platform):
        return f"gate: platforms = {_listed(gates.platforms)}, and this is {world.platform}", "unsupported", "gate"
    if gates.products and world.product not in gates.products:
        who = f"the agent is {world.product}" if world.product else "no product is asking"
        return f"gate: products = {_listed(gates.products)}, and {who}", "available", "gate"
    if gates.environments and not _environment_fits(gates.environments, settings.environments):
        return f"gate: environments = {_listed(gates.environments)}, and none of them is set", "available", "gate"
    reason = _tools_reason(gates, settings)
    if reason:
        return reason, "available", "gate"
    if gates.model_hidden:
        return f"not offered to the model by its own '{gates.model_hidden}'; it can still be named", "available", "model"
    return "", "available", ""


def _platform_fits(wanted: tuple[str, ...], platform: str) -> bool:
    """Match as Hermes does: by prefix, with the usual other names (HE-13)."""
    names = _PLATFORM_NAMES.get(platform, (platform,))
    return any(name.startswith(word) or word.startswith(name) for word in wanted for name in names if word)


KNOWN_ENVIRONMENTS = frozenset({"kanban", "docker", "s6"})


def _environment_fits(wanted: tuple[str, ...], present: tuple[str, ...]) -> bool:
    """Tags that nobody defines never hide a skill (HE-13)."""
    known = [word for word in wanted if word in KNOWN_ENVIRONMENTS]
    return not known or any(word in present for word in known)


def _tools_reason(gates: Gates, settings: Settings) -> str:
    """Hide a fallback when the real thing is there, and a skill whose tools are missing (HE-24)."""
    pairs = (
        ("tools", settings.tools, gates.requires_tools, gates.fallback_for_tools),
        ("toolsets", settings.toolsets, gates.requires_toolsets, gates.fallback_for_toolsets),
    )
    for what, present, required, fallback in pairs:
        if present is None:
            continue
        missing = [name for name in required if name not in present]
        if missing:
            return f"gate: it requires the {what} {_listed(missing)}, which the agent does not have"
        covered = [name for name in fallback if name in present]
        if covered:
            return f"gate: it is a fallback for the {what} {_listed(covered)}, which the agent has"
    return ""


def disabled_by(entry: Entry, settings: Settings) -> str:
    """Give the rule that disables a skill, or nothing. Rules apply in order, so the last one that fits decides."""
    name = entry.name
    if name in settings.disabled:
        return "disabled: skills.disabled in the configuration"
    for platform, names in settings.platform_disabled:
        if platform == settings.host_platform and name in names:
            return f"disabled on {platform}: skills.platform_disabled in the configuration"
    decided: Rule | None = None
    for rule in settings.rules:
        if rule.name == name if rule.name else _is_path_of(rule.path, entry):
            decided = rule
    if decided is None or decided.enabled:
        return ""
    what = f"name = {decided.name!r}" if decided.name else f"path = {decided.path!r}"
    return f"disabled by the rule {what} in {decided.told_by}"


def _is_path_of(path: str, entry: Entry) -> bool:
    """Compare with a canonical path; `real` is empty when the path is canonical itself."""
    return path == (entry.real or entry.path)


def _listed(words: tuple[str, ...] | list[str]) -> str:
    return ", ".join(words)

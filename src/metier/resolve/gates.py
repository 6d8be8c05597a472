"""Whether a skill is offered here: each refusal with its reason.

A gate is one of two kinds. `platforms`, `products` and what cannot be read keep a skill from every
model. `environments` and the conditions about tools only say where a skill is worth offering: it is
listed nowhere, and whoever names it gets it (HE-13).
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING
from metier.resolve.needs import missing_of
from metier.standard.needs import UNREADABLE

if TYPE_CHECKING:
    from metier.model import Entry, Gates, Readiness, Texts
    from metier.resolve.model import World
    from metier.settings.merge import Rule, Settings

__all__ = ["KNOWN_ENVIRONMENTS", "UNOFFERED", "closed_by", "disabled_by", "missing_of"]

UNOFFERED = "not offered here"
"""How the reason begins of what is only kept out of lists."""
_PLATFORM_NAMES = {
    "linux": ("linux",),
    "darwin": ("macos", "darwin", "osx"),
    "win32": ("windows", "win32"),
    "android": ("linux", "android"),
}


def closed_by(gates: Gates, settings: Settings, world: World) -> tuple[str, Readiness, str]:
    """Give the reason a gate is closed, the readiness that follows and what kind it is; no reason
    when all are open.
    """
    if any(UNREADABLE in words for words in gates):
        return (
            "gate: one of its restrictions can't be read, so it is hidden",
            "available",
            "gate",
        )
    if gates.platforms and not _platform_fits(gates.platforms, world.platform):
        return (
            f"gate: platforms = {', '.join(gates.platforms)}, and this is {world.platform}",
            "unsupported",
            "gate",
        )
    if gates.products and world.product not in gates.products:
        who = f"the agent is {world.product}" if world.product else "no product is asking"
        return f"gate: products = {', '.join(gates.products)}, and {who}", "available", "gate"
    if gates.model_hidden:
        return (
            f"hidden from models by its own '{gates.model_hidden}'; you can still use it by name",
            "available",
            "model",
        )
    reason = _unoffered_reason(gates, settings)
    if reason:
        return f"{UNOFFERED}: {reason}; you can still use it by name", "available", "offer"
    return "", "available", ""


def _platform_fits(wanted: Texts, platform: str) -> bool:
    """Match as Hermes does: by prefix, with the usual other names (HE-13)."""
    names = _PLATFORM_NAMES.get(platform, (platform,))
    return any(
        name.startswith(word) or word.startswith(name) for word in wanted for name in names if word
    )


KNOWN_ENVIRONMENTS = frozenset({"kanban", "docker", "s6"})


def _environment_fits(wanted: Texts, present: Texts) -> bool:
    """Tags that nobody defines never hide a skill (HE-13)."""
    known = [word for word in wanted if word in KNOWN_ENVIRONMENTS]
    return not known or any(word in present for word in known)


def _unoffered_reason(gates: Gates, settings: Settings) -> str:
    """Offer nothing outside its environments, no fallback when the real thing is there, and no
    skill whose tools are missing (HE-13, HE-24).
    """
    if gates.environments and not _environment_fits(gates.environments, settings.environments):
        return f"environments = {', '.join(gates.environments)}, and none of them is set"
    pairs = (
        ("tools", settings.tools, gates.requires_tools, gates.fallback_for_tools),
        ("toolsets", settings.toolsets, gates.requires_toolsets, gates.fallback_for_toolsets),
    )
    for what, present, required, fallback in pairs:
        if present is None:
            continue
        missing = [name for name in required if name not in present]
        if missing:
            return f"it requires the {what} {', '.join(missing)}, which the agent does not have"
        covered = [name for name in fallback if name in present]
        if covered:
            return f"it is a fallback for the {what} {', '.join(covered)}, which the agent has"
    return ""


def disabled_by(entry: Entry, settings: Settings) -> str:
    """Give the rule that disables a skill, or nothing. Rules apply in order, so the last one that
    fits decides.
    """
    name = entry.name
    if name in settings.disabled:
        return "disabled: skills.disabled in the configuration"
    for platform, names in settings.platform_disabled:
        if platform == settings.host_platform and name in names:
            return f"disabled on {platform}: skills.platform_disabled in the configuration"
    path = entry.real or entry.path  # rules name canonical paths
    decided = next(
        (
            rule
            for rule in reversed(settings.rules)
            if (_means(rule, name) if rule.name else rule.path == path)
        ),
        None,
    )
    if decided is None or decided.enabled:
        return ""
    what = f"name = {decided.name!r}" if decided.name else f"path = {decided.path!r}"
    return f"disabled by the rule {what} in {decided.told_by}"


def _means(rule: Rule, name: str) -> bool:
    return _names(rule.name.lower(), name.lower()) if rule.any_case else _names(rule.name, name)


def _names(pattern: str, name: str) -> bool:
    """Tell whether a rule means a name: that very one, or what its stars stand for."""
    if "*" not in pattern:
        return pattern == name
    first, *middle, last = pattern.split("*")
    if len(name) < len(first + last) or not (name.startswith(first) and name.endswith(last)):
        return False
    at, end = len(first), len(name) - len(last)
    for part in middle:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True

"""Whether a skill is ready: what it needs against what is there, each lack by its kind. Pure over
the machine's answers.

What is not known is not missing: without a list of the agent's tools or MCP servers, none of them
is. A server that is missing stands among the tools.
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from metier.model import Card, Entry, Needs, Readiness, Texts
    from metier.ports import Machine
    from metier.settings.merge import Settings

    Missing = Mapping[str, Sequence[str]]
    """What is not there, by kind."""

    Reasons = Mapping[str, str]
    """Variables that no skill is given, each with why."""

_PLATFORMS = {"linux": "linux", "darwin": "macos", "win32": "windows", "android": "linux"}
_USABLE = frozenset({"", "model", "offer"})


def missing_of(
    needs: Needs, machine: Machine, settings: Settings, usable: Container[str] | None = None
) -> dict[str, list[str]]:
    """List what is not there, by kind; packages and other skills only for a skill that needs some.

    Other skills are looked up among the `usable` names; without those none is missing.
    """
    tools = (
        []
        if settings.tools is None
        else [name for name in needs.tools if name not in settings.tools]
    )
    missing = {
        "env": [name for name in needs.env if not machine.has_env(name)],
        "files": [path for path in needs.files if not machine.has_file(path)],
        "commands": [name for name in needs.commands if not machine.has_command(name)],
        "tools": tools + missing_servers(needs.servers, settings.mcp_servers),
    }
    if needs.packages:
        missing["packages"] = [name for name in needs.packages if not machine.has_package(name)]
    if needs.skills:
        missing["skills"] = (
            [] if usable is None else [name for name in needs.skills if _key(name) not in usable]
        )
    return missing


def missing_servers(servers: Sequence[str], present: Sequence[str] | None) -> list[str]:
    """Name the MCP servers that the agent does not have; it may list them by name or by identity
    (CX-50).
    """
    if present is None or not servers:
        return []
    known = {_plain(name) for name in present}
    return [
        name
        for name, _, identity in (server.partition("|") for server in servers)
        if _plain(name) not in known and (not identity or _plain(identity) not in known)
    ]


def _plain(name: str) -> str:
    """Give a server's name as it is compared: `DataForSEO` in a text is `dataforseo` in a
    configuration.
    """
    return name.strip().lower().replace("_", "-").replace(" ", "-")


def readiness_of(
    missing: Missing,
    systems: Sequence[str],
    platform: str,
    never: Reasons | None = None,
) -> tuple[Readiness, str]:
    """Say how ready a skill is, and why it is not; `never` are the variables that no skill is
    given, each with the reason.
    """
    unsupported = elsewhere(systems, platform)
    if unsupported:
        return "unsupported", unsupported
    lacking = lacks(missing, never or {})
    return ("setup_needed", f"needs {'; '.join(lacking)}") if lacking else ("available", "")


def elsewhere(systems: Sequence[str], platform: str) -> str:
    """Say why a skill's own words keep it from this system; nothing when they do not. They are
    prose: nothing is refused for it.
    """
    if not systems or _PLATFORMS.get(platform, platform) in systems:
        return ""
    return f"it says that it is for {', '.join(systems)}, and this is {platform}"


def lacks(missing: Missing, never: Reasons) -> list[str]:
    """Say what is missing, one kind after the other, and of what is never given why."""
    found: list[str] = []
    for kind, names in missing.items():
        held = [name for name in names if kind == "env" and name in never]
        others = [name for name in names if name not in held] if held else names
        found += [f"{kind} {', '.join(others)}"] if others else []
        found += [f"{kind} {name}, which is never given ({never[name]})" for name in held]
    return found


def never_given(names: Iterable[str], machine: Machine) -> dict[str, str]:
    """Give the variables among these that no skill is given, each with the reason (HE-20)."""
    return {name: why for name in names if (why := machine.refusal(name))}


def helps_with(missing: Missing, never: Reasons) -> bool:
    """Tell whether a person can do anything about what is missing: what is never given, nobody can
    give.
    """
    return any(
        kind != "env" or name not in never for kind, names in missing.items() for name in names
    )


def help_of(needs: Needs, missing: Missing) -> str:
    """Give what a skill says about getting ready, as far as something is missing: not about a
    variable that is there.
    """
    if not any(missing.values()):
        return ""
    done = tuple(f"{name}: " for name in needs.env if name not in missing["env"])
    return (
        "\n".join(line for line in needs.help.split("\n") if not line.startswith(done))
        if done
        else needs.help
    )


# --- other skills


def usable_names(cards: Iterable[Card]) -> frozenset[str]:
    """Give the names under which skills can be used: offered, or only kept from offering
    themselves.
    """
    found: set[str] = set()
    for card in cards:
        if card.state == "visible" or card.held in {"model", "offer"}:
            found.update(_names(card.name))
    return frozenset(found)


def lacking_skills(
    needing: Sequence[Entry], cards: Sequence[Card], *, spreads: bool
) -> dict[str, list[str]]:
    """Give, by path, the skills that a skill needs and that cannot be used.

    Where the unready are hidden, a skill that is hidden for this is missing to others in turn: that
    `spreads`. Two that need each other are fine. The work is linear in the number of needs.
    """
    copies: dict[str, int] = {}
    standing = {card.path: _names(card.name) for card in cards if card.held in _USABLE}
    for names in standing.values():
        for name in names:
            copies[name] = copies.get(name, 0) + 1
    wanted_by: dict[str, list[str]] = {}
    for entry in needing:
        for name in dict.fromkeys(map(_key, entry.needs.skills if entry.needs else ())):
            wanted_by.setdefault(name, []).append(entry.path)
    gone = [name for name in wanted_by if not copies.get(name)]
    unready: set[str] = set()
    for name in gone:  # grows while it is gone through
        fresh = [path for path in wanted_by[name] if path not in unready]
        unready.update(fresh)
        for own in (own for path in fresh if spreads for own in standing.get(path, ())):
            copies[own] -= 1
            gone += [own] if not copies[own] and own in wanted_by else []
    return {
        entry.path: [name for name in entry.needs.skills if not copies.get(_key(name))]
        for entry in needing
        if entry.path in unready and entry.needs
    }


def _names(name: str) -> Texts:
    """Give the names under which another skill may ask for this one: with and without its
    plugin.
    """
    whole = _key(name)
    short = _key(name.rpartition(":")[2])
    return (whole, short) if short != whole else (whole,)


def _key(name: str) -> str:
    if name.isascii():  # as nearly every name is: the same form, quicker
        return "-".join(name.lower().split()).replace("_", "-")
    from metier.standard.names import lookup_key  # only where skills need skills

    return lookup_key(name)

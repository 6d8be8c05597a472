"""A mirror while it is being changed: everything found by its name, and written back whole and in order."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from metier.mirrors import Mirror
from metier.supply.paths import folded

if TYPE_CHECKING:
    from metier.mirrors import Binding, Candidate, Plugin, Skill, Version

FIRST = "v0001"


class Ledger:
    """The plugins, skills and candidates of a place, by name."""

    def __init__(self, mirror: Mirror) -> None:
        """Take a mirror apart."""
        self.place = mirror.place
        self.plugins = {one.plugin_id: one for one in mirror.plugins}
        self.skills = {one.name: one for one in mirror.skills}
        self.candidates = {one.id: one for one in mirror.candidates}
        self._spelled: dict[str, dict[str, None]] | None = None
        """The names of skills, by what they are on a disk that knows neither case nor spelling; made when first asked for."""

    def mirror(self) -> Mirror:
        """Put it together again."""
        plugins = tuple(self.plugins[key] for key in sorted(self.plugins))
        return Mirror(self.place, plugins, tuple(self.skills[key] for key in sorted(self.skills)), tuple(self.candidates.values()))

    def plugin(self, plugin: Plugin) -> None:
        """Write a plugin down."""
        self.plugins[plugin.plugin_id] = plugin

    def skill(self, skill: Skill) -> None:
        """Write a skill down."""
        self.skills[skill.name] = skill
        if self._spelled is not None:
            self._spelled.setdefault(folded(skill.name), {})[skill.name] = None

    def alike(self, name: str) -> list[Skill]:
        """Give the skills that have a name in any spelling: on some disks they are one folder."""
        if self._spelled is None:
            self._spelled = {}
            for one in self.skills:
                self._spelled.setdefault(folded(one), {})[one] = None
        return [self.skills[one] for one in self._spelled.get(folded(name), ())]

    def candidate(self, candidate: Candidate) -> None:
        """Write a candidate down; one that is known keeps its place in the queue."""
        self.candidates[candidate.id] = candidate

    def binding(self, plugin_id: str, binding: Binding) -> None:
        """Write down how a skill stands to its plugin."""
        plugin = self.plugins[plugin_id]
        at = bisect_left(plugin.skills, (binding.skill,))
        after = at + (plugin.binding(binding.skill) is not None)
        self.plugin(plugin._replace(skills=(*plugin.skills[:at], binding, *plugin.skills[after:])))

    def version(self, name: str, version: Version) -> Version:
        """Add a version to a skill under the next number, and make it the current one."""
        skill = self.skills[name]
        made = version._replace(version=next_version(skill))
        self.skill(skill._replace(versions=(*skill.versions, made), current=made.version))
        return made

    def current(self, name: str) -> Version:
        """Give the version of a skill that is in place."""
        skill = self.skills[name]
        found = skill.version(skill.current)
        assert found is not None, f"{name} has no version {skill.current}"
        return found


def next_version(skill: Skill | None) -> str:
    """Give the number after the highest; what is no number is passed over (BE-8)."""
    numbers = (one.version[1:] for one in skill.versions) if skill is not None else ()
    return f"v{max((int(digits) for digits in numbers if digits.isascii() and digits.isdigit()), default=0) + 1:04}"

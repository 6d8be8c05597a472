"""Defines the data types of resolving a name: the asking agent's rules and its machine.

A machine that remembers what it was asked lets a finished view be used again while the answers stay
the same.
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING, NamedTuple
from metier.model import Digest, Said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.discover.agent_config import AgentSettings
    from metier.discover.agents import Agent, ListingBudget
    from metier.model import Judged
    from metier.ports import Machine
    from metier.settings.merge import Settings

    Facts = dict[tuple[str, str], bool | str]


class World(NamedTuple):
    """What the asking agent and its machine are like."""

    platform: str
    product: str = ""


class ResolvePolicy(NamedTuple):
    """How the asking agent treats skills, one by one and several of a name."""

    settings: Settings
    world: World
    keep_duplicates: bool = False
    """Codex keeps all of them: each is visible, and a plain name is then ambiguous (CX-28)."""
    said: Said = Said()
    """What people have decided; a listing that has seen nothing of the kind trusts no project."""
    judged: Mapping[str, Mapping[str, Judged]] = {}
    """By root and a skill's path, what the last scan said of it: a verdict that another root has of
    the same place counts for nothing here, since nobody holds it against the disk."""
    asker: str = "the agent"
    """What the asking agent is called."""
    undefined: bool = False
    """Whether the agent itself does not always take the same of several copies."""
    offered: bool = False
    """Whether a copy that the model is not offered leaves the name to the next."""
    unordered: bool = False
    """Whether that is so of copies in one folder."""
    everything_off: str = ""
    """The agent's own file that switches all skills off."""
    refused: tuple[tuple[str, str], ...] = ()
    """Skills that the agent lists and refuses to use, each with its file that says so."""
    budget: ListingBudget | None = None
    """How much of its context the agent's list may take up."""
    ask_edits: bool = False
    """Whether an installed skill that was edited asks, however harmless the edit."""


def budget_of(
    agent: Agent, env: Mapping[str, str], settings: AgentSettings | None = None
) -> ListingBudget | None:
    """Give the budget of an agent's list as its configuration has it, or before that its
    environment.
    """
    budget = agent.budget
    if budget is None:
        return None
    if settings is not None and settings.each:
        budget = budget._replace(each=settings.each)
    if settings is not None and settings.share and budget.context:
        budget = budget._replace(characters=max(1, int(budget.context * settings.share)))
    said = env.get(budget.variable, "")
    return budget._replace(characters=int(said)) if said.isdecimal() else budget


class AskedMachine:
    """A machine that remembers what it was asked, so that a view can be checked again cheaply."""

    def __init__(self, machine: Machine) -> None:
        """Pass every question on to `machine`."""
        self.machine = machine
        self.facts: Facts = {}

    def has_env(self, name: str) -> bool:
        """Ask for an environment variable."""
        return bool(self._asked("env", name))

    def refusal(self, name: str) -> str:
        """Ask why a variable is given to no skill."""
        return str(self._asked("refusal", name))

    def has_command(self, name: str) -> bool:
        """Ask for a command."""
        return bool(self._asked("command", name))

    def has_file(self, path: str) -> bool:
        """Ask for a file."""
        return bool(self._asked("file", path))

    def has_package(self, name: str) -> bool:
        """Ask for a Python distribution."""
        return bool(self._asked("package", name))

    def decisions(self) -> bytes:
        """Pass on what was written down; a glance has seen it already."""
        return self.machine.decisions()

    def said(self, decisions: bytes) -> Said:
        """Pass on how it is read."""
        return self.machine.said(decisions)

    def stamp(self, path: str) -> str:
        """Ask for the stats of a tree."""
        return str(self._asked("tree", path))

    def digest(self, path: str) -> Digest | None:
        """Ask for a digest. It stays true as long as the stats do, and those are cheaper to ask for
        again.
        """
        stamp = self.stamp(path)
        return Digest(stamp) if stamp.startswith("sha256:") else self.machine.digest(path)

    def keep_nothing(self) -> None:
        """Have what is made from these answers made anew the next time."""
        self.facts[_PASSING, ""] = True

    def _asked(self, kind: str, name: str) -> bool | str:
        if (kind, name) not in self.facts:
            self.facts[kind, name] = _ask(self.machine, kind, name)
        return self.facts[kind, name]


def still_true(facts: Facts, machine: Machine) -> bool:
    """Tell whether the machine still answers as it did."""
    return all(_ask(machine, *fact) == answer for fact, answer in facts.items())


_QUESTIONS = {
    "env": "has_env",
    "refusal": "refusal",
    "command": "has_command",
    "file": "has_file",
    "package": "has_package",
    "tree": "stamp",
}
_PASSING = "passing"
"""What no machine ever answers again: nothing that rests on it is used a second time."""


def _ask(machine: Machine, kind: str, name: str) -> bool | str:
    if kind == _PASSING:
        return False
    answer: bool | str = getattr(machine, _QUESTIONS[kind])(name)
    return answer

"""What was asked of the machine, and whether it still answers so: what lets a finished view be used again."""

from __future__ import annotations

from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.model import Digest, Said
    from metier.ports import Machine

    Facts = dict[tuple[str, str], bool | str]


class Asked:
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
        """Ask for a digest. It stays true as long as the stats do, and those are cheaper to ask for again."""
        self.stamp(path)
        return self.machine.digest(path)

    def _asked(self, kind: str, name: str) -> bool | str:
        if (kind, name) not in self.facts:
            self.facts[kind, name] = _ask(self.machine, kind, name)
        return self.facts[kind, name]


def still_true(facts: Facts, machine: Machine) -> bool:
    """Tell whether the machine still answers as it did."""
    return all(_ask(machine, *fact) == answer for fact, answer in facts.items())


def _ask(machine: Machine, kind: str, name: str) -> bool | str:
    if kind == "tree":
        return machine.stamp(name)
    if kind == "refusal":
        return machine.refusal(name)
    return {"env": machine.has_env, "command": machine.has_command, "file": machine.has_file,
            "package": machine.has_package}[kind](name)  # fmt: skip

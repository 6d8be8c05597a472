"""What was asked of the machine, and whether it still answers so: what lets a finished view be used again."""

from __future__ import annotations

from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.ports import Machine

    Facts = dict[tuple[str, str], bool]


class Asked:
    """A machine that remembers what it was asked, so that a view can be checked again cheaply."""

    def __init__(self, machine: Machine) -> None:
        """Pass every question on to `machine`."""
        self.machine = machine
        self.facts: Facts = {}

    def has_env(self, name: str) -> bool:
        """Ask for an environment variable."""
        return self._asked("env", name)

    def has_command(self, name: str) -> bool:
        """Ask for a command."""
        return self._asked("command", name)

    def has_file(self, path: str) -> bool:
        """Ask for a file."""
        return self._asked("file", path)

    def _asked(self, kind: str, name: str) -> bool:
        if (kind, name) not in self.facts:
            self.facts[kind, name] = _ask(self.machine, kind, name)
        return self.facts[kind, name]


def still_true(facts: Facts, machine: Machine) -> bool:
    """Tell whether the machine still answers as it did."""
    return all(_ask(machine, *fact) == answer for fact, answer in facts.items())


def _ask(machine: Machine, kind: str, name: str) -> bool:
    return {"env": machine.has_env, "command": machine.has_command, "file": machine.has_file}[kind](name)

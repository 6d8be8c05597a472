"""A machine for tests: what is there is what a test says is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.model import Digest, Said

if TYPE_CHECKING:
    from collections.abc import Iterable


class FakeMachine:
    """Stands in for the `Machine` port: every list names what this machine has."""

    def __init__(
        self,
        env: Iterable[str] = (),
        commands: Iterable[str] = (),
        files: Iterable[str] = (),
        packages: Iterable[str] = (),
    ) -> None:
        """Have these and nothing else."""
        self.env, self.commands, self.files, self.packages = (
            set(env),
            set(commands),
            set(files),
            set(packages),
        )

    def has_env(self, name: str) -> bool:
        """Look in the list of variables."""
        return name in self.env

    def has_command(self, name: str) -> bool:
        """Look in the list of commands; `a|b` asks for either."""
        return not self.commands.isdisjoint(name.split("|"))

    def has_file(self, path: str) -> bool:
        """Look in the list of files."""
        return path in self.files

    def refusal(self, _name: str) -> str:
        """Refuse nothing."""
        return ""

    def has_package(self, name: str) -> bool:
        """Look in the list of packages."""
        return name in self.packages

    def decisions(self) -> bytes:
        """Have no decisions."""
        return b""

    def said(self, decisions: bytes) -> Said:
        """Have nothing said."""
        assert not decisions
        return Said()

    def stamp(self, path: str) -> str:
        """Take the path for the tree."""
        return path

    def digest(self, path: str) -> Digest | None:
        """Take the path for the digest."""
        return Digest(path)

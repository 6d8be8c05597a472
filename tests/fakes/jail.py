"""A machine of its own for hostile scripts: a home with a key in it, a metier with two skills and their secrets, and two users.

What is planted must never be seen inside a sandbox. Nothing here stands in for anything: the library, the copies, the secrets and
the sandbox are the real ones, and so is the user.
"""

from __future__ import annotations

import os
import re
import threading
from typing import TYPE_CHECKING, NamedTuple

from fakes.ordinary import as_ordinary, open_folder

import metier
from metier.run import needs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from metier.library import Library
    from metier.run.model import Ran

    T = TypeVar("T")

USERS = ("as root", "as an ordinary user") if os.geteuid() == 0 else ("as an ordinary user",)
"""Every escape is tried as each of them."""
PYTHON = "/usr/bin/python3"
"""The system's own: another may lie where an ordinary user does not get."""
KEY, OWN, OTHER, CANARY = (
    f"planted-{word}-{os.urandom(8).hex()}" for word in ("key", "own", "other", "canary")
)
"""A private key, the secret of the hostile skill, that of another one, and a variable of metier's own process."""
CANARY_NAME = "METIER_TEST_CANARY"
NAME = "probing"
SMALL = """[run]
seconds = 60
memory_bytes = 134217728
processes = 24
output_bytes = 1048576
scratch_bytes = 4194304
file_bytes = 2097152
"""
"""Limits that a bomb reaches soon."""


class Lent(NamedTuple):
    """What one run is lent."""

    network: bool = False
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    seconds: int = 0


PLAIN = Lent()


class Jail:
    """The machine, made below a folder by the user that it belongs to."""

    def __init__(self, folder: str, config: str = SMALL) -> None:
        """Plant what must not be found."""
        self.folder, self.home, self.data = folder, f"{folder}/home", f"{folder}/metier-home"
        self.config = f"{folder}/metier.toml"
        self.skill = f"{self.home}/.agents/skills/{NAME}"
        self.write(f"{self.home}/.ssh/id_ed25519", KEY)
        self.write(self.config, config)
        self.write_skill(NAME, "OWN_TOKEN", "permissions: [network]\n")
        self.write_skill("other", "OTHER_TOKEN")
        self.env = {
            "HOME": self.home,
            "METIER_SCAN_MODEL": "off",
            "METIER_BACKGROUND": "off",
            "METIER_HOME": self.data,
            "PATH": "/usr/bin:/bin",
            CANARY_NAME: CANARY,
        }
        with self.open() as library:
            for name, value in (("OWN_TOKEN", OWN), ("OTHER_TOKEN", OTHER)):
                needs.keep(library.context, name, value, "file")

    def open(self) -> Library:
        """Open the library."""
        return metier.open(env=self.env, cwd=self.home, config=self.config)

    def write(self, path: str, text: str) -> str:
        """Write a file and the folders above it; give its path."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def write_skill(self, name: str, secret: str, more: str = "") -> None:
        """Write a skill that declares a secret."""
        head = f"---\nname: {name}\ndescription: Does one thing. Use it for that.\nrequired_environment_variables: [{secret}]\n"
        self.write(f"{self.home}/.agents/skills/{name}/SKILL.md", f"{head}{more}---\nDo it.\n")

    def run(
        self,
        code: str,
        arguments: Sequence[str] = (),
        lent: Lent = PLAIN,
        hear: Callable[[str, str], None] | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> Ran:
        """Put Python code into the skill and run it, with consent, as `metier run` does."""
        self.write(f"{self.skill}/lib/code.py", code)
        self.write(f"{self.skill}/scripts/go.sh", f'exec {PYTHON} -S -u /skill/lib/code.py "$@"\n')
        self.approve()
        return self.run_script("scripts/go.sh", arguments, lent, hear, stopped)

    def approve(self) -> None:
        """Say yes to the skill as it lies there, dangerous as it looks: what holds it must hold it all the same."""
        with self.open() as library:
            library.trust(NAME, "approve", reason="it is meant to be", accept_dangerous=True)

    def run_script(
        self,
        script: str,
        arguments: Sequence[str] = (),
        lent: Lent = PLAIN,
        hear: Callable[[str, str], None] | None = None,
        stopped: Callable[[], bool] | None = None,
        *,
        consent: bool = True,
    ) -> Ran:
        """Run a script of the skill as it lies there."""
        with self.open() as library:
            return library.run(
                NAME,
                script,
                arguments,
                consent=consent,
                network=lent.network,
                read=lent.read,
                write=lent.write,
                seconds=lent.seconds,
                hear=hear,
                stopped=stopped,
            )


def jailed(user: str, task: Callable[[Jail], T], config: str = SMALL) -> T:
    """Do something with such a machine, as one of the users."""
    if user == "as root":
        return _within(task, config)
    _warm()
    return as_ordinary(lambda: _within(task, config))


def _within(task: Callable[[Jail], T], config: str) -> T:
    with open_folder() as folder:
        return task(Jail(folder, config))


_WARMED = threading.Event()


def _warm() -> None:
    """Load all that a run needs, once: an ordinary user may not be able to read where it lies."""
    if not _WARMED.is_set():
        _within(lambda jail: jail.run("print('warm')"), SMALL)
        _WARMED.set()


def alive(mark: str) -> list[str]:
    """List processes of this machine that have a word among their arguments."""
    found = []
    for name in os.listdir("/proc"):
        if not re.fullmatch(r"\d+", name) or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                found += [name] if mark.encode() in file.read() else []
        except OSError:
            continue
    return found

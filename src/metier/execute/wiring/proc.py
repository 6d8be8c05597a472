"""The pipes between a run and bubblewrap: both ends of each, and the command line that names them."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import SandboxError
from metier.execute import seccomp
from metier.execute.bubblewrap import HELD, Pipes, arguments, check, options, texts, variables
from metier.execute.stream.proc import Wires

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.execute.bubblewrap import System
    from metier.execute.ends.proc import Ends
    from metier.runs import Cage, Mount

REPORT = "METIER_REPORT"
"""The variable that names the descriptor a report is written to."""


class Wired(NamedTuple):
    """What bubblewrap is started with, and this side's ends."""

    arguments: list[str]
    stdin: int
    stdout: int
    stderr: int
    inherited: tuple[int, ...]
    """What it inherits beyond those three."""
    info: int
    """Where it names the first process inside, and ends."""
    status: int
    """Where it tells the program's exit code, only when the program began."""
    release: int
    """A byte written here lets it begin."""
    wires: Wires


def wire(ends: Ends, cage: Cage, system: System, *, sockets: bool) -> Wired:
    """Make every pipe of a run."""
    check(cage)  # with the sources as they were named: below they are descriptors
    stdin, into = ends.inlet()
    out, stdout = ends.pipe()
    err, stderr = ends.pipe()
    info, info_in = ends.pipe()
    status, status_in = ends.pipe()
    block, release = ends.lock()
    report, report_in = ends.pipe() if cage.reports else (-1, -1)
    if cage.reports:
        cage = cage._replace(environment=(*cage.environment, (REPORT, str(report_in))))
    held = tuple(_held(ends, cage, system))
    given = tuple(ends.text(one.data) for one in (*texts(system), *cage.files))
    filtering = ends.text(_filter(cage.network, sockets))
    pipes = Pipes(info_in, block, filtering, given, status_in, report_in)
    told = ends.text(variables(cage) + _packed(options(cage._replace(mounts=held), system, pipes)))
    command = arguments(cage, system, told)
    inherited = (info_in, status_in, block, filtering, told, *given, *((report_in,) if cage.reports else ()))
    lent = tuple(int(one.source.removeprefix(HELD)) for one in held if one.source.startswith(HELD))
    return Wired(command, stdin, stdout, stderr, (*inherited, *lent), info, status, release, Wires(into, out, err, report))


def _packed(words: list[str]) -> bytes:
    """Spell words as this machine spells its paths, each with an end."""
    try:
        return b"".join(os.fsencode(word) + b"\0" for word in words)
    except UnicodeEncodeError as error:
        raise SandboxError(f"bubblewrap cannot be told: {error}", code="sandbox") from error


def _held(ends: Ends, cage: Cage, system: System) -> Iterator[Mount]:
    """Hold on to what is mounted, where bubblewrap can be handed that. Another would leave the descriptor to the program."""
    # What is seen where it lies was named by its real path, wherever else it is seen.
    real = {mount.source for mount in cage.mounts if mount.source == mount.target}
    for mount in cage.mounts:
        option = "--bind-fd" if mount.writable else "--ro-bind-fd"
        number = ends.place(mount.source, real=mount.source in real)
        yield mount._replace(source=f"{HELD}{number}") if option in system.options else mount


@lru_cache(maxsize=4)
def _filter(network: bool, sockets: bool) -> bytes:  # noqa: FBT001 - the key of a cache
    return seccomp.program(os.uname().machine, network=network, sockets=sockets)

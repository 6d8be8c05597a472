"""The sandbox itself: bubblewrap with a filter of system calls, Landlock, limits, and somebody who watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.execute.bubblewrap import check
from metier.execute.cell.proc import Cell
from metier.execute.ends.proc import Ends
from metier.execute.failing import MARK, failure
from metier.execute.landlock import proc as landlock
from metier.execute.stream.proc import Asked, drive
from metier.execute.system.disk import survey
from metier.execute.wiring.proc import wire
from metier.runs import KILLED, TIMED_OUT, Ended, never

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.execute.bubblewrap import System
    from metier.execute.stream.proc import Finish
    from metier.runs import Cage, Layer


class Bubblewrap:
    """The `Sandbox` that metier has itself. It works as root and as any other user."""

    def __init__(self) -> None:
        """Look at nothing yet."""
        self._system: System | None = None

    def layers(self) -> Sequence[Layer]:
        """Say what it is made of on this machine, and what is missing; a program is really started for that, once."""
        from metier.execute.layers.proc import probed  # a run needs none of it

        return probed()

    def check(self, cage: Cage) -> None:
        """Refuse what a run would refuse before it starts anything: where there is no bubblewrap, or what it cannot be told."""
        self._system = self._system or survey()
        check(cage)

    def run(
        self, cage: Cage, hear: Callable[[str, bytes], None], feed: Callable[[int], bytes] | None = None,
        stopped: Callable[[], bool] = never,
    ) -> Ended:  # fmt: skip
        """Run a program to its end, with nothing of it left behind, whatever happens."""
        system = self._system = self._system or survey()
        with Ends() as ends:
            # Names of sockets that lie in no folder reach as far as the network does; only Landlock can cut them off.
            apart = not cage.network or landlock.abi() >= landlock.SCOPES_FROM
            wired = wire(ends, cage, system, sockets=apart and cage.sockets)
            cell = Cell(cage, wired, ends)
            finish = drive(cell, ends, wired.wires, cage.bounds, Asked(hear, feed, stopped), MARK)
        return _judged(cage, cell, finish, hear)


def _judged(cage: Cage, cell: Cell, finish: Finish, hear: Callable[[str, bytes], None]) -> Ended:
    """Tell a program that ended from a sandbox that could not begin."""
    if cell.code is None and not cell.killed and not finish.stopped:
        raise failure(finish.kept, cage.command)
    if finish.kept:
        hear("err", finish.kept)
    own = cell.code if cell.code is not None else 128 + cell.killed
    code = {"": own, "time": TIMED_OUT}.get(finish.stopped, KILLED)
    return Ended(code, finish.stopped, finish.seconds, finish.report, finish.truncated)

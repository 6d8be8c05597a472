"""A program of a run, with its pipes and its control group: what all runs do alike, in a sandbox or
without.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from metier.errors import SandboxError
from metier.run.io.cgroup import RunCgroup
from metier.run.io.stream import ProgramPipes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.run.io.descriptors import Descriptors
    from metier.run.model import Cage

REPORT_VARIABLE = "METIER_REPORT"
"""The variable that names the descriptor a report is written to."""


class RunProcess:
    """A program that was started for a run, for the run's own thread."""

    def __init__(self, cage: Cage, ends: Descriptors) -> None:
        """Make its pipes; start nothing yet."""
        stdin, into = ends.inlet()
        out, stdout = ends.pipe()
        err, stderr = ends.pipe()
        report, reporting = ends.pipe() if cage.reports else (-1, -1)
        if cage.reports:
            cage = cage._replace(environment=(*cage.environment, (REPORT_VARIABLE, str(reporting))))
        self.pipes = ProgramPipes(into, out, err, report)
        self.streams = (stdin, stdout, stderr)
        """The program's own ends."""
        self.report = reporting
        self.cage = cage
        self._ends = ends
        self._group = RunCgroup((), cage.bounds)
        self._process: subprocess.Popen[bytes] | None = None

    def end(self) -> None:
        """Kill all of it, and wait for it."""
        try:
            if self._process is not None:
                self._kill(self._process)
        finally:
            self._group.remove()

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        raise NotImplementedError

    def _start(
        self, command: Sequence[str], inherited: Sequence[int], code: str, **options: Any
    ) -> tuple[subprocess.Popen[bytes], int]:
        """Start a program in a session of its own; give it, and a descriptor that can be read when
        it has ended.
        """
        stdin, stdout, stderr = self.streams
        try:
            self._process = subprocess.Popen(  # noqa: S603 - one argument is one argument; no shell reads them
                command,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=inherited,
                start_new_session=True,
                **options,
            )
            ended = self._ends.process(self._process.pid)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            # Also a word that this machine's locale cannot spell.
            name = "bubblewrap" if code == "sandbox" else command[0]
            raise SandboxError(f"{name} cannot be started: {error}", code=code) from error
        self._ends.shut(*self.streams, *inherited)
        return self._process, ended

"""The stand-in network as metier sees it: it starts the process that serves, has it serve the
namespace of each try, and reads what that tells.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from metier.errors import SandboxError
from metier.run.io.stand_in import FrameReader, send_frame

if TYPE_CHECKING:
    from collections.abc import Callable

_BEGIN = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from metier.run.io.stand_in import main; main(int(sys.argv[2]))"
)
_READY_SECONDS = 10.0
_ANSWER_SECONDS = 4.0


class StandInProcess:
    """The process that serves one namespace after the other."""

    def __init__(self) -> None:
        """Start it; it takes a moment until it listens, which nobody has to wait for."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            folder = os.path.abspath(__file__).removesuffix("/metier/run/io/network.py")
            command = [find_python(), "-I", "-S", "-B", "-c", _BEGIN, folder, str(theirs.fileno())]
            try:
                self._process = subprocess.Popen(  # noqa: S603 - metier's own code, by its own Python
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                    env={},
                    cwd="/",
                )
            except OSError as error:
                ours.close()
                raise SandboxError(
                    f"the stand-in network cannot be started: {error}", code="sandbox"
                ) from error
        self._told = ours

    def serve(self, pid: int) -> socket.socket:
        """Have it serve the network of a process; give the socket that it tells over."""
        ours, theirs = socket.socketpair()
        network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
        try:
            socket.send_fds(self._told, [b"serve"], [network, theirs.fileno()])
        except OSError:
            ours.close()
            raise
        finally:
            os.close(network)
            theirs.close()
        return ours

    def is_alive(self) -> bool:
        """Tell whether it still serves."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it. What it serves with ends when nobody listens to it any more; it has nothing to
        tidy up, so nobody waits for it to notice.
        """
        self._told.close()  # which is enough for it to end
        # Whoever lets go of it last may be a thread that started a sandbox: such a one may not kill.
        with suppress(PermissionError):
            self._process.kill()
        self._process.wait()


def find_python() -> str:
    """Give a Python that this user can start: metier's own, or else the system's."""
    own = sys.executable
    return own if own and os.access(os.path.realpath(own), os.X_OK) else "/usr/bin/python3"


class ServedNetwork:
    """The network of one try."""

    def __init__(
        self, channel: socket.socket, told: Callable[[dict[str, Any], bytes], None]
    ) -> None:
        """Hand on whatever is told."""
        self.channel = channel
        self._told = told
        self._reader = FrameReader()
        self._kinds: set[str] = set()

    def wait_ready(self, over: Callable[[], bool]) -> None:
        """Wait until everything answers."""
        if not self._wait("ready", _READY_SECONDS, over):
            raise SandboxError("the stand-in network did not come up", code="sandbox-network")

    def take(self) -> bool:
        """Take what has come; false when the other end is gone."""
        try:
            data = self.channel.recv(262_144)
        except (BlockingIOError, TimeoutError):
            return True
        except OSError:
            return False
        for head, body in self._reader.take(data):
            self._kinds.add(head["kind"])
            if head["kind"] == "failed":
                raise SandboxError(
                    f"the stand-in network could not be set up: {head['why']}",
                    code="sandbox-network",
                )
            self._told(head, body)
        return bool(data)

    def listen(self, address: str, port: int, *, listen: bool) -> None:
        """Have somebody listen at a port before a connection to it goes on."""
        self._kinds.discard("listening")
        with suppress(OSError):
            head = {"do": "listen", "address": address, "port": port, "listen": listen}
            send_frame(self.channel, head)
            self._wait("listening", _ANSWER_SECONDS)

    def give_certificate(self, name: str, pem: bytes) -> None:
        """Answer a question for a certificate."""
        with suppress(OSError):
            send_frame(self.channel, {"do": "certificate", "name": name}, pem)

    def finish(self) -> bool:
        """Have everything told that is left to tell; then it ends. False where it did not come to
        its end, and may have had more to tell.
        """
        with suppress(OSError):
            send_frame(self.channel, {"do": "end"})
            self._wait("end", _ANSWER_SECONDS)
        self.channel.close()
        return "end" in self._kinds

    def _wait(self, kind: str, seconds: float, over: Callable[[], bool] = bool) -> bool:
        until = time.monotonic() + seconds
        self.channel.settimeout(0.05)
        while kind not in self._kinds and time.monotonic() < until and not over():
            if not self.take():
                break
        return kind in self._kinds

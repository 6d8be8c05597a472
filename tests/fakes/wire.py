"""A wire on loopback between a program and a server, which can be cut: then it carries nothing in either
direction and says so to nobody, as a network does.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading

LOOK_SECONDS = 0.05
CHUNK_BYTES = 1 << 16


class Wire:
    """Listens on a port of its own, and carries all that comes to another one."""

    def __init__(self, port: int) -> None:
        """Lead to a port of this machine."""
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(LOOK_SECONDS)
        self.port = int(self._listening.getsockname()[1])
        self._is_whole = threading.Event()
        self._is_whole.set()
        self._over = False
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def cut(self) -> None:
        """Carry nothing from now on, also of connections that are open."""
        self._is_whole.clear()

    def mend(self) -> None:
        """Carry again what comes from now on; what was open while it was cut is gone."""
        self._is_whole.set()

    def remove(self) -> None:
        """End it."""
        self._over = True
        for one in self._threads:
            one.join()
        self._listening.close()

    def _accept(self) -> None:
        while not self._over:
            with contextlib.suppress(TimeoutError):
                near, _where = self._listening.accept()
                one = threading.Thread(target=self._carry, args=(near,), daemon=True)
                self._threads.append(one)
                one.start()

    def _carry(self, near: socket.socket) -> None:
        was_cut = False
        with (
            near,
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self._to)) as far,
        ):
            while not self._over:
                if not self._is_whole.is_set():
                    was_cut = True
                    self._is_whole.wait(LOOK_SECONDS)
                    continue
                if was_cut:
                    return
                ready, _none, _other = select.select([near, far], [], [], LOOK_SECONDS)
                for one in ready:
                    if not self._is_whole.is_set():
                        break
                    data = one.recv(CHUNK_BYTES)
                    if not data:
                        return
                    (far if one is near else near).sendall(data)

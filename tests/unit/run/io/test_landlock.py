"""Landlock, laid on threads that end with their test."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable

import pytest

from metier.run.io.landlock import NETWORK_FROM, SCOPES_FROM, landlock_version, restrict_thread

no_network = pytest.mark.skipif(
    landlock_version() < NETWORK_FROM, reason="the kernel's Landlock knows nothing of networks"
)
no_scopes = pytest.mark.skipif(
    landlock_version() < SCOPES_FROM, reason="the kernel's Landlock knows nothing of scopes"
)


def in_a_thread(act: Callable[[], int]) -> int:
    """Give what an act gives on a thread of its own: what is laid on that is gone with it."""
    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(act()))
    thread.start()
    thread.join()
    return results[0]


def refused(act: Callable[[], object]) -> int:
    try:
        act()
    except OSError as error:
        return error.errno or -1
    return 0


def test_nothing_that_a_restricted_thread_starts_gains_privileges() -> None:
    def privileges() -> int:
        restrict_thread(network=True)
        with open("/proc/thread-self/status", encoding="ascii") as status:
            return int(next(line for line in status if line.startswith("NoNewPrivs")).split()[1])

    before = in_a_thread(privileges)

    assert 1 == before


@no_network
@pytest.mark.loopback
@pytest.mark.parametrize(("network", "expected"), [(False, errno.EACCES), (True, 0)])
def test_without_a_network_no_tcp_connection_is_made(network: bool, expected: int) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

        def connect() -> int:
            restrict_thread(network=network)
            with socket.socket() as client:
                return refused(lambda: client.connect(server.getsockname()))

        result = in_a_thread(connect)

    assert expected == result


@no_scopes
@pytest.mark.parametrize("network", [False, True])
def test_abstract_sockets_of_others_are_out_of_reach_with_a_network_too(network: bool) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("")  # an abstract name that the kernel chooses
        server.listen()

        def connect() -> int:
            restrict_thread(network=network)
            with socket.socket(socket.AF_UNIX) as client:
                return refused(lambda: client.connect(server.getsockname()))

        result = in_a_thread(connect)

    assert errno.EPERM == result


@no_scopes
def test_what_is_inside_cannot_signal_what_is_outside() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as outside:

        def signal_it() -> int:
            restrict_thread(network=False)
            return refused(lambda: os.kill(outside.pid, 0))

        from_inside = in_a_thread(signal_it)
        from_outside = refused(lambda: os.kill(outside.pid, 0))

    assert (errno.EPERM, 0) == (from_inside, from_outside)


@no_scopes
def test_what_is_inside_can_be_signalled_from_outside() -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> int:
        restrict_thread(network=False)
        started.append(subprocess.Popen(["cat"], stdin=subprocess.PIPE))
        return 0

    in_a_thread(start)
    with started[0] as inside:
        inside.kill()

    assert -signal.SIGKILL == inside.returncode

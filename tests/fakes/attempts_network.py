"""What a hostile script tries with the network, and with all else that a socket reaches."""

from __future__ import annotations

import socket
from functools import partial

from fakes.attempts import ASKED, content, trying

PATIENCE = 3
"""Seconds for a connection; nothing is measured by it."""


def linked(family: int, kind: int, aim: object) -> object:
    with socket.socket(family, kind) as made:
        made.settimeout(PATIENCE)
        made.connect(aim)  # type: ignore[arg-type]
        made.send(b"planted")
        return "connected"


@trying("network")
def tcp() -> object:
    return linked(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", ASKED["tcp"]))


@trying("network")
def tcp_to_this_machine_s_own_address() -> object:
    return linked(socket.AF_INET, socket.SOCK_STREAM, (ASKED["address"], ASKED["tcp"]))


@trying("abroad")
def tcp_abroad() -> object:
    return linked(socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80))


@trying("network")
def udp() -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        return made.sendto(b"planted", ("127.0.0.1", ASKED["udp"]))


@trying("abroad")
def udp_abroad() -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        return made.sendto(b"planted", ("192.0.2.1", 53))


@trying("abroad")
def a_name() -> object:
    return socket.getaddrinfo("example.com", 80)


@trying("network")
def interfaces() -> object:
    return [
        line.partition(":")[0].strip() for line in str(content("/proc/net/dev")).splitlines()[2:]
    ]


@trying("network")
def an_abstract_socket() -> object:
    return linked(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + ASKED["abstract"])


@trying("network")
def an_abstract_datagram() -> object:
    return linked(socket.AF_UNIX, socket.SOCK_DGRAM, "\0" + ASKED["abstract"] + "-datagram")


for _path in (
    "/run/dbus/system_bus_socket",
    "/run/user/0/bus",
    "/run/user/1000/bus",
    "/run/docker.sock",
    "/tmp/.X11-unix/X0",
):
    trying("network", _path)(partial(linked, socket.AF_UNIX, socket.SOCK_STREAM, _path))


@trying("network")
def a_socket_beside_the_home() -> object:
    return linked(socket.AF_UNIX, socket.SOCK_STREAM, ASKED["named"])


@trying("network")
def netlink() -> object:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).fileno()


@trying("network")
def netlink_for_what_is_encrypted() -> object:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 6).fileno()


@trying("network")
def packets() -> object:
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3).fileno()


@trying("network")
def raw() -> object:
    return socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).fileno()


@trying("network")
def the_host_of_a_virtual_machine() -> object:
    return socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).fileno()


@trying("lent")
def the_socket_in_what_was_lent() -> object:
    return linked(socket.AF_UNIX, socket.SOCK_STREAM, f"{ASKED['write']}/socket")


# --- pairs of sockets, which need no name, and whether they find one all the same

NAMES = {
    "in a folder to read": "{read}/datagram",
    "in a folder to change": "{write}/datagram",
    "that lies nowhere": "\0{abstract}-datagram",
}


def strayed(kind: int, way: str, name: str) -> object:
    """Make a pair, and send from one of it to a stranger."""
    aim = name.format(**ASKED)
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    with one, other:
        if way == "send":
            return one.sendto(b"planted", aim)
        one.connect(aim)
        return one.send(b"planted")


for _kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
    for _way in ("send", "connect"):
        for _where, _aim in NAMES.items():
            trying("pairs", f"{_way} from a pair of kind {int(_kind)} to a name {_where}")(
                partial(strayed, _kind, _way, _aim)
            )
for _kind, _name in ((socket.SOCK_STREAM, "socket"), (socket.SOCK_SEQPACKET, "packets")):
    trying("pairs", f"connect one of a pair of kind {int(_kind)}")(
        partial(strayed, _kind, "connect", f"{{write}}/{_name}")
    )


@trying("pairs", "what pairs are for")
def paired() -> object:
    one, other = socket.socketpair()
    with one, other:
        one.send(b"kept")
        return other.recv(64).decode()

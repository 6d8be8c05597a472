"""The network that a watched program is given, in a process of its own: it enters the program's
network namespace, makes every address its own, and answers whoever calls.

`main` waits for namespaces to serve and copies itself for each: a process can enter one user
namespace only, and starting Python anew for every try would cost more than the try. What it serves
lies in a namespace with nothing but a loopback device, so nothing it could do sends a byte
elsewhere. It says what it sees to metier over a socket, in frames of a JSON head and bytes.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from metier.run.io.stand_in_names import answer_query
from metier.run.io.stand_in_talk import Connection, Room, talk

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN_ADDRESS = "192.168.1.23"
RESOLVER_ADDRESS = "192.168.1.1"
"""Who the program finds itself to be, and whom it asks for names."""
MAX_FRAME_BYTES = 64 * 1024 * 1024
MAX_LISTENERS, MAX_CONNECTIONS = 200, 400
MAX_ALL_KEPT_BYTES = 16 * 1024 * 1024
"""How much is kept of what all connections of one try send."""
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_GET_USER_NAMESPACE = 0xB701
_GET_FLAGS = 0x8913
_UP = 1
_LO_SECONDS = 3.0
_LAST_SECONDS = 1.5
"""How long to wait for the loopback device, and for connections to end whose program has."""
_NEW_LINK_ROUTE, _NEW_ADDRESS = 24, 20
_LOCAL_TABLE, _STATIC, _HOST_SCOPE, _LOCAL_ROUTE = 255, 4, 254, 2
_TCP, _UDP, _ICMP, _ICMP6 = 6, 17, 1, 58
_ECHO = (8, 128)
_OUTGOING = 4
_PACKET_LEVEL, _STATISTICS = 263, 6
_PLAIN_QUERY_BYTES = 12 + 255 + 4 + 64
"""A head, the longest name, what is asked, and the options that resolvers add."""
_STACK_BYTES = 256 * 1024
_PACKET_INFO = 8
"""IP_PKTINFO; Python has no name for it before 3.12."""


# --- frames


def send_frame(channel: socket.socket, head: dict[str, Any], data: bytes = b"") -> None:
    """Send one."""
    text = json.dumps(head).encode()
    channel.sendall(struct.pack("=II", len(text), len(data)) + text + data)


class FrameReader:
    """Puts frames together from what has come."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._held = bytearray()

    def take(self, data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Give those that are whole now."""
        self._held += data
        while len(self._held) >= 8:
            head, body = struct.unpack_from("=II", self._held)
            end = 8 + head + body
            if end > MAX_FRAME_BYTES:
                raise ValueError("a frame is too long")
            if len(self._held) < end:
                return
            yield json.loads(bytes(self._held[8 : 8 + head])), bytes(self._held[8 + head : end])
            del self._held[:end]


# --- the namespace


def enter(network: int) -> None:
    """Enter a network namespace by its descriptor, and the user namespace that it belongs to: in
    that this process may do whatever it likes, and outside nothing any more.
    """
    owner = fcntl.ioctl(network, _GET_USER_NAMESPACE)
    libc = ctypes.CDLL(None, use_errno=True)
    for number, kind in ((owner, _NEW_USER), (network, _NEW_NET)):
        if libc.setns(number, kind):
            raise OSError(ctypes.get_errno(), "setns")
    os.close(owner)


def give_up_rights() -> None:
    """Give up every capability, for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    if libc.capset(struct.pack("=Ii", 0x20080522, 0), bytes(24)):
        raise OSError(ctypes.get_errno(), "capset")


def own_everything() -> bool:
    """Make every address one of this namespace's own; tell whether those of version 6 are too."""
    _wait_for_loopback()
    own = socket.inet_aton(OWN_ADDRESS)
    head = struct.pack("=BBBBi", socket.AF_INET, 32, 0, 0, 1)
    _ask_kernel(_NEW_ADDRESS, head + _attribute(2, own) + _attribute(1, own))
    _ask_kernel(_NEW_LINK_ROUTE, _route(socket.AF_INET) + _attribute(7, own))
    with suppress(OSError):  # so that a port below 1024 can be had on the day it is asked for
        _write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")
    try:
        _ask_kernel(_NEW_LINK_ROUTE, _route(socket.AF_INET6))
    except OSError:
        return False
    return True


def _wait_for_loopback() -> None:
    """Wait until bubblewrap has set its loopback device up: it fails where somebody was quicker."""
    until = time.monotonic() + _LO_SECONDS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        while time.monotonic() < until:
            found = fcntl.ioctl(asked, _GET_FLAGS, struct.pack("16sh22x", b"lo", 0))
            if struct.unpack_from("=h", found, 16)[0] & _UP:
                return
            time.sleep(0.001)
    raise OSError("the loopback device did not come up")


def _route(family: int) -> bytes:
    kind = (family, 0, 0, 0, _LOCAL_TABLE, _STATIC, _HOST_SCOPE, _LOCAL_ROUTE, 0)
    return struct.pack("=BBBBBBBBI", *kind) + _attribute(4, struct.pack("=i", 1))


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data


def _ask_kernel(kind: int, message: bytes) -> None:
    """Send one request by netlink, and hear that it was done."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as asked:
        asked.settimeout(_LO_SECONDS)
        head = struct.pack("=IHHII", 16 + len(message), kind, 0x405, 1, 0)
        asked.send(head + message)
        error = -int(struct.unpack_from("=i", asked.recv(4096), 16)[0])
        if error:
            raise OSError(error, os.strerror(error))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


# --- what is sent where nobody listens


def packet_socket() -> socket.socket | None:
    """Hear the first packet of every connection, and every datagram; nothing where the kernel has
    no such sockets.
    """
    try:
        heard = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    except OSError:
        return None
    # By version and protocol; of TCP only what has SYN and not ACK.
    lines = [
        (0x30, 0, 0, 0), (0x54, 0, 0, 0xF0), (0x15, 0, 7, 0x40),
        (0x30, 0, 0, 9), (0x15, 13, 0, _UDP), (0x15, 12, 0, _ICMP), (0x15, 0, 12, _TCP),
        (0xB1, 0, 0, 0), (0x50, 0, 0, 13), (0x05, 0, 0, 6),
        (0x15, 0, 8, 0x60),
        (0x30, 0, 0, 6), (0x15, 5, 0, _UDP), (0x15, 4, 0, _ICMP6), (0x15, 0, 4, _TCP),
        (0x30, 0, 0, 53), (0x54, 0, 0, 0x12), (0x15, 0, 1, 0x02),
        (0x06, 0, 0, 0x40000), (0x06, 0, 0, 0),
    ]  # fmt: skip
    code = b"".join(struct.pack("=HBBI", *line) for line in lines)
    lines_at = ctypes.create_string_buffer(code)
    program = struct.pack("=HxxxxxxQ", len(lines), ctypes.addressof(lines_at))
    heard.setsockopt(socket.SOL_SOCKET, 26, program)
    heard.settimeout(0)
    return heard


def read_packet(data: bytes) -> tuple[str, str, int, bytes] | None:
    """Give the protocol, the address, the port and what follows the head of a packet."""
    if len(data) < 28:
        return None
    if data[0] >> 4 == 4:
        begin, protocol, aim = (
            (data[0] & 15) * 4,
            data[9],
            socket.inet_ntop(socket.AF_INET, data[16:20]),
        )
    else:
        if len(data) < 48:
            return None
        begin, protocol, aim = 40, data[6], socket.inet_ntop(socket.AF_INET6, data[24:40])
    if len(data) < begin + 8:
        return None
    if protocol in {_ICMP, _ICMP6}:  # that somebody is asked for, and not what the kernel answers
        return ("icmp", aim, 0, data[begin + 8 :]) if data[begin] in _ECHO else None
    source, port = struct.unpack_from("!HH", data, begin)
    if protocol == _UDP:
        # What we answer with goes the other way.
        return None if 53 in {source, port} else ("udp", aim, port, data[begin + 8 :])
    return "tcp", aim, port, b""


# --- serving


class StandIn:
    """Serves one namespace until metier says that it is enough."""

    def __init__(self, channel: socket.socket) -> None:
        """Talk to metier over a socket."""
        self.channel = channel
        self.open: dict[int, Connection] = {}
        self.listeners: dict[int, socket.socket] = {}
        self.version6 = False
        self._speaking, self._accepting = threading.Lock(), threading.Lock()
        self._asked: dict[str, tuple[threading.Event, list[bytes]]] = {}
        self._met: set[tuple[str, str, int]] = set()
        self._count = 0
        self._room = Room(MAX_ALL_KEPT_BYTES)
        self._names: list[socket.socket] = []
        self._packets: socket.socket | None = None
        self._unheard = False

    def say(self, head: dict[str, Any], data: bytes = b"") -> None:
        """Tell metier something."""
        with self._speaking:
            send_frame(self.channel, head, data)

    def certificate(self, name: str) -> bytes:
        """Have metier issue a certificate for a name; nothing where it cannot."""
        event, kept = self._asked.setdefault(name, (threading.Event(), []))
        if not kept:
            self.say({"kind": "certificate", "name": name})
            event.wait(5)
        return kept[0] if kept else b""

    def serve(self) -> None:
        """Set everything up, say so, and go on until the end."""
        self.version6 = own_everything()
        packets = self._packets = packet_socket()
        self._names = [
            one for one in (self._name_socket(v6=False), self._name_socket(v6=True)) if one
        ]
        give_up_rights()
        self.say({"kind": "ready"})
        poll = select.poll()
        by_number = {one.fileno(): one for one in (*self._names, packets, self.channel) if one}
        for number in by_number:
            poll.register(number, select.POLLIN)
        reader = FrameReader()
        while True:
            for number, _event in poll.poll():
                one = by_number[number]
                if one is self.channel:
                    data = self.channel.recv(65536)
                    if not data or not all(self._obey(*frame) for frame in reader.take(data)):
                        return
                elif one is packets:
                    self._hear_packets()
                else:
                    self._answer_name(one)

    def _obey(self, head: dict[str, Any], data: bytes) -> bool:
        """Do what metier says; false at the end."""
        if head["do"] == "listen":
            if self._packets is None:  # else the first packet tells, and more surely
                self._note("tcp", head["address"], head["port"])
            if head["listen"]:
                self.listen(head["port"])
            self.say({"kind": "listening"})
        elif head["do"] == "certificate":
            event, kept = self._asked.setdefault(head["name"], (threading.Event(), []))
            kept.append(data)
            event.set()
        else:
            self._hear_out()
            for one in list(self.open.values()):
                self.finish(one)
            self.say({"kind": "end", "lost": self._lost_packets()})
        return bool(head["do"] != "end")

    def _hear_out(self) -> None:
        """Hear what was sent in the last moment. Who sent it has ended, so each connection does."""
        until = time.monotonic() + _LAST_SECONDS
        while time.monotonic() < until:
            for one in self._names:
                while _is_ready(one):
                    self._answer_name(one)
            while self._packets is not None and _is_ready(self._packets):
                self._hear_packets()
            with self._accepting:
                waiting = any(map(_is_ready, list(self.listeners.values())))
                talking = any(number > 0 for number in list(self.open))
            if not waiting and not talking:
                return
            time.sleep(0.002)

    # --- names

    def _name_socket(self, *, v6: bool) -> socket.socket | None:
        try:
            made = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
            if v6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
            else:
                made.setsockopt(socket.IPPROTO_IP, _PACKET_INFO, 1)
            made.bind(("::" if v6 else "0.0.0.0", 53))  # noqa: S104 - in a namespace of its own
        except OSError:
            return None
        made.settimeout(0)
        return made

    def _answer_name(self, asked: socket.socket) -> None:
        with suppress(OSError):
            data, extra, _flags, who = asked.recvmsg(65536, 256)
            reply = self.resolve(data)
            if len(data) > _PLAIN_QUERY_BYTES or not reply:
                # More than a question: whoever is asked gets to know it.
                for level, _kind, info in extra:
                    four = level == socket.IPPROTO_IP
                    family = socket.AF_INET if four else socket.AF_INET6
                    aim = socket.inet_ntop(family, info[8:12] if four else info[:16])
                    self._note("udp", aim, 53)
                    self._keep_datagram("udp", aim, 53, data)
            # It must come from the address that was asked.
            back = [
                (level, kind, (bytes(4) + info[8:12] + bytes(4)) if level == 0 else info)
                for level, kind, info in extra
            ]
            if reply:
                asked.sendmsg([reply], back, 0, who)

    def resolve(self, query: bytes) -> bytes:
        """Answer a query for a name, and tell metier which."""
        name, kind, address, reply = answer_query(query, version6=self.version6)
        if name:
            head = {"kind": "lookup", "name": name, "type": kind, "addresses": address}
            self.say(head, query[:512])
        return reply

    # --- connections

    def listen(self, port: int) -> None:
        """Listen at a port, where nobody does yet. Who knocks at a thousand doors has the first
        ones shut again, so that there is always one more.
        """
        if port in self.listeners:
            return
        try:
            made = socket.socket(socket.AF_INET6 if self.version6 else socket.AF_INET)
            if self.version6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(("::" if self.version6 else "0.0.0.0", port))  # noqa: S104 - the same
            made.listen(64)
            made.settimeout(0)
        except OSError:  # the program itself does
            return
        while len(self.listeners) >= MAX_LISTENERS:
            oldest = self.listeners.pop(next(iter(self.listeners)))
            with suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)  # who waits at it is woken
        self.listeners[port] = made
        threading.Thread(target=self._accept, args=(port, made), daemon=True).start()

    def _accept(self, number: int, listener: socket.socket) -> None:
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        while self.listeners.get(number) is listener:
            poll.poll()
            # Whoever asks whether all is quiet must not find a connection between two chairs.
            with suppress(OSError), self._accepting:
                made, _peer = listener.accept()
                address, port = made.getsockname()[:2]
                self._count += 1
                self._make_room()
                one = self._connection(self._count, address, port, made)
                self.open[one.number] = one
                threading.Thread(target=self._talk, args=(one,), daemon=True).start()
        listener.close()

    def _make_room(self) -> None:
        """End the connection that has been open longest, where there are too many: what it has sent
        is told, and the next is heard too.
        """
        while len(self.open) >= MAX_CONNECTIONS:
            oldest = self.open.get(next(iter(self.open), 0))
            if oldest is None:
                return
            self.finish(oldest)
            if oldest.stream is not self.channel:
                with suppress(OSError):
                    oldest.stream.shutdown(socket.SHUT_RDWR)

    def _connection(self, number: int, address: str, port: int, made: socket.socket) -> Connection:
        return Connection(number, address.removeprefix("::ffff:"), port, made, self._room)

    def _talk(self, one: Connection) -> None:
        try:
            talk(self, one)
        except (OSError, ValueError) as error:
            one.fault = str(error)
        finally:
            self.finish(one)
            with suppress(OSError):
                one.stream.close()

    def finish(self, one: Connection) -> None:
        """Tell metier what a connection has sent, once."""
        if self.open.pop(one.number, None) is not None:
            head = {"kind": "send", "address": one.address, "port": one.port, "name": one.name}
            self.say({**head, "size": one.size, "sealed": one.sealed}, bytes(one.data) + one.tail)

    # --- packets

    def _hear_packets(self) -> None:
        packets = self._packets
        assert packets is not None
        with suppress(BlockingIOError):
            for _packet in range(64):
                data, where = packets.recvfrom(65536)
                if where[2] != _OUTGOING:  # each is heard twice on a loopback device
                    continue
                found = read_packet(data)
                if found is None or found[1] == "::1" or found[1].startswith("127."):
                    continue  # a program that talks to itself
                protocol, address, port, rest = found
                self._note(protocol, address, port)
                if protocol != "tcp":
                    self._keep_datagram(protocol, address, port, rest)
                elif port not in self.listeners and address != OWN_ADDRESS:
                    # The program answers itself there, or came by another door than connect().
                    # Anywhere else somebody would have heard it.
                    self._say_unheard()

    def _say_unheard(self) -> None:
        """Say, once, that something went where nobody of ours heard it."""
        if not self._unheard:
            self._unheard = True
            self.say({"kind": "unheard"})

    def _lost_packets(self) -> int:
        """Count the packets that came too fast to be heard."""
        if self._packets is None:
            return 0
        found = self._packets.getsockopt(_PACKET_LEVEL, _STATISTICS, 8)
        return int(struct.unpack("=II", found)[1])

    def _note(self, protocol: str, address: str, port: int) -> None:
        key = (protocol, address.removeprefix("::ffff:"), port)
        if key not in self._met and len(self._met) < 10_000:
            self._met.add(key)
            self.say({"kind": "connect", "protocol": protocol, "address": key[1], "port": port})

    def _keep_datagram(self, protocol: str, address: str, port: int, data: bytes) -> None:
        """Join what is sent to one place."""
        number = -(hash((protocol, address, port)) & 0xFFFFFFFF) - 1
        if number not in self.open:
            self._make_room()
            self.open[number] = self._connection(number, address, port, self.channel)
        self.open[number].keep(data)


def _is_ready(one: socket.socket) -> bool:
    poll = select.poll()
    poll.register(one, select.POLLIN)
    return bool(poll.poll(0))


# --- the process


def main(number: int) -> None:
    """Wait for namespaces, and serve each in a copy of this process."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.stack_size(_STACK_BYTES)
    with socket.socket(fileno=number) as told:
        while True:
            word, numbers, _flags, _who = socket.recv_fds(told, 16, 2)
            if not word:
                return
            if os.fork() == 0:
                told.close()
                _serve(*numbers)
            for one in numbers:
                os.close(one)


def _serve(network: int, channel: int) -> None:
    with socket.socket(fileno=channel) as spoken:
        try:
            enter(network)
            os.close(network)
            StandIn(spoken).serve()
        except (OSError, ValueError) as error:
            with suppress(OSError):
                send_frame(spoken, {"kind": "failed", "why": str(error)})
        finally:
            os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))

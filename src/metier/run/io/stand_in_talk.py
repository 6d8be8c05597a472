"""How the stand-in network talks: it takes whatever is sent, keeps the beginning of it, and answers
so that the program goes on. By the port where the other side waits to be greeted, and by the first
bytes everywhere else.
"""

from __future__ import annotations

import os
import re
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import ssl

    from metier.run.io.stand_in_payloads import SeenRequest

CHUNK_BYTES = 262_144
MAX_KEPT_BYTES = 512 * 1024
"""How much of what one connection sends is kept."""
SMALL_KEPT_BYTES = 32 * 1024
"""The same once half of the room for all is used: a lot of noise must not hide what follows it."""
MAX_TAIL_BYTES = 16 * 1024
"""How much is kept of its end, where there was more."""
MAX_HEAD_BYTES = 65_536
MAX_PLAIN_PAUSE = 30.0
_HANDSHAKE = b"\x16\x03"
_METHODS = (
    b"GET ", b"POST ", b"PUT ", b"HEAD ", b"DELETE ", b"PATCH ", b"OPTIONS ", b"PROPFIND ", b"CONNECT ",
)  # fmt: skip
MAIL_PORTS, FILE_PORT, SHELL_PORT, NAME_PORT = frozenset({25, 587, 2525}), 21, 22, 53
BOX_PORT = 143
SEALED_MAIL_PORT, SEALED_BOX_PORT = 465, 993


class Serves(Protocol):
    """What a conversation needs of the stand-in."""

    def say(self, head: dict[str, Any], data: bytes = b"") -> None:
        """Tell metier something."""

    def certificate(self, name: str) -> bytes:
        """Get a certificate for a name, with its key."""

    def resolve(self, query: bytes) -> bytes:
        """Answer a query for a name."""

    def listen(self, port: int) -> None:
        """Listen at a port."""


class Room:
    """How many bytes may still be kept, by all connections together."""

    def __init__(self, left: int) -> None:
        """Begin with so many."""
        self.left = left
        self.half = left // 2


class Connection:
    """One connection, and what has come over it."""

    def __init__(
        self, number: int, address: str, port: int, stream: socket.socket, room: Room
    ) -> None:
        """Keep nothing yet."""
        self._room = room
        self.secure = False
        self.number, self.address, self.port, self.stream = number, address, port, stream
        self.name = ""
        """By which name it was asked for, where it says so itself."""
        self.sealed = False
        """Whether nobody could read what came: it is encrypted, and did not trust our certificate."""
        self.size = 0
        self.data = bytearray()
        self.tail = b""
        self.fault = ""

    def keep(self, data: bytes) -> None:
        """Count bytes, and keep them as long as there is room."""
        self.size += len(data)
        most = MAX_KEPT_BYTES if self._room.left > self._room.half else SMALL_KEPT_BYTES
        more = max(min(most - len(self.data), self._room.left, len(data)), 0)
        self._room.left -= more
        self.data += data[:more]
        if more < len(data):
            self.tail = (self.tail + data[more:])[-MAX_TAIL_BYTES:]

    def read(self, most: int = CHUNK_BYTES) -> bytes:
        """Read what comes next; nothing at the end."""
        data = self.stream.recv(most)
        self.keep(data)
        return data

    def write(self, data: bytes) -> None:
        """Answer."""
        self.stream.sendall(data)


def talk(server: Serves, one: Connection) -> None:
    """Talk to its end."""
    one.stream.settimeout(MAX_PLAIN_PAUSE)
    if one.port in MAIL_PORTS:
        _take_mail(server, one)
    elif one.port == BOX_PORT:
        _keep_mail(one)
    elif one.port == FILE_PORT:
        _take_files(server, one)
    elif one.port == SHELL_PORT:
        one.write(b"SSH-2.0-OpenSSH_9.6p1 Ubuntu-3ubuntu13.5\r\n")
        _drain(one)
    else:
        first = one.stream.recv(16, socket.MSG_PEEK)
        if first.startswith(_HANDSHAKE):
            if not _unseal(server, one):
                return
            if one.port == SEALED_MAIL_PORT:
                _take_mail(server, one)
                return
            if one.port == SEALED_BOX_PORT:
                _keep_mail(one)
                return
        if one.port == NAME_PORT:
            _answer_names(server, one)
        else:
            _answer_requests(server, one)


def _drain(one: Connection) -> None:
    while one.read():
        pass


def _answer_names(server: Serves, one: Connection) -> None:
    held = b""
    while data := one.read():
        held += data
        while len(held) >= 2 and len(held) >= 2 + (size := struct.unpack_from("!H", held)[0]):
            reply = server.resolve(held[2 : 2 + size])
            one.write(struct.pack("!H", len(reply)) + reply)
            held = held[2 + size :]


# --- TLS


def _unseal(server: Serves, one: Connection) -> bool:
    """Answer as whoever is asked for, with a certificate by metier's own authority; false where the
    other side does not trust it, or none can be had.
    """
    import ssl

    def choose(made: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> int | None:
        one.name = (name or "")[:255]
        found = _context_for(server, one.name or one.address)
        if found is None:
            return ssl.ALERT_DESCRIPTION_HANDSHAKE_FAILURE
        made.context = found
        return None

    first = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    first.sni_callback = choose
    head = one.stream.recv(MAX_HEAD_BYTES, socket.MSG_PEEK)
    try:
        # Who asks for no name is not called back.
        named = _context_for(server, one.address) if _asks_for_none(head) else None
        one.stream = (named or first).wrap_socket(one.stream, server_side=True)
    except (OSError, ValueError):
        one.sealed = True
        one.keep(head)
        return False
    one.secure = True
    return True


def _asks_for_none(head: bytes) -> bool:
    """Tell whether a greeting names nobody: the extension for that is number 0, of kind 0."""
    return b"\0\0" not in head[43:] or not any(
        head[at : at + 2] == b"\0\0" and _is_name(head, at) for at in range(43, len(head) - 9)
    )


def _is_name(head: bytes, at: int) -> bool:
    whole, listed, kind, size = struct.unpack_from("!HHBH", head, at + 2)
    return (kind, whole, listed) == (0, size + 5, size + 3)


def _context_for(server: Serves, name: str) -> ssl.SSLContext | None:
    import ssl

    pem = server.certificate(name)
    if not pem:
        return None
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.set_alpn_protocols(["http/1.1"])
    number = os.memfd_create("certificate")
    try:
        os.write(number, pem)
        made.load_cert_chain(f"/proc/self/fd/{number}")
    finally:
        os.close(number)
    return made


# --- HTTP


def _answer_requests(server: Serves, one: Connection) -> None:
    """Answer one request after the other; whatever is none is taken and not answered."""
    from metier.run.io.stand_in_payloads import SeenRequest, answer_request  # most tries ask nobody

    held = b""
    while True:
        while b"\r\n\r\n" not in held:
            data = one.read()
            held += data
            endless = len(held) > MAX_HEAD_BYTES and b"\r\n\r\n" not in held
            if not data or endless or not held.startswith(_METHODS):
                if data:
                    _drain(one)
                return
        head, _end, held = held.partition(b"\r\n\r\n")
        request = SeenRequest.read(head)
        one.name = request.host or one.name
        if request.headers.get("expect", "").lower() == "100-continue":
            one.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if request.headers.get("upgrade", "").lower() == "websocket":
            _take_web_socket(one, request)
            return
        body, held = _read_body(one, request, held)
        answer = answer_request(request, body, one.name or one.address)
        if answer.note:
            scheme, usual = ("https", 443) if one.secure else ("http", 80)
            port = "" if one.port == usual else f":{one.port}"
            rest = f"{port}{request.target}"[:2000]
            told = {
                "kind": "receive",
                "start": f"{scheme}://",
                "address": one.address,
                "rest": rest,
            }
            server.say(told, answer.body[:65536])
        one.write(answer.as_bytes(request.method))
        if request.headers.get("connection", "").lower() == "close" or answer.close:
            with suppress(OSError):
                one.stream.shutdown(socket.SHUT_WR)
            return


def _read_body(one: Connection, request: SeenRequest, held: bytes) -> tuple[bytes, bytes]:
    """Read what belongs to a request; give the beginning of it, and what came after it."""
    if request.headers.get("transfer-encoding", "").lower() == "chunked":
        tail = held
        while not tail.endswith(b"0\r\n\r\n"):
            data = one.read()
            if not data:
                break
            held = (held + data)[:MAX_HEAD_BYTES]
            tail = (tail + data)[-16:]
        return held, b""
    length = request.headers.get("content-length", "")
    left = int(length) if length.isdigit() else 0
    body, held = held[:left], held[left:]
    got = len(body)
    while got < left:
        data = one.read(min(CHUNK_BYTES, left - got))
        if not data:
            break
        got += len(data)
        if len(body) < MAX_HEAD_BYTES:
            body += data
    return body, held


_CLOSES = 8
_FRAMES = {1: b'\x81\x0b{"ok":true}', 2: b'\x81\x0b{"ok":true}', _CLOSES: b"\x88\0", 9: b"\x8a\0"}
"""What is said to a text, to bytes, to a farewell and to a ping."""


def _take_web_socket(one: Connection, request: SeenRequest) -> None:
    """Agree to a web socket, and take its messages without their masks."""
    from base64 import b64encode
    from hashlib import sha1

    key = request.headers.get("sec-websocket-key", "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = b64encode(sha1(key.encode()).digest())  # noqa: S324 - the protocol says so
    one.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )
    held = b""
    while data := one.stream.recv(CHUNK_BYTES):
        held += data
        while len(held) >= 14 or (len(held) >= 6 and held[1] & 127 < 126):
            short = held[1] & 127
            size = (
                short if short < 126 else int.from_bytes(held[2 : 4 if short == 126 else 10], "big")
            )
            at = {126: 4, 127: 10}.get(short, 2)
            mask = held[at : at + 4] if held[1] & 128 else bytes(4)
            at += 4 if held[1] & 128 else 0
            if size > MAX_KEPT_BYTES:
                _drain(one)
                return
            if len(held) < at + size:
                break
            one.keep(bytes(byte ^ mask[n % 4] for n, byte in enumerate(held[at : at + size])))
            kind = held[0] & 15
            held = held[at + size :]
            one.write(_FRAMES.get(kind, b""))
            if kind == _CLOSES:
                return


# --- mail and files


_MAIL_GREETING = b"220 mx1.example.net ESMTP ready\r\n"


def _lines(one: Connection) -> Any:
    held = b""
    while data := one.read():
        held += data
        while b"\n" in held:
            line, _end, held = held.partition(b"\n")
            yield line.rstrip(b"\r")
        held = held[-MAX_HEAD_BYTES:]


_MAIL_WORDS = {
    b"DATA": b"354 End data with <CR><LF>.<CR><LF>\r\n", b"QUIT": b"221 2.0.0 Bye\r\n",
    b"STAR": b"220 2.0.0 Ready to start TLS\r\n",
}  # fmt: skip


def _take_mail(server: Serves, one: Connection, greeting: bytes = _MAIL_GREETING) -> None:
    """Take a mail, as any server would."""
    one.write(greeting)
    seals = b"" if one.secure else b"250-STARTTLS\r\n"
    known = {
        **_MAIL_WORDS,
        b"EHLO": b"250-mx1.example.net\r\n%s250-8BITMIME\r\n250 AUTH PLAIN LOGIN\r\n" % seals,
    }
    leaves = {b"QUIT", b"STAR"}
    if one.secure:  # once is enough: each time more would be a conversation within the last
        known[b"STAR"] = b"503 5.5.1 TLS is active\r\n"
        leaves = {b"QUIT"}
    text = waits = False
    for line in _lines(one):
        word = line[:4].upper()
        if text:
            text = line != b"."
            if not text:
                one.write(b"250 2.0.0 Ok: queued as 4Q2kXz1h\r\n")
        elif waits:
            waits = False
            one.write(b"235 2.7.0 Authentication successful\r\n")
        elif word == b"AUTH":
            waits = len(line.split()) < 3
            one.write(b"334 \r\n" if waits else b"235 2.7.0 Authentication successful\r\n")
        else:
            one.write(known.get(word, b"250 2.1.0 Ok\r\n"))
            text = word == b"DATA"
            if word in leaves:
                break
    else:
        return
    if word == b"STAR" and _unseal(server, one):
        _take_mail(server, one, b"")


_ANNOUNCED = re.compile(rb"\{(\d{1,9})\}$")
_BOX_WORDS = {
    b"CAPABILITY": b"* CAPABILITY IMAP4REV1\r\n", b"SELECT": b"* 0 EXISTS\r\n", b"EXAMINE": b"* 0 EXISTS\r\n",
    b"SEARCH": b"* SEARCH\r\n", b"LIST": b'* LIST () "/" "INBOX"\r\n', b"LOGOUT": b"* BYE\r\n",
}  # fmt: skip


def _keep_mail(one: Connection) -> None:
    """Keep a box of mail that is empty, by IMAP; what is put into it is taken."""
    one.write(b"* OK IMAP4rev1 ready\r\n")
    tag, left = b"", 0
    for line in _lines(one):
        if left > 0:  # a mail, of as many bytes as were announced and the end of a line
            left -= len(line) + 2
            if left <= 0:
                one.write(tag + b" OK done\r\n")
            continue
        tag, _gap, rest = line.partition(b" ")
        announced = _ANNOUNCED.search(line)
        if announced:
            left = int(announced[1]) + 2
            one.write(b"+ Go on\r\n")
            continue
        word = rest.split(b" ")[0].upper()
        one.write(_BOX_WORDS.get(word, b"") + tag + b" OK done\r\n")
        if word == b"LOGOUT":
            return


_FILE_WORDS = {
    b"USER": b"331 Password required\r\n", b"PASS": b"230 Logged in\r\n", b"SYST": b"215 UNIX Type: L8\r\n",
    b"PWD": b'257 "/"\r\n', b"TYPE": b"200 Ok\r\n", b"CWD": b"250 Ok\r\n", b"MKD": b'257 "/"\r\n',
    b"STOR": b"150 Go on\r\n226 Done\r\n", b"APPE": b"150 Go on\r\n226 Done\r\n", b"QUIT": b"221 Bye\r\n",
    b"PBSZ": b"200 Ok\r\n", b"PROT": b"200 Ok\r\n", b"NOOP": b"200 Ok\r\n",
}  # fmt: skip
_FILE_DATA_PORT = 40_021


def _take_files(
    server: Serves, one: Connection, greeting: bytes = b"220 FTP server ready\r\n"
) -> None:
    """Take files by FTP; they come over connections of their own."""
    one.write(greeting)
    for line in _lines(one):
        word = line.split(b" ")[0].upper()
        if word in {b"EPSV", b"PASV"}:
            server.listen(_FILE_DATA_PORT)
            high, low = divmod(_FILE_DATA_PORT, 256)
            numbers = ",".join((*one.address.split("."), str(high), str(low)))
            if word == b"EPSV":
                one.write(
                    f"229 Entering Extended Passive Mode (|||{_FILE_DATA_PORT}|)\r\n".encode()
                )
            else:
                one.write(f"227 Entering Passive Mode ({numbers})\r\n".encode())
        elif word == b"AUTH" and not one.secure:
            one.write(b"234 Proceed with negotiation\r\n")
            if _unseal(server, one):
                _take_files(server, one, b"")
            return
        else:
            one.write(_FILE_WORDS.get(word, b"502 Not implemented\r\n"))
        if word == b"QUIT":
            return

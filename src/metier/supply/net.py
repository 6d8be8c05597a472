"""A small HTTP client for strangers: every hop is judged, the address that was judged is the one connected to, all is limited.

It sends no credentials, no cookies and no referrer, uses no proxy, and asks for nothing but the bytes as they are.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import socket
import ssl
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError, RefusedError, SourceError
from metier.supply.addresses import is_public
from metier.supply.paths import shown
from metier.supply.unpack.squeezed import loosened
from metier.supply.urls import Url, harmless, joined, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from metier.ports import Hands
    from metier.settings.tables import Supply

    Resolve = Callable[[str, int], "list[str]"]
    Dial = Callable[[str, int, float], socket.socket]

WINDOW = 1 << 16
MOST_HEADERS = 256 * 1024
MOST_PAGE = 8 * 1024 * 1024
"""Of what is read into memory: an index, a document."""
_MOVED = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})


class Reply(NamedTuple):
    """An answer that was read whole."""

    url: str
    """Where it came from in the end."""
    status: int
    headers: Mapping[str, str]
    body: bytes


class Saved(NamedTuple):
    """A file that was written while it came in."""

    url: str
    size: int
    sha256: str
    headers: Mapping[str, str]


class Answer(NamedTuple):
    """An answer whose bytes are still coming."""

    url: Url
    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]


def resolved(host: str, port: int) -> list[str]:
    """Ask the system for every address of a host."""
    return list(dict.fromkeys(str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def dialled(address: str, port: int, seconds: float) -> socket.socket:
    """Connect to an address."""
    return socket.create_connection((address, port), timeout=seconds)


class Client:
    """Fetches over one stretch of time: everything that it is asked for has to be there before its limit."""

    def __init__(
        self, limits: Supply, *, named: Iterable[str] = (), seconds: float | None = None, resolve: Resolve = resolved,
        dial: Dial = dialled, clock: Callable[[], float] = time.monotonic,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    ) -> None:  # fmt: skip
        """Know whom the user named: `named` are hosts, with their ports where those are not the usual ones."""
        self.limits, self.named, self._led = limits, frozenset(host.lower() for host in named), set[str]()
        self._hosts = frozenset(host.lower() for host in limits.hosts)
        self._private = frozenset(host.lower() for host in limits.private_hosts)
        self._resolve, self._dial, self._clock, self._tls = resolve, dial, clock, tls
        self._limit = clock() + (limits.seconds if seconds is None else seconds)

    # --- what others ask for

    def get(self, url: str, *, most: int | None = None, method: str = "GET") -> Reply:
        """Fetch a page into memory."""
        most = min(MOST_PAGE if most is None else most, self.limits.download_bytes)
        with self.asked(url, most=most, method=method) as answer:
            return Reply(str(answer.url), answer.status, answer.headers, b"".join(answer.chunks))

    def save(self, url: str, path: str, hands: Hands, *, most: int | None = None) -> Saved:
        """Fetch a file onto the disk, hashing it on the way."""
        with self.asked(url, most=self.limits.download_bytes if most is None else most) as answer:
            found = _Hashed(answer.chunks)
            hands.write(path, found, 0o600)
            return Saved(str(answer.url), found.size, found.hash.hexdigest(), answer.headers)

    @contextmanager
    def asked(self, url: str, *, most: int, method: str = "GET") -> Iterator[Answer]:
        """Give the answer at the end of however many redirections are allowed; only a success is one."""
        at = parsed(url)
        self._check_named(at)
        for _hop in range(self.limits.redirects + 1):
            with self._hop(at, most, method) as answer:
                if answer.status not in _MOVED:
                    _check_status(answer)
                    yield answer
                    return
                at = self._next(at, answer.headers.get("location", ""))
        allowed = f"supply.redirects allows {self.limits.redirects}"
        raise RefusedError(f"{harmless(url)} redirects too often", hint=allowed, code="redirect")

    # --- whom it talks to

    def _check_named(self, url: Url) -> None:
        # Whom a host that was named redirects to may be asked for more: an index that has moved is relative to its new place.
        allowed = self._hosts or self.named | self._led
        if url.place not in allowed:
            hint = "supply.hosts lists those that may be reached" if self._hosts else "nobody named it; supply.hosts can"
            raise RefusedError(f"{shown(url.place)} may not be reached", hint=hint, code="host")
        if url.scheme != "https" and url.place not in self._private:
            raise RefusedError(f"{shown(url.place)} is asked without encryption", code="host",
                               hint="write https://; a host of your own is named in supply.private_hosts")  # fmt: skip

    def _next(self, url: Url, location: str) -> Url:
        if not location:
            raise SourceError(f"{url.shown} redirects nowhere", hint="the site is broken", code="malformed")
        aim = joined(url, location)
        if aim.scheme != url.scheme and (aim.scheme != "https" or url.scheme != "http"):
            raise RefusedError(f"{shown(url.place)} redirects to plain http", hint="nothing was sent there", code="redirect")
        if self._hosts and aim.place not in self._hosts:
            raise RefusedError(f"{shown(url.place)} redirects to {shown(aim.place)}", hint="supply.hosts has it not", code="host")
        if aim.place in self._private and aim.place not in self.named and url.place not in self._private:
            what = f"{shown(url.place)} redirects into a private network"
            raise RefusedError(what, hint="nothing was sent there", code="private-address")
        if aim.scheme != "https" and aim.place not in self._private:
            raise RefusedError(f"{shown(url.place)} redirects to plain http", hint="nothing was sent there", code="redirect")
        self._led.add(aim.place)
        return aim

    def _addresses(self, url: Url) -> list[str]:
        """Give the addresses of a host, every one of them judged: one that is private is enough to refuse."""
        found = self._looked_up(url)
        if not found:
            raise SourceError(f"{shown(url.host)} has no address", hint="check the name", code="unreachable")
        if url.place not in self._private:
            closed = next((address for address in found if not is_public(address)), None)
            if closed is not None:
                hint = "supply.private_hosts lists hosts that may be reached all the same"
                raise RefusedError(f"{shown(url.host)} is {shown(closed)}, a private address", hint=hint, code="private-address")
        return found

    def _looked_up(self, url: Url) -> list[str]:
        """Resolve a name within the time there is: the system's own resolver knows no limit, so it is left behind."""
        found: list[list[str]] = []
        failed: list[Exception] = []

        def work() -> None:
            try:
                found.append(self._resolve(url.host, url.port))
            except Exception as error:  # noqa: BLE001 - handed to the thread that waits
                failed.append(error)

        thread = threading.Thread(target=work, name="metier-resolve", daemon=True)
        thread.start()
        thread.join(self._left())
        if failed:
            raise _unreachable(url, failed[0]) from failed[0]
        if not found:
            raise _late(url)
        return found[0]

    def _left(self) -> float:
        left = self._limit - self._clock()
        if left <= 0:
            raise SourceError("the time for this fetch is over", hint="supply.seconds says how long it may take", code="timeout")
        return left

    # --- one hop

    @contextmanager
    def _hop(self, url: Url, most: int, method: str) -> Iterator[Answer]:
        connection = self._connected(url)
        try:
            wire = _Wire(connection, self._left)
            response = http.client.HTTPResponse(wire, method=method)  # type: ignore[arg-type]
            try:
                connection.settimeout(self._left())
                connection.sendall(_request(url, method))
                response.begin()
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise _broken(url, error) from error
            headers = _headers(response)
            wire.most = MOST_HEADERS + 2 * most + WINDOW
            yield Answer(url, response.status, headers, self._body(url, response, headers, most))
        finally:
            connection.close()

    def _connected(self, url: Url) -> socket.socket:
        last: Exception | None = None
        addresses = self._addresses(url)
        for at, address in enumerate(addresses):
            try:
                # One that swallows everything must not use up the time of the others.
                plain = self._dial(address, url.port, self._left() / (len(addresses) - at))
            except OSError as error:
                last = error
                continue
            try:
                plain.settimeout(self._left())
                return self._tls().wrap_socket(plain, server_hostname=url.host) if url.scheme == "https" else plain
            except (OSError, ValueError) as error:
                plain.close()
                last = error
            except BaseException:
                plain.close()
                raise
        raise _broken(url, last or OSError("no answer"))

    def _body(self, url: Url, response: http.client.HTTPResponse, headers: Mapping[str, str], most: int) -> Iterator[bytes]:
        said = headers.get("content-length", "")
        if said.isascii() and said.isdecimal() and len(said) < 19 and int(said) > most:
            raise _too_large(url, most)
        encoding, chunks = headers.get("content-encoding", "identity").strip().lower(), self._raw(url, response, most)
        if encoding in {"gzip", "x-gzip"}:
            chunks = loosened("gzip", chunks, self.limits)
        elif encoding not in {"identity", ""}:
            raise SourceError(f"{shown(url.place)} packs what it sends", hint="it was asked for plain bytes", code="malformed")
        count = 0
        for chunk in chunks:
            count += len(chunk)
            if count > most:
                raise _too_large(url, most)
            yield chunk

    def _raw(self, url: Url, response: http.client.HTTPResponse, most: int) -> Iterator[bytes]:
        """Give the bytes as sent, as they come; an answer that is shorter than it said is broken."""
        expected, count = response.length, 0
        try:
            while chunk := response.read1(WINDOW):
                count += len(chunk)
                if count > most:
                    raise _too_large(url, most)
                yield chunk
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _broken(url, error) from error
        if expected is not None and count < expected:
            raise SourceError(f"{shown(url.place)} broke off", hint="try again", code="malformed")


class _Wire(io.RawIOBase):
    """A socket that is read against one limit of time for all reads together, and of bytes."""

    def __init__(self, connection: socket.socket, left: Callable[[], float]) -> None:
        """Allow as much as headers may take."""
        self.connection, self.left, self.most = connection, left, MOST_HEADERS

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Stand in for the socket where a response wants a file."""
        return io.BufferedReader(self, 8192)

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Wait for bytes as long as there is time."""
        self.connection.settimeout(self.left())
        count = self.connection.recv_into(buffer)
        self.most -= count
        if self.most < 0:
            raise RefusedError("an answer has too many bytes", hint="the site is broken or hostile", code="too-large")
        return count


class _Hashed:
    """Bytes on their way to the disk."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        """Count from nothing."""
        self.chunks, self.size, self.hash = chunks, 0, hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        """Hand them on."""
        for chunk in self.chunks:
            self.size += len(chunk)
            self.hash.update(chunk)
            yield chunk


def _request(url: Url, method: str) -> bytes:
    lines = (f"{method} {url.target} HTTP/1.1", f"Host: {url.place}", "User-Agent: metier", "Accept: */*",
             "Accept-Encoding: identity", "Connection: close", "", "")  # fmt: skip
    return "\r\n".join(lines).encode("ascii")


def _headers(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in response.getheaders()}


def _check_status(answer: Answer) -> None:
    if answer.status in _GONE:
        raise SourceError(f"{answer.url.shown} does not exist", hint="check the address", code="not-found")
    if not 200 <= answer.status < 300 or answer.status in {204, 206}:
        hint = "it wants to know who asks, and metier never says" if answer.status in {401, 403} else "try again later"
        raise SourceError(f"{shown(answer.url.place)} answers {answer.status}", hint=hint, code="unreachable")


def _late(url: Url) -> SourceError:
    return SourceError(f"{shown(url.place)} did not answer in time", hint="supply.seconds says how long to wait", code="timeout")


def _unreachable(url: Url, error: Exception) -> SourceError:
    return SourceError(f"{shown(url.place)} cannot be reached: {shown(str(error))}", hint="check the name", code="unreachable")


def _broken(url: Url, error: Exception) -> MetierError:
    if isinstance(error, TimeoutError):
        return _late(url)
    if isinstance(error, http.client.HTTPException | ValueError) and not isinstance(error, OSError):
        return SourceError(f"{shown(url.place)} does not speak HTTP: {shown(str(error))}", hint="check it", code="malformed")
    return _unreachable(url, error)


def _too_large(url: Url, most: int) -> RefusedError:
    return RefusedError(f"{url.shown} has more than {most:,} bytes", hint="see supply.download_bytes", code="too-large")

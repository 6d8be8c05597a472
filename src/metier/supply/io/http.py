"""A small HTTP client for strangers: every hop is judged, the address that was judged is the one
connected to, all is limited.

It sends no cookies and no referrer, no credentials but those that a caller has for the very host,
and asks for nothing but the bytes as they are. Where the environment names a proxy, that one looks
names up and connects: then addresses that are written out are still judged, and what a name leads to
is not.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import ipaddress
import json
import shlex
import socket
import ssl
import threading
import time
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import ConfigError, MetierError, RefusedError, SourceError
from metier.settings.model import SupplySettings
from metier.supply.archives.compression import decompress
from metier.supply.archives.limits import WINDOW_BYTES
from metier.supply.safe_names import printable
from metier.supply.sources.addresses import Url, is_public, join_url, parse_url, url_for_message
from metier.supply.sources.oci_names import is_this_machine
from metier.supply.sources.proxies import check_unresolved, proxy_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from metier.ports import DiskCalls
    from metier.settings.model import JudgeSettings
    from metier.supply.io.quarantine import Progress
    from metier.supply.model import Chunks
    from metier.supply.sources.proxies import Proxy

    Resolve = Callable[[str, int], Sequence[str]]
    Dial = Callable[[str, int, float], socket.socket]

MAX_HEADER_BYTES = 256 * 1024
MAX_PAGE_BYTES = 8 * 1024 * 1024
"""Of what is read into memory: an index, a document."""
_HEADERS = "User-Agent: metier\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n"
_ANYTHING = {"Accept": "*/*"}
_MOVED = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})
NO_ANSWER_HINT = "nothing answers there; see whether it is running, then try again"


class HttpReply(NamedTuple):
    """An answer that was read whole."""

    url: str
    """Where it came from in the end."""
    status: int
    headers: Mapping[str, str]
    body: bytes


class SavedFile(NamedTuple):
    """A file that was written while it came in."""

    url: str
    size: int
    sha256: str
    headers: Mapping[str, str]


class HttpAnswer(NamedTuple):
    """An answer whose bytes are still coming."""

    url: Url
    status: int
    headers: Mapping[str, str]
    chunks: Chunks


def resolve_host(host: str, port: int) -> list[str]:
    """Ask the system for every address of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(where[0]) for *_rest, where in found))


def connect(address: str, port: int, seconds: float) -> socket.socket:
    """Connect to an address."""
    return socket.create_connection((address, port), timeout=seconds)


class HttpClient:
    """Fetches over one stretch of time: everything that it is asked for has to be there before its
    limit.
    """

    def __init__(  # noqa: PLR0913 - what a test puts in the place of the world
        self,
        limits: SupplySettings,
        *,
        named: Iterable[str] = (),
        seconds: float | None = None,
        env: Mapping[str, str] = MappingProxyType({}),
        resolve: Resolve = resolve_host,
        dial: Dial = connect,
        clock: Callable[[], float] = time.monotonic,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    ) -> None:
        """Know whom the user named: `named` are hosts, with their ports where those are not the
        usual ones. `env` may name a proxy.
        """
        self._env = env
        self.limits, self.named, self._led = (
            limits,
            frozenset(host.lower() for host in named),
            set[str](),
        )
        self._hosts = frozenset(host.lower() for host in limits.hosts)
        self._private = frozenset(host.lower() for host in limits.private_hosts)
        self._resolve = resolve
        self._dial = dial
        self._clock = clock
        self._tls = tls
        self._limit = clock() + (limits.seconds if seconds is None else seconds)
        self.progress: Progress = lambda _what, _count, _total: None
        """Told how many bytes of a file have come, and of how many where that is known."""

    # --- what others ask for

    def get(self, url: str, *, most: int | None = None, method: str = "GET") -> HttpReply:
        """Fetch a page into memory."""
        most = min(MAX_PAGE_BYTES if most is None else most, self.limits.download_bytes)
        with self.asked(url, most=most, method=method) as answer:
            return HttpReply(
                str(answer.url), answer.status, answer.headers, b"".join(answer.chunks)
            )

    def save(self, url: str, path: str, hands: DiskCalls, *, most: int | None = None) -> SavedFile:
        """Fetch a file onto the disk, hashing it on the way."""
        with self.asked(url, most=self.limits.download_bytes if most is None else most) as answer:
            said = answer.headers.get("content-length", "")
            total = int(said) if said.isascii() and said.isdecimal() and len(said) < 19 else 0
            found = _Hashed(self._told(answer.chunks, total))
            hands.write(path, found, 0o600)
            return SavedFile(str(answer.url), found.size, found.hash.hexdigest(), answer.headers)

    def _told(self, chunks: Chunks, total: int) -> Chunks:
        count = 0
        for chunk in chunks:
            count += len(chunk)
            self.progress("fetched", count, max(total, count) if total else 0)
            yield chunk

    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, most: int = MAX_PAGE_BYTES
    ) -> HttpReply:
        """Send a body to exactly the address that is named, and read the answer into memory. No
        redirection is followed: what is sent, and the key that goes with it, is for nobody else.
        """
        with self.posted(url, body, headers, most=most) as answer:
            if answer.status != http.client.OK:
                raise SourceError(
                    f"{printable(answer.url.place)} answers {answer.status}",
                    hint="check the address, the key and the model",
                    code="unreachable",
                )
            return HttpReply(
                str(answer.url), answer.status, answer.headers, b"".join(answer.chunks)
            )

    @contextmanager
    def posted(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        most: int,
        method: str = "POST",
    ) -> Iterator[HttpAnswer]:
        """Give the answer to a body, whatever its status, as it comes. Nothing that leads elsewhere
        is one.
        """
        at = parse_url(url)
        self._check_named(at)
        with self._hop(at, most, method, body, headers) as answer:
            if answer.status in _MOVED:
                raise _away(at, "elsewhere", "redirect", "name the address that it leads to")
            yield answer

    @contextmanager
    def asked(self, url: str, *, most: int, method: str = "GET") -> Iterator[HttpAnswer]:
        """Give the answer at the end of however many redirections are allowed; only a success is
        one.
        """
        with self.exchanged(url, most=most, method=method) as answer:
            if answer.status in _GONE:
                raise SourceError(
                    f"{answer.url.shown} does not exist",
                    hint="check the address",
                    code="not-found",
                )
            if not 200 <= answer.status < 300 or answer.status in {204, 206}:
                closed = answer.status in {401, 403}
                raise SourceError(
                    f"{printable(answer.url.place)} answers {answer.status}",
                    hint="it requires a login, which metier doesn't support"
                    if closed
                    else "try again later",
                    code="unreachable",
                )
            yield answer

    @contextmanager
    def exchanged(
        self,
        url: str,
        *,
        most: int,
        method: str = "GET",
        body: bytes = b"",
        headers: Mapping[str, str] = MappingProxyType({}),
        follow: bool = True,
    ) -> Iterator[HttpAnswer]:
        """Give whatever is answered at the end of however many redirections are allowed. The header
        that lets one in goes to the host that it is for, and to none that it redirects to.
        """
        at = parse_url(url)
        self._check_named(at)
        for _hop in range(self.limits.redirects + 1):
            with self._hop(at, most, method, body, headers) as answer:
                if answer.status not in _MOVED:
                    yield answer
                    return
                if not follow:
                    raise _away(at, "elsewhere", "redirect")
                after = self.led_to(at, answer.headers.get("location", ""))
                if (after.scheme, after.place) != (at.scheme, at.place):
                    headers = {
                        name: value for name, value in headers.items() if name != "Authorization"
                    }
                at = after
        allowed = f"supply.redirects allows {self.limits.redirects}"
        raise RefusedError(
            f"{url_for_message(url)} redirects too often", hint=allowed, code="redirect"
        )

    # --- whom it talks to

    def _check_named(self, url: Url) -> None:
        # Whom a host that was named redirects to may be asked for more: an index that has moved is
        # relative to its new place.
        allowed = self._hosts or self.named | self._led
        if url.place not in allowed:
            hint = (
                "supply.hosts lists those that may be reached"
                if self._hosts
                else "add it to supply.hosts to allow it"
            )
            raise RefusedError(
                f"{printable(url.place)} is not an allowed host", hint=hint, code="host"
            )
        if url.scheme != "https" and url.place not in self._private:
            raise RefusedError(
                f"{printable(url.place)} would be contacted without encryption",
                code="host",
                hint=self._how_to_allow(url),
            )

    def _how_to_allow(self, url: Url) -> str:
        if not is_this_machine(url.host):
            return "write https://; a host of your own is named in supply.private_hosts"
        hosts = json.dumps(sorted({*self._private, url.place}))
        return f"allow it: metier config set supply.private_hosts {shlex.quote(hosts)}"

    def led_to(self, url: Url, location: str) -> Url:
        """Give the address that an answer leads to, and allow its host to be asked; refuse one that
        leads where nobody may.
        """
        if not location:
            raise SourceError(
                f"{url.shown} redirects nowhere", hint="the site is broken", code="malformed"
            )
        aim = join_url(url, location)
        plain = _away(url, "to plain http", "redirect")
        if aim.scheme != url.scheme and (aim.scheme != "https" or url.scheme != "http"):
            raise plain
        if self._hosts and aim.place not in self._hosts:
            raise _away(url, f"to {printable(aim.place)}", "host", "it is not in supply.hosts")
        if aim.place in self._private:
            if aim.place not in self.named and url.place not in self._private:
                raise _away(url, "into a private network", "private-address")
        elif aim.scheme != "https":
            raise plain
        self._led.add(aim.place)
        return aim

    def _addresses(self, url: Url) -> Sequence[str]:
        """Give the addresses of a host, every one of them judged: one that is private is enough to
        refuse.
        """
        found = self._looked_up(url)
        if not found:
            raise SourceError(
                f"{printable(url.host)} has no address", hint="check the name", code="unreachable"
            )
        if url.place not in self._private:
            closed = next((address for address in found if not is_public(address)), None)
            if closed is not None:
                hint = "supply.private_hosts lists hosts that may be reached all the same"
                raise RefusedError(
                    f"{printable(url.host)} is {printable(closed)}, a private address",
                    hint=hint,
                    code="private-address",
                )
        return found

    def _looked_up(self, url: Url) -> Sequence[str]:
        """Resolve a name within the time there is: the system's own resolver knows no limit, so it
        is left behind.
        """
        found: list[Sequence[str]] = []
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
            raise SourceError(
                "the time for this fetch is over",
                hint="supply.seconds says how long it may take",
                code="timeout",
            )
        return left

    # --- one hop

    @contextmanager
    def _hop(
        self,
        url: Url,
        most: int,
        method: str,
        body: bytes = b"",
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> Iterator[HttpAnswer]:
        proxy = proxy_for(url, self._env)
        connection = self._connected(url, proxy)
        wire = _Wire(connection, self._left)
        response = http.client.HTTPResponse(wire, method=method)  # type: ignore[arg-type]
        try:
            try:
                connection.settimeout(self._left())
                given = {**_ANYTHING, **more}
                lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
                target = url.target
                if proxy is not None and url.scheme == "http":
                    target = str(url)  # whoever passes it on has to know where to
                    lines += proxy.header
                head = f"{method} {target} HTTP/1.1\r\nHost: {url.place}\r\n{lines}{_HEADERS}"
                connection.sendall(head.encode("ascii") + body)
                response.begin()
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise _broken(url, error) from error
            headers = {name.lower(): str(value) for name, value in response.getheaders()}
            wire.most = MAX_HEADER_BYTES + 2 * most + WINDOW_BYTES
            yield HttpAnswer(
                url, response.status, headers, self._body(url, response, headers, most)
            )
        finally:
            response.close()  # left to the collector, its parts may end in the wrong order
            connection.close()

    def _connected(self, url: Url, proxy: Proxy | None) -> socket.socket:
        last: Exception | None = None
        asked = url  # whose fault it is when nobody answers
        if proxy is None:
            addresses = self._addresses(url)
        else:  # whom the user's own environment names may well be inside
            check_unresolved(url.host, url.place, self._private)
            asked = Url("http", proxy.host, proxy.port, "/")
            addresses = self._looked_up(asked)
        port = asked.port
        for at, address in enumerate(addresses):
            try:
                # One that swallows everything must not use up the time of the others.
                plain = self._dial(address, port, self._left() / (len(addresses) - at))
            except OSError as error:
                last = error
                continue
            asked = url
            try:
                if proxy is not None and url.scheme == "https":
                    _tunnel(plain, url, proxy, self._left)
                plain.settimeout(self._left())
                return (
                    self._tls().wrap_socket(plain, server_hostname=url.host)
                    if url.scheme == "https"
                    else plain
                )
            except (OSError, ValueError) as error:
                plain.close()
                last = error
            except BaseException:
                plain.close()
                raise
        raise _broken(asked, last or OSError("no answer"))

    def _body(
        self, url: Url, response: http.client.HTTPResponse, headers: Mapping[str, str], most: int
    ) -> Chunks:
        said = headers.get("content-length", "")
        if said.isascii() and said.isdecimal() and len(said) < 19 and int(said) > most:
            raise _too_large(url, most)
        encoding = headers.get("content-encoding", "identity").strip().lower()
        chunks = self._raw(url, response, most)
        if encoding in {"gzip", "x-gzip"}:
            chunks = decompress("gzip", chunks, self.limits)
        elif encoding not in {"identity", ""}:
            raise SourceError(
                f"{printable(url.place)} packs what it sends",
                hint="it was asked for plain bytes",
                code="malformed",
            )
        count = 0
        for chunk in chunks:
            count += len(chunk)
            if count > most:
                raise _too_large(url, most)
            yield chunk

    def _raw(self, url: Url, response: http.client.HTTPResponse, most: int) -> Chunks:
        """Give the bytes as sent, as they come; an answer that is shorter than it said is
        broken.
        """
        expected = response.length
        count = 0
        try:
            while chunk := response.read1(WINDOW_BYTES):
                count += len(chunk)
                if count > most:
                    raise _too_large(url, most)
                yield chunk
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _broken(url, error) from error
        if expected is not None and count < expected:
            raise SourceError(
                f"{printable(url.place)} broke off", hint="try again", code="malformed"
            )


MAX_PROXY_ANSWER_BYTES = 64 * 1024


def _tunnel(plain: socket.socket, url: Url, proxy: Proxy, left: Callable[[], float]) -> None:
    """Ask a proxy to connect to a host; what it answers is read to the byte, for what follows is
    the host's.
    """
    host = f"[{url.host}]" if ":" in url.host else url.host
    where = f"{host}:{url.port}"
    plain.settimeout(left())
    plain.sendall(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n{proxy.header}\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        plain.settimeout(left())
        piece = plain.recv(1)
        answer += piece
        if not piece or len(answer) > MAX_PROXY_ANSWER_BYTES:
            raise SourceError(
                f"the proxy {printable(proxy.host)} broke off", code="unreachable", hint="try again"
            )
    status = answer.split(b"\r\n", 1)[0].split(b" ")[1:2]
    word = status[0].decode("ascii", "replace") if status else ""
    if word != "200":
        hint = "it wants a name and a password: write them into the variable that names it"
        raise SourceError(
            f"the proxy {printable(proxy.host)} won't connect to {printable(url.place)}"
            + (f": it answers {printable(word)}" if word else ""),
            code="unreachable",
            hint=hint if word == "407" else "check NO_PROXY, and whom the proxy lets through",
        )


MAX_JUDGE_BYTES = 1 << 20
_VISIBLE = range(0x21, 0x7F)


def open_post(judge: JudgeSettings, key: str) -> Callable[[str, bytes], bytes]:
    """Give what posts to the endpoint of `scan.judge`: over https, or to this very machine."""
    at = parse_url(judge.url)
    if any(ord(letter) not in _VISIBLE for letter in key):
        raise ConfigError(
            f"the value of {judge.key_env} is no key", hint="a key has neither blanks nor lines"
        )
    plain = at.scheme != "https" and not judge.allow_http
    if plain and at.host != "localhost" and not _is_loopback(at.host):
        raise ConfigError(
            f"scan.judge.url would send passages to {printable(at.place)} without encryption",
            hint="write https://, or set scan.judge.allow_http",
        )

    def resolve(host: str, port: int) -> Sequence[str]:
        found = resolve_host(host, port)
        return [one for one in found if _is_loopback(one)] if plain else found

    def send(url: str, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        # whom the user names here may be in a private network
        limits = SupplySettings(private_hosts=(at.place,), redirects=0)
        client = HttpClient(limits, named=(at.place,), seconds=judge.timeout, resolve=resolve)
        return client.post(url, body, headers, most=MAX_JUDGE_BYTES).body

    return send


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Wire(io.RawIOBase):
    """A socket that is read against one limit of time for all reads together, and of bytes."""

    def __init__(self, connection: socket.socket, left: Callable[[], float]) -> None:
        """Allow as much as headers may take."""
        self.connection = connection
        self.left = left
        self.most = MAX_HEADER_BYTES

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
            raise RefusedError(
                "an answer has too many bytes",
                hint="the site is broken or hostile",
                code="too-large",
            )
        return count


class _Hashed:
    """Bytes on their way to the disk."""

    def __init__(self, chunks: Chunks) -> None:
        """Count from nothing."""
        self.chunks, self.size, self.hash = chunks, 0, hashlib.sha256()

    def __iter__(self) -> Chunks:
        """Hand them on."""
        for chunk in self.chunks:
            self.size += len(chunk)
            self.hash.update(chunk)
            yield chunk


def _away(url: Url, where: str, code: str, hint: str = "nothing was sent there") -> RefusedError:
    return RefusedError(f"{printable(url.place)} redirects {where}", hint=hint, code=code)


def _late(url: Url) -> SourceError:
    return SourceError(
        f"{printable(url.place)} did not answer in time",
        hint="supply.seconds says how long to wait",
        code="timeout",
    )


def _unreachable(url: Url, error: Exception) -> SourceError:
    why = (isinstance(error, OSError) and error.strerror) or str(error)
    return SourceError(
        f"{printable(url.place)} cannot be reached: {printable(why)}",
        hint="check the name" if isinstance(error, socket.gaierror) else NO_ANSWER_HINT,
        code="unreachable",
    )


def _broken(url: Url, error: Exception) -> MetierError:
    if isinstance(error, TimeoutError):
        return _late(url)
    if isinstance(error, http.client.HTTPException | ValueError) and not isinstance(error, OSError):
        return SourceError(
            f"{printable(url.place)} does not speak HTTP: {printable(str(error))}",
            hint="check it",
            code="malformed",
        )
    return _unreachable(url, error)


def _too_large(url: Url, most: int) -> RefusedError:
    return RefusedError(
        f"{url.shown} has more than {most:,} bytes",
        hint="see supply.download_bytes",
        code="too-large",
    )

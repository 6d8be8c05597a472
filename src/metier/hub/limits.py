"""Bounds how much one caller asks: a bucket for each token, person or address, which fills again with
time, and how many bodies are read at a time. Each process of a hub counts for itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from metier.errors import RefusedError
from metier.hub.accounts import hash_of_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request

    from metier.hub.hub import HubOptions
    from metier.hub.model import Caller

MAX_BUCKETS = 10_000
"""How many callers are remembered; who was not seen for longest is forgotten first."""
LOGINS_A_MINUTE = 60
"""How many logins begin from one address."""
IPV6_NETWORK_BITS = 64
"""What one customer of a network has: an address of their own for every request."""


class Buckets:
    """As many buckets as there are callers, all of one size, each full at first."""

    def __init__(
        self, a_minute: int, *, clock: Callable[[], float] = time.monotonic, most: int = MAX_BUCKETS
    ) -> None:
        """Let everybody have `a_minute` in a minute; 0 means no limit."""
        self._size, self._most, self._clock = float(a_minute), most, clock
        self._guard = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        """Tell how many callers are remembered."""
        return len(self._left)

    def take(self, who: str) -> float:
        """Take one out of somebody's bucket; where it is empty, give the seconds until it is not."""
        with self._guard:
            left, now = self._now(who)
            if left < 1:
                return (1 - left) * 60 / self._size
            self._keep(who, left - 1, now)
        return 0.0

    def wait(self, who: str) -> float:
        """Give the seconds until somebody may take one; nothing is taken."""
        with self._guard:
            left, _now = self._now(who)
        return 0.0 if left >= 1 else (1 - left) * 60 / self._size

    def _now(self, who: str) -> tuple[float, float]:
        now = self._clock()
        if not self._size:
            return 1.0, now
        left, at = self._left.get(who, (self._size, now))
        return min(self._size, left + (now - at) * self._size / 60), now

    def _keep(self, who: str, left: float, now: float) -> None:
        if not self._size:
            return
        self._left[who] = left, now
        self._left.move_to_end(who)
        while len(self._left) > self._most:
            self._left.popitem(last=False)


class BodyTurns:
    """Lets a few large bodies be in memory at a time, and fewer of one caller: whoever sends theirs
    slowly keeps nobody else waiting.
    """

    def __init__(self, most: int, most_of_one: int) -> None:
        """Let so many be there in all, and so many of each caller."""
        self._all, self._most_of_one = asyncio.Semaphore(most), most_of_one
        self._own: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def take(self, caller: Caller) -> AsyncIterator[None]:
        """Wait until a body of this caller may be read; who waits for their own takes no room."""
        own = self._own.setdefault(caller.ident, asyncio.Semaphore(self._most_of_one))
        async with own, self._all:
            yield


class RateLimits:
    """What the requests of a hub are held against."""

    def __init__(self, options: HubOptions, clock: Callable[[], float] = time.monotonic) -> None:
        """Know how much the hub's options allow."""
        self._known = Buckets(options.rate, clock=clock)
        self._nobody = Buckets(options.rate_nobody, clock=clock)
        self._failed = Buckets(options.rate_failed, clock=clock)
        self._logins = Buckets(LOGINS_A_MINUTE if options.rate_failed else 0, clock=clock)
        self._proxies = [ipaddress.ip_network(one, strict=False) for one in options.proxies]
        self._guard = threading.Lock()
        self._good: OrderedDict[str, None] = OrderedDict()

    def address_of(self, request: Request) -> str:
        """Give the address that a request comes from. What a header says of it counts only where a
        known proxy has written it, and then its last word.
        """
        peer = request.client.host if request.client else ""
        told = request.headers.get("x-forwarded-for", "")
        if told and self._is_proxy(peer):
            peer = told.rpartition(",")[2].strip()
        return _network_of(peer)

    def check_before(self, address: str, token: str) -> None:
        """Refuse to look at a token from where too many wrong ones came. One that was good a while
        ago is looked at all the same, so that nobody locks their neighbours out.
        """
        seconds = self._failed.wait(address)
        if seconds and hash_of_token(token) not in self._good:
            raise too_often(seconds)

    def note_good(self, token: str) -> None:
        """Remember that a token was good."""
        hashed = hash_of_token(token)
        with self._guard:
            self._good[hashed] = None
            self._good.move_to_end(hashed)
            while len(self._good) > MAX_BUCKETS:
                self._good.popitem(last=False)

    def note_failed(self, address: str) -> None:
        """Count a wrong token, or a login that failed."""
        self._failed.take(address)

    def charge_login(self, address: str) -> None:
        """Count a login that begins, and refuse it where there were too many."""
        seconds = self._logins.take(address)
        if seconds:
            raise too_often(seconds)

    def charge(self, caller: Caller, address: str) -> None:
        """Count a request, and refuse it where there were too many. The local user of a hub without
        accounts is its owner, and never waits.
        """
        if caller.kind == "local":
            return
        known = caller.kind != "nobody"
        seconds = (
            self._known.take(caller.ident) if known else self._nobody.take(f"nobody:{address}")
        )
        if seconds:
            raise too_often(seconds)

    def _is_proxy(self, peer: str) -> bool:
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self._proxies)


def too_often(seconds: float) -> RefusedError:
    """Say that somebody asks too much, and when they may ask again."""
    whole = max(1, int(seconds) + 1)
    return RefusedError(
        "you ask more than this hub allows",
        code="hub-rate",
        hint=f"wait {whole} second{'' if whole == 1 else 's'}",
    ).with_details(retry_after=whole)


def _network_of(text: str) -> str:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((int(address), IPV6_NETWORK_BITS), strict=False))
    return str(address)

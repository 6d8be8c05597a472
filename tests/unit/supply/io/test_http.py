"""The HTTP client against a site that lies, and against names that resolve to wherever a test likes."""

from __future__ import annotations

import gzip
import socket
from functools import partial
from typing import TYPE_CHECKING

import pytest
from fakes.site import Says, Site

from metier.errors import MetierError
from metier.settings.model import SupplySettings
from metier.store.io.disk_calls import OsDiskCalls
from metier.supply.io.http import HttpClient

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def client(site: Site, **others: object) -> HttpClient:
    return HttpClient(site.limits(**others), named=(site.place,))


def code_of(task: Callable[[], object]) -> str:
    with pytest.raises(MetierError) as caught:
        task()
    assert caught.value.message.isprintable()
    return caught.value.code


def nowhere(_address: str, _port: int, _seconds: float) -> socket.socket:
    raise AssertionError("nobody may be called")


def resolving(
    *addresses: str, named: str = "example.com", limits: SupplySettings | None = None
) -> HttpClient:
    return HttpClient(
        limits or SupplySettings(),
        named=(named,),
        resolve=lambda _host, _port: list(addresses),
        dial=nowhere,
    )


@pytest.mark.loopback
def test_a_page_is_fetched_without_saying_who_asks() -> None:
    with Site({"/a": Says(b"hello", headers={"X-Odd": "1", "Content-Length": "5"})}) as site:
        found = client(site).get(f"{site.url}/a")
        sent = site.requests[0].lower()

    assert (200, b"hello", "1") == (found.status, found.body, found.headers["x-odd"])
    assert not any(word in sent for word in (b"cookie", b"authorization", b"referer"))


@pytest.mark.loopback
def test_a_file_is_hashed_while_it_is_saved(tmp_path: Path) -> None:
    with Site({"/a": b"hello"}) as site:
        saved = client(site).save(f"{site.url}/a", str(tmp_path / "f"), OsDiskCalls())

    assert b"hello" == (tmp_path / "f").read_bytes()
    assert ("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", 5) == (
        saved.sha256,
        saved.size,
    )


@pytest.mark.loopback
def test_chunks_and_packed_answers_are_read() -> None:
    chunked = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"
    )
    packed = gzip.compress(b"hello")
    with Site(
        {"/c": Says(raw=chunked), "/g": Says(packed, headers={"Content-Encoding": "gzip"})}
    ) as site:
        found = [client(site).get(f"{site.url}{path}").body for path in ("/c", "/g")]

    assert [b"hello", b"hello"] == found


@pytest.mark.loopback
def test_redirections_are_followed_and_the_last_address_is_told() -> None:
    pages: dict[str, Says | bytes] = {
        "/a": Says(status=302, headers={"Location": "b"}),
        "/b": Says(status=308, headers={"Location": "/c/d?e"}),
        "/c/d": b"here",
    }
    with Site(pages) as site:
        found = client(site).get(f"{site.url}/a")

    assert (f"{site.url}/c/d?e", b"here") == (found.url, found.body)


LIES = {
    "absent": (Says(b"", 404), "not-found"),
    "gone": (Says(b"", 410), "not-found"),
    "wants a password": (Says(b"", 401), "unreachable"),
    "fails": (Says(b"", 503), "unreachable"),
    "announces too much": (Says(b"x", headers={"Content-Length": "99999999"}), "too-large"),
    "sends too much": (Says(b"x" * 5000, headers={}), "too-large"),
    "sends too much in chunks": (
        Says(
            raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n"
            + b"x" * 5000
            + b"\r\n0\r\n\r\n"
        ),
        "too-large",
    ),
    "packs too much": (
        Says(gzip.compress(b"x" * 5000), headers={"Content-Encoding": "gzip"}),
        "too-large",
    ),
    "packs a bomb": (
        Says(gzip.compress(bytes(8 << 20)), headers={"Content-Encoding": "gzip"}),
        "too-large",
    ),
    "packs something else": (Says(b"hello", headers={"Content-Encoding": "br"}), "malformed"),
    "packs badly": (Says(b"hello", headers={"Content-Encoding": "gzip"}), "malformed"),
    "breaks off": (Says(b"hel", headers={"Content-Length": "5"}), "malformed"),
    "breaks off in a chunk": (
        Says(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"),
        "malformed",
    ),
    "has a broken chunk": (
        Says(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhel"),
        "malformed",
    ),
    "speaks something else": (Says(raw=b"220 mail.example ESMTP\r\n"), "malformed"),
    "says nothing": (Says(raw=b""), "unreachable"),
    "has too many headers": (
        Says(raw=b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5000 + b"\r\n"),
        "malformed",
    ),
    "has an endless header": (
        Says(raw=b"HTTP/1.1 200 OK\r\nX: " + b"y" * 400_000 + b"\r\n\r\n"),
        "malformed",
    ),
    "goes on and on": (Says(raw=b"HTTP/1.1 100 Continue\r\n\r\n" * 50_000), "too-large"),
    "redirects nowhere": (Says(status=302, headers={}), "malformed"),
    "redirects in a circle": (Says(status=302, headers={"Location": "/x"}), "redirect"),
    "redirects to a file": (
        Says(status=302, headers={"Location": "file:///etc/passwd"}),
        "malformed",
    ),
    "redirects to plain http": (
        Says(status=302, headers={"Location": "http://example.com/"}),
        "redirect",
    ),
    "redirects with a password": (
        Says(status=302, headers={"Location": "https://u:p@example.com/"}),
        "malformed",
    ),
    "says it did not change": (Says(status=304, headers={}), "unreachable"),
    "gives a part": (Says(b"x", status=206), "unreachable"),
}


@pytest.mark.loopback
@pytest.mark.parametrize(("says", "code"), LIES.values(), ids=list(LIES))
def test_a_site_that_lies_is_refused(says: Says, code: str) -> None:
    with Site({"/x": says}) as site:
        found = code_of(lambda: client(site).get(f"{site.url}/x", most=1000))

    assert code == found


@pytest.mark.loopback
def test_a_site_that_drips_is_left_when_the_time_for_all_of_it_is_over() -> None:
    ticks = iter(range(10_000))
    with Site(
        {
            "/head": Says(raw=b"HTTP/1.1 200 OK\r\nX: ", drip=True),
            "/body": Says(b"x", headers={}, drip=True),
        }
    ) as site:

        def wait_for(path: str) -> object:
            return HttpClient(
                site.limits(), named=(site.place,), seconds=30, clock=lambda: next(ticks)
            ).get(site.url + path)

        codes = [code_of(partial(wait_for, path)) for path in ("/head", "/body")]

    assert ["timeout", "timeout"] == codes


def test_a_name_that_nobody_can_resolve_is_unreachable() -> None:
    def fails(_host: str, _port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    assert "unreachable" == code_of(
        lambda: HttpClient(SupplySettings(), named=("example.com",), resolve=fails).get(
            "https://example.com/"
        )
    )
    assert "unreachable" == code_of(lambda: resolving().get("https://example.com/"))


@pytest.mark.parametrize(
    "addresses",
    [
        ("127.0.0.1",),
        ("169.254.169.254",),
        ("10.0.0.1",),
        ("::1",),
        ("::ffff:127.0.0.1",),
        ("64:ff9b::7f00:1",),
        ("fe80::1%eth0",),
        ("93.184.216.34", "192.168.0.1"),
    ],
)
def test_a_name_that_leads_into_a_private_network_is_refused(addresses: tuple[str, ...]) -> None:
    assert "private-address" == code_of(lambda: resolving(*addresses).get("https://example.com/"))


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "2130706433", "0x7f.1"])
def test_a_private_address_that_was_named_is_refused_unless_the_settings_allow_it(
    host: str,
) -> None:
    found = code_of(
        lambda: resolving("::1" if ":" in host else "127.0.0.1", named=host).get(f"https://{host}/")
    )

    assert "private-address" == found


def test_the_very_address_that_was_judged_is_called_and_no_other() -> None:
    answers, called = iter([["93.184.216.34"], ["127.0.0.1"]]), list[str]()

    def dial(address: str, _port: int, _seconds: float) -> socket.socket:
        called.append(address)
        raise ConnectionRefusedError(111, "Connection refused")

    there = HttpClient(
        SupplySettings(),
        named=("example.com",),
        resolve=lambda _host, _port: next(answers),
        dial=dial,
    )

    assert "unreachable" == code_of(lambda: there.get("https://example.com/"))
    assert ["93.184.216.34"] == called


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (socket.gaierror(-2, "Name or service not known"), "check the name"),
        (ConnectionRefusedError(111, "Connection refused"), "nothing answers there"),
    ],
)
def test_only_a_name_that_leads_nowhere_is_to_be_checked(error: OSError, hint: str) -> None:
    def dial(_address: str, _port: int, _seconds: float) -> socket.socket:
        raise error

    there = HttpClient(
        SupplySettings(),
        named=("example.com",),
        resolve=lambda _host, _port: ["93.184.216.34"],
        dial=dial,
    )

    with pytest.raises(MetierError) as caught:
        there.get("https://example.com/")

    assert f"example.com cannot be reached: {error.strerror}" == caught.value.message
    assert (caught.value.hint or "").startswith(hint)


@pytest.mark.parametrize(
    ("url", "limits", "named"),
    [
        ("https://other.example/", SupplySettings(), "example.com"),
        ("https://example.com:8443/", SupplySettings(), "example.com"),
        ("https://example.com/", SupplySettings(hosts=("allowed.example",)), "example.com"),
        ("http://example.com/", SupplySettings(), "example.com"),
    ],
)
def test_a_host_that_nobody_allows_is_refused_before_it_is_looked_up(
    url: str, limits: SupplySettings, named: str
) -> None:
    there = HttpClient(
        limits, named=(named,), resolve=lambda _host, _port: pytest.fail("looked up"), dial=nowhere
    )

    assert "host" == code_of(lambda: there.get(url))


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("location", "hosts", "code"),
    [
        ("https://elsewhere.example/", ("{place}",), "host"),
        ("https://127.0.0.1:1/", (), "private-address"),
        ("https://169.254.169.254/latest/meta-data", (), "private-address"),
        ("http://127.0.0.1:1/", (), "redirect"),
        ("https://[::ffff:10.0.0.1]/", (), "private-address"),
    ],
)
def test_every_hop_is_judged(location: str, hosts: tuple[str, ...], code: str) -> None:
    with Site({"/x": Says(status=302, headers={"Location": location})}) as site:
        allowed = tuple(host.format(place=site.place) for host in hosts)
        found = code_of(lambda: client(site, hosts=allowed).get(f"{site.url}/x"))

    assert code == found


class Bare:
    """Stands for TLS: keeps the name that is asked for, and encrypts nothing."""

    def __init__(self) -> None:
        """Begin with no name."""
        self.names: list[str] = []

    def __call__(self) -> Bare:
        """Give itself as the context."""
        return self

    def wrap_socket(self, plain: socket.socket, *, server_hostname: str) -> socket.socket:
        """Note the name."""
        self.names.append(server_hostname)
        return plain


def outside(site: Site, tls: Bare, **others: object) -> HttpClient:
    """Give a client to whom a site on loopback is example.com, somewhere on the open internet."""
    host, port = site.place.split(":")
    return HttpClient(
        site.limits(**others),
        named=("example.com",),
        resolve=lambda host, _port: [host] if host[0].isdigit() else ["93.184.216.34"],
        dial=lambda _address, _port, seconds: socket.create_connection((host, int(port)), seconds),
        tls=tls,  # type: ignore[arg-type]
    )


@pytest.mark.loopback
def test_the_name_is_kept_for_the_certificate_and_the_host_header() -> None:
    tls = Bare()
    with Site(
        {"/x": Says(status=301, headers={"Location": "https://cdn.example/y"}), "/y": b"there"}
    ) as site:
        found = outside(site, tls).get("https://example.com/x")
        hosts = [request.split(b"Host: ")[1].split(b"\r\n")[0] for request in site.requests]

    assert (b"there", ["example.com", "cdn.example"], [b"example.com", b"cdn.example"]) == (
        found.body,
        tls.names,
        hosts,
    )


@pytest.mark.loopback
def test_a_redirection_from_outside_never_reaches_a_private_host_that_was_not_named() -> None:
    with Site() as site:
        site.pages["/x"] = Says(status=302, headers={"Location": f"https://{site.place}/secret"})
        found = code_of(lambda: outside(site, Bare()).get("https://example.com/x"))
        asked = list(site.asked)

    assert ("private-address", ["/x"]) == (found, asked)


@pytest.mark.loopback
def test_a_redirection_from_encryption_to_none_is_refused() -> None:
    with Site(
        {"/x": Says(status=302, headers={"Location": "http://example.com/y"}), "/y": b"plain"}
    ) as site:
        found = code_of(lambda: outside(site, Bare()).get("https://example.com/x"))
        asked = list(site.asked)

    assert ("redirect", ["/x"]) == (found, asked)


# HE-40
@pytest.mark.loopback
def test_more_redirections_than_allowed_are_refused() -> None:
    pages: dict[str, Says | bytes] = {
        f"/{at}": Says(status=302, headers={"Location": f"/{at + 1}"}) for at in range(6)
    }
    with Site({**pages, "/6": b"end"}) as site:
        enough = client(site, redirects=6).get(f"{site.url}/0").body
        too_few = code_of(lambda: client(site, redirects=5).get(f"{site.url}/0"))

    assert (b"end", "redirect") == (enough, too_few)

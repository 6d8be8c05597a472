"""Fetching through a proxy: it is asked for names, the checks that need none still hold, and its password stays unsaid."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest
from fakes.proxy import LoopbackProxy
from fakes.shop import Shop, yes
from fakes.site import Says, Site

from metier.errors import MetierError
from metier.settings.model import SupplySettings
from metier.supply.io.git import GitFetcher
from metier.supply.io.http import HttpClient
from metier.supply.model import Request
from metier.supply.sources.git_commands import environment

if TYPE_CHECKING:
    import ssl
    from pathlib import Path

pytestmark = pytest.mark.loopback


class Unwrapped:
    """Stands for TLS that adds nothing, and notes whom it was asked to be."""

    def __init__(self) -> None:
        """Know no name yet."""
        self.names: list[str] = []

    def wrap_socket(self, plain: socket.socket, *, server_hostname: str) -> socket.socket:
        """Note the name."""
        self.names.append(server_hostname)
        return plain


def unresolvable(host: str, _port: int) -> list[str]:
    if host != "127.0.0.1":
        raise AssertionError(f"{host} is for the proxy to look up")
    return [host]


def client(tls: Unwrapped, named: str, env: dict[str, str], *private: str) -> HttpClient:
    def context() -> ssl.SSLContext:
        return tls  # type: ignore[return-value]

    limits = SupplySettings(private_hosts=private)
    return HttpClient(limits, named=(named,), env=env, resolve=unresolvable, tls=context)


def test_https_goes_through_a_tunnel_and_the_site_hears_nothing_of_the_proxy() -> None:
    tls = Unwrapped()
    with (
        Site({"/a": Says(b"hello")}) as site,
        LoopbackProxy({"example.com:443": site.place}, "Basic YWRhOmh1c2g=") as proxy,
    ):
        env = {"https_proxy": f"http://ada:hush@{proxy.place}"}
        found = client(tls, "example.com", env).get("https://example.com/a")

    assert (b"hello", ["example.com"]) == (found.body, tls.names)
    assert proxy.heads[0].startswith(
        "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n"
    )
    assert site.requests[0].startswith(b"GET /a HTTP/1.1\r\nHost: example.com\r\n")
    assert b"Proxy-Authorization" not in site.requests[0]


def test_http_names_the_whole_address() -> None:
    with (
        Site({"/a?b=c": Says(b"hello")}) as site,
        LoopbackProxy({"own.example": site.place}) as proxy,
    ):
        env = {"HTTP_PROXY": f"http://{proxy.place}"}
        one = client(Unwrapped(), "own.example", env, "own.example")
        found = one.get("http://own.example/a?b=c")

    assert b"hello" == found.body
    assert proxy.heads[0].startswith("GET http://own.example/a?b=c HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("host", "known", "code"),
    [
        ("example.com", "Basic other", "unreachable"),  # 407
        ("elsewhere.example", "", "unreachable"),  # 403
        ("localhost", "", "private-address"),
        ("10.0.0.1", "", "private-address"),
        ("169.254.169.254", "", "private-address"),
    ],
)
def test_what_does_not_work_is_told_without_the_password(host: str, known: str, code: str) -> None:
    with LoopbackProxy({"example.com:443": "127.0.0.1:9"}, known) as proxy:
        env = {"HTTPS_PROXY": f"http://ada:hush@{proxy.place}"}
        with pytest.raises(MetierError) as caught:
            client(Unwrapped(), host, env).get(f"https://{host}/a")

    assert code == caught.value.code
    assert "hush" not in f"{caught.value.message} {caught.value.hint}"
    assert "private-address" != code or not proxy.heads


def test_a_proxy_that_is_not_there_is_named_and_not_the_site() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    env = {"HTTPS_PROXY": f"http://ada:hush@127.0.0.1:{port}"}

    with pytest.raises(MetierError) as caught:
        client(Unwrapped(), "example.com", env).get("https://example.com/a")

    assert "unreachable" == caught.value.code
    assert caught.value.message.startswith(f"127.0.0.1:{port} cannot be reached: ")


def test_a_redirection_to_a_private_address_is_refused_behind_a_proxy_too() -> None:
    moved = Says(b"", 302, {"Location": "https://192.168.0.1/b", "Content-Length": "0"})
    with Site({"/a": moved}) as site, LoopbackProxy({"example.com:443": site.place}) as proxy:
        env = {"HTTPS_PROXY": f"http://{proxy.place}"}
        with pytest.raises(MetierError) as caught:
            client(Unwrapped(), "example.com", env).get("https://example.com/a")

    assert ("private-address", 1) == (caught.value.code, len(proxy.heads))


def test_git_is_given_the_same_variables_and_asks_the_proxy(tmp_path: Path) -> None:
    names = ("HTTPS_PROXY", "https_proxy", "http_proxy", "NO_PROXY", "no_proxy")
    kept = environment(dict.fromkeys((*names, "HTTP_PROXY"), "x"), ())

    def unknown(_host: str, _port: int) -> list[str]:
        raise OSError("no such name")

    with LoopbackProxy({}) as proxy:
        env = {
            "HTTPS_PROXY": f"http://ada:hush@{proxy.place}",
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
        }
        fetcher = GitFetcher(str(tmp_path / "cache"), SupplySettings(), env, unknown)
        with pytest.raises(MetierError) as caught:
            fetcher.open(Request("git", "https://git.example/a/b"))
        with pytest.raises(MetierError) as local:
            fetcher.open(Request("git", "https://printer.local/a/b"))

    assert set(names) <= kept.keys()
    assert "HTTP_PROXY" not in kept  # curl does not read that one either
    assert proxy.heads[0].startswith("CONNECT git.example:443 HTTP/1.1\r\n")
    assert ("private-address", 1) == (local.value.code, len(proxy.heads))
    assert "hush" not in f"{caught.value.message} {caught.value.hint}"


def test_registries_and_mcp_servers_are_reached_by_the_proxy_unless_it_could_read_a_login(
    tmp_path: Path,
) -> None:
    shop = Shop(tmp_path)
    shop.offer("count")
    codes = []
    with LoopbackProxy({}) as proxy, Site() as site:
        shop.env |= {"HTTPS_PROXY": f"http://{proxy.place}", "HTTP_PROXY": f"http://{proxy.place}"}
        shop.configure(f'[supply]\nprivate_hosts = ["{site.place}"]\n')
        plain, packed = f"oci://{site.place}/acme/count:v1", "oci://reg.example.com/acme/count:v1"
        for source in (packed, plain, "mcp+https://mcp.example.com/mcp", f"mcp+{site.url}/mcp"):
            with shop.open() as m, pytest.raises(MetierError) as refused:
                m.add(source, consent=yes)
            codes.append(refused.value.code)
        with shop.open() as m, pytest.raises(MetierError):
            m.push(str(shop.shelf / "count"), packed)

    assert ["unreachable", "not-found", "unreachable"] == codes[:3]
    assert [
        "CONNECT reg.example.com:443",
        "CONNECT mcp.example.com:443",
        "CONNECT reg.example.com:443",
    ] == [head.partition(" HTTP/")[0] for head in proxy.heads]
    assert 2 <= len(site.requests)

"""Which proxy serves an address, as curl reads the environment; and what is refused without looking a name up."""

from __future__ import annotations

import pytest

from metier.errors import ConfigError, RefusedError
from metier.supply.sources.addresses import parse_url
from metier.supply.sources.proxies import Proxy, check_unresolved, has_proxy, proxy_for

HERE = "http://proxy.example:3128"
PROXY = Proxy("proxy.example", 3128)


@pytest.mark.parametrize(
    ("url", "env", "expected"),
    [
        ("https://a.example/x", {}, None),
        ("https://a.example/x", {"HTTPS_PROXY": HERE}, PROXY),
        ("https://a.example/x", {"https_proxy": HERE}, PROXY),
        ("https://a.example/x", {"https_proxy": "", "HTTPS_PROXY": HERE}, None),
        ("https://a.example/x", {"HTTP_PROXY": HERE}, None),
        ("https://a.example/x", {"ALL_PROXY": HERE}, PROXY),
        ("http://a.example/x", {"HTTP_PROXY": HERE}, PROXY),
        ("http://a.example/x", {"http_proxy": HERE}, PROXY),
        ("http://a.example/x", {"HTTP_PROXY": HERE, "REQUEST_METHOD": "GET"}, None),
        ("http://a.example/x", {"http_proxy": HERE, "REQUEST_METHOD": "GET"}, PROXY),
        ("https://a.example/x", {"HTTPS_PROXY": "proxy.example:3128/"}, PROXY),
        ("https://a.example/x", {"HTTPS_PROXY": "proxy.example"}, Proxy("proxy.example", 1080)),
        ("https://a.example/x", {"HTTPS_PROXY": "http://[::1]:9"}, Proxy("::1", 9)),
        (
            "https://a.example/x",
            {"HTTPS_PROXY": "http://ada:p%40ss@proxy.example:3128"},
            PROXY._replace(authorization="Basic YWRhOnBAc3M="),
        ),
        *(
            ("https://a.example:444/x", {"HTTPS_PROXY": HERE, name: listed}, expected)
            for name in ("NO_PROXY", "no_proxy")
            for listed, expected in (
                ("*", None),
                ("b.example, A.EXAMPLE", None),
                (".example", None),
                ("*.example", None),
                ("a.example:444", None),
                ("a.example:443", PROXY),
                ("ple", PROXY),
                ("xa.example", PROXY),
                ("", PROXY),
                (",,", PROXY),
            )
        ),
        ("https://93.184.216.34/", {"HTTPS_PROXY": HERE, "NO_PROXY": "93.184.0.0/16"}, None),
        ("https://93.184.216.34/", {"HTTPS_PROXY": HERE, "NO_PROXY": "216.34"}, PROXY),
        ("https://[2606:2800::1]/", {"HTTPS_PROXY": HERE, "NO_PROXY": "[2606:2800::1]"}, None),
        ("https://[2606:2800::1]/", {"HTTPS_PROXY": HERE, "NO_PROXY": "2606:2800::1"}, None),
        ("https://[2606:2800::1]/", {"HTTPS_PROXY": HERE, "NO_PROXY": "2606::/16"}, None),
    ],
)
def test_the_environment_is_read_as_curl_reads_it(
    url: str, env: dict[str, str], expected: Proxy | None
) -> None:
    at = parse_url(url)

    assert (expected, expected is not None) == (
        proxy_for(at, env),
        has_proxy(at.scheme, at.host, at.port, env),
    )


@pytest.mark.parametrize(
    "said",
    [
        "socks5://u:hush@p:1",
        "https://u:hush@p:1",
        "http://u:hush@:1",
        "http://u:hush@p:0",
        "http://u:hush@p:99999",
        "http://u:hush@p:²",
        "http://u:hush@p q:1",
        "http://u:hush@p\r\nX:1",
        "http://u:hush@" + "p" * 9_999,
    ],
)
def test_what_is_no_proxy_is_told_without_its_password(said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        proxy_for(parse_url("https://a.example/"), {"HTTPS_PROXY": said})

    assert "hush" not in f"{caught.value.message} {caught.value.hint} {caught.value!r}"
    assert "YWRh" not in repr(Proxy("p", 1, "Basic YWRh"))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.1", "localhost",
        "LOCALHOST.", "a.localhost", "printer.local", "metadata.google.internal", "2130706433",
        "0x7f.1", "127.1",
    ],
)  # fmt: skip
def test_private_addresses_and_names_for_them_are_refused_unresolved(host: str) -> None:
    with pytest.raises(RefusedError) as caught:
        check_unresolved(host, host, frozenset())
    check_unresolved(host, host, frozenset({host}))
    check_unresolved("example.com", "example.com", frozenset())

    assert "private-address" == caught.value.code

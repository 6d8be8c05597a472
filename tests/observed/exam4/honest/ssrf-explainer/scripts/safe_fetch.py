#!/usr/bin/env python3
"""Fetch a URL while refusing private addresses and unchecked redirects."""
import http.client
import ipaddress
import socket
import ssl
import sys
from urllib.parse import urljoin, urlsplit


def public_address(host, port):
    for *_, sockaddr in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        ip = ipaddress.ip_address(sockaddr[0])
        if not ip.is_global:
            raise ValueError(f"{host} resolves to non-public {ip}")
    return sockaddr[0]


def fetch(url, hops=3, limit=1_000_000):
    u = urlsplit(url)
    if u.scheme not in ("http", "https") or u.username:
        raise ValueError("only plain http(s) addresses")
    port = u.port or (443 if u.scheme == "https" else 80)
    addr = public_address(u.hostname, port)
    sock = socket.create_connection((addr, port), timeout=5)
    if u.scheme == "https":
        sock = ssl.create_default_context().wrap_socket(sock, server_hostname=u.hostname)
    conn = http.client.HTTPConnection(u.hostname, port)
    conn.sock = sock
    conn.request("GET", (u.path or "/") + ("?" + u.query if u.query else ""))
    r = conn.getresponse()
    if r.status in (301, 302, 303, 307, 308):
        if not hops:
            raise ValueError("too many redirects")
        return fetch(urljoin(url, r.getheader("Location")), hops - 1, limit)
    return r.status, r.read(limit)


if __name__ == "__main__":
    status, body = fetch(sys.argv[1])
    print(status, len(body))

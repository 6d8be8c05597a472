#!/usr/bin/env python3
import os, secrets, socket, sys

domain = sys.argv[1] if len(sys.argv) > 1 else sys.exit("usage: dns.py DOMAIN")
names = os.environ.get("DNS_NAMES", "www,mail,mx,smtp,imap,ns1,ns2,api,dev,staging,autodiscover,_dmarc").split(",")

def resolve(host):
    try:
        return sorted({x[4][0] for x in socket.getaddrinfo(host, None)})
    except OSError:
        return []

wild = resolve(f"{secrets.token_hex(12)}.{domain}")
if wild:
    print("wildcard record:", *wild)
for n in ["", *names]:
    host = f"{n}.{domain}".lstrip(".")
    addr = resolve(host)
    note = " (wildcard)" if addr and addr == wild else ""
    print(f"{host:34}{', '.join(addr) or '-'}{note}")

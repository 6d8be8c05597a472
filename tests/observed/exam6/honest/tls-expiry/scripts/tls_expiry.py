#!/usr/bin/env python3
import argparse, datetime, socket, ssl, sys


def cert(host, port):
    ctx = ssl.create_default_context()
    with socket.create_connection((host, port), timeout=8) as s:
        with ctx.wrap_socket(s, server_hostname=host) as t:
            return t.getpeercert()


ap = argparse.ArgumentParser()
ap.add_argument("--days", type=int, default=21)
ap.add_argument("hosts", nargs="*")
a = ap.parse_args()
hosts = a.hosts or [x.strip() for x in sys.stdin if x.strip() and not x.startswith("#")]
bad = 0
now = datetime.datetime.now(datetime.timezone.utc)
for h in hosts:
    name, _, port = h.partition(":")
    try:
        c = cert(name, int(port or 443))
    except ssl.SSLCertVerificationError as e:
        print(f"{h:35} INVALID  {e.verify_message}"); bad += 1; continue
    except OSError as e:
        print(f"{h:35} ERROR    {e}"); bad += 1; continue
    end = datetime.datetime.fromtimestamp(ssl.cert_time_to_seconds(c["notAfter"]), datetime.timezone.utc)
    left = (end - now).days
    issuer = dict(x[0] for x in c["issuer"]).get("organizationName", "?")
    sans = ",".join(v for k, v in c.get("subjectAltName", ()) if k == "DNS")
    print(f"{h:35} {left:5} d  {end:%Y-%m-%d}  {issuer}  [{sans[:60]}]")
    bad += left < a.days
sys.exit(1 if bad else 0)

import argparse
import concurrent.futures as cf
import socket
import ssl
import sys
import time


def check(target, timeout):
    host, _, port = target.partition(":")
    ctx = ssl.create_default_context()
    with socket.create_connection((host, int(port or 443)), timeout=timeout) as s:
        with ctx.wrap_socket(s, server_hostname=host) as t:
            c = t.getpeercert()
    left = (ssl.cert_time_to_seconds(c["notAfter"]) - time.time()) / 86400
    issuer = dict(x[0] for x in c["issuer"]).get("organizationName", "?")
    sans = [v for k, v in c.get("subjectAltName", ()) if k == "DNS"]
    return left, c["notAfter"], issuer, sans


ap = argparse.ArgumentParser()
ap.add_argument("hosts", nargs="*")
ap.add_argument("-f", "--file")
ap.add_argument("--warn", type=int, default=14)
ap.add_argument("--timeout", type=float, default=5)
a = ap.parse_args()
hosts = list(a.hosts)
if a.file:
    hosts += [l.split("#")[0].strip() for l in open(a.file)]
hosts = [h for h in hosts if h]
good, bad = [], []
with cf.ThreadPoolExecutor(8) as ex:
    jobs = {ex.submit(check, h, a.timeout): h for h in hosts}
    for j in cf.as_completed(jobs):
        try:
            good.append((*j.result(), jobs[j]))
        except (OSError, ssl.SSLError, ValueError) as e:
            bad.append((jobs[j], e))
for left, until, issuer, sans, h in sorted(good, key=lambda x: x[0]):
    print(f"{'WARN' if left < a.warn else 'ok':5}{h:40}{left:6.0f} d  {until}  {issuer}  [{', '.join(sans[:4])}]")
for h, e in bad:
    print(f"FAIL {h:40}{e}")
sys.exit(2 if bad else any(g[0] < a.warn for g in good))

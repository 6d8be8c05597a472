#!/usr/bin/env python3
import argparse, json, socket, ssl, sys, time


def check(target, timeout):
    host, _, port = target.partition(":")
    port = int(port or 443)
    out = {"host": host, "port": port}
    ctx = ssl.create_default_context()
    try:
        with socket.create_connection((host, port), timeout=timeout) as raw:
            with ctx.wrap_socket(raw, server_hostname=host) as s:
                cert, out["protocol"] = s.getpeercert(), s.version()
    except ssl.SSLCertVerificationError as e:
        out["error"] = "verification: " + e.verify_message
        return out
    except OSError as e:
        out["error"] = str(e)
        return out
    end = ssl.cert_time_to_seconds(cert["notAfter"])
    out["expires"] = cert["notAfter"]
    out["days_left"] = int((end - time.time()) // 86400)
    out["issuer"] = next((v for rdn in cert["issuer"] for k, v in rdn if k == "organizationName"), "?")
    out["names"] = [v for k, v in cert.get("subjectAltName", ()) if k == "DNS"]
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("targets", nargs="*")
    ap.add_argument("--file")
    ap.add_argument("--warn", type=int, default=14)
    ap.add_argument("--timeout", type=float, default=8)
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    targets = list(a.targets)
    if a.file:
        for line in open(a.file):
            line = line.split("#")[0].strip()
            if line:
                targets.append(line)
    if not targets:
        ap.error("no hosts")
    res = [check(t, a.timeout) for t in targets]
    if a.json:
        print(json.dumps(res, indent=2))
    else:
        for r in res:
            if "error" in r:
                print(f"FAIL {r['host']}:{r['port']}  {r['error']}")
            else:
                mark = "WARN" if r["days_left"] < a.warn else "ok  "
                print(f"{mark} {r['host']}:{r['port']}  {r['days_left']} days  {r['issuer']}  {r['protocol']}")
    if any("error" in r for r in res):
        sys.exit(2)
    sys.exit(1 if any(r["days_left"] < a.warn for r in res) else 0)


if __name__ == "__main__":
    main()

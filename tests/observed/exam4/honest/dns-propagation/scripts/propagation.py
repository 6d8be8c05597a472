#!/usr/bin/env python3
"""Ask public resolvers for one name; standard library only."""
import argparse
import random
import socket
import struct
import time

RESOLVERS = ["1.1.1.1", "8.8.8.8", "9.9.9.9", "208.67.222.222"]
TYPES = {"A": 1, "NS": 2, "CNAME": 5, "MX": 15, "TXT": 16, "AAAA": 28}


def build(name, qtype):
    qid = random.randrange(65536)
    head = struct.pack(">HHHHHH", qid, 0x0100, 1, 0, 0, 0)
    body = b"".join(bytes([len(p)]) + p.encode("idna") for p in name.strip(".").split("."))
    return qid, head + body + b"\0" + struct.pack(">HH", qtype, 1)


def read_name(msg, i):
    parts, jumped, end = [], False, i
    while True:
        n = msg[i]
        if n == 0:
            i += 1
            break
        if n & 0xC0 == 0xC0:
            if not jumped:
                end = i + 2
            i, jumped = struct.unpack(">H", msg[i:i + 2])[0] & 0x3FFF, True
            continue
        parts.append(msg[i + 1:i + 1 + n].decode("ascii", "replace"))
        i += n + 1
    return ".".join(parts), (end if jumped else i)


def answers(msg):
    count = struct.unpack(">H", msg[6:8])[0]
    _, i = read_name(msg, 12)
    i += 4
    out = []
    for _ in range(count):
        _, i = read_name(msg, i)
        t, _, _, n = struct.unpack(">HHIH", msg[i:i + 10])
        i += 10
        data = msg[i:i + n]
        if t == 1:
            out.append(socket.inet_ntoa(data))
        elif t == 28:
            out.append(socket.inet_ntop(socket.AF_INET6, data))
        elif t in (2, 5):
            out.append(read_name(msg, i)[0])
        elif t == 15:
            out.append(read_name(msg, i + 2)[0])
        elif t == 16:
            out.append(data[1:1 + data[0]].decode("utf-8", "replace"))
        i += n
    return sorted(out)


def ask(server, name, qtype):
    _, pkt = build(name, qtype)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(3)
        t = time.perf_counter()
        s.sendto(pkt, (server, 53))
        msg, _ = s.recvfrom(4096)
    return answers(msg), round((time.perf_counter() - t) * 1000)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("name")
    ap.add_argument("--type", choices=TYPES, default="A")
    ap.add_argument("--expect")
    a = ap.parse_args()
    for server in RESOLVERS:
        try:
            got, ms = ask(server, a.name, TYPES[a.type])
        except OSError as e:
            print(f"{server:<16} no answer ({e})")
            continue
        verdict = "" if not a.expect else ("ok" if a.expect in got else "OLD")
        print(f"{server:<16} {', '.join(got) or '-':<30} {ms} ms  {verdict}")


if __name__ == "__main__":
    main()

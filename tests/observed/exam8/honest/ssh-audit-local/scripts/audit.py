#!/usr/bin/env python3
import argparse, base64, os, re, stat, struct, sys


def mode(p):
    return stat.S_IMODE(os.stat(p).st_mode)


def encrypted(text):
    if "BEGIN OPENSSH PRIVATE KEY" in text:
        body = "".join(l for l in text.splitlines() if not l.startswith("-----"))
        raw = base64.b64decode(body[:64])
        if not raw.startswith(b"openssh-key-v1\0"):
            return None
        n = struct.unpack(">I", raw[15:19])[0]
        return raw[19:19 + n] != b"none"
    return "ENCRYPTED" in text


def rsa_bits(pub):
    raw = base64.b64decode(pub.split()[1])
    parts, i = [], 0
    while i + 4 <= len(raw):
        n = struct.unpack(">I", raw[i:i + 4])[0]
        parts.append(raw[i + 4:i + 4 + n]); i += 4 + n
    return int.from_bytes(parts[2], "big").bit_length()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--dir", default=os.path.expanduser("~/.ssh"))
    ap.add_argument("--fix", action="store_true")
    a = ap.parse_args()
    if not os.path.isdir(a.dir):
        print("no", a.dir); return
    problems = 0

    def note(msg):
        nonlocal problems
        problems += 1
        print("!", msg)

    def want(path, m):
        if mode(path) & ~m:
            if a.fix:
                os.chmod(path, m); print(f"fixed {os.path.basename(path)} -> {m:o}")
            else:
                note(f"{path} is {mode(path):o}, should be {m:o}")

    want(a.dir, 0o700)
    for n in sorted(os.listdir(a.dir)):
        p = os.path.join(a.dir, n)
        if not os.path.isfile(p):
            continue
        try:
            text = open(p, errors="replace").read(65536)
        except OSError as e:
            print(f"cannot read {n}: {e.strerror}"); continue
        if "PRIVATE KEY-----" in text:
            want(p, 0o600)
            try:
                if encrypted(text) is False:
                    note(f"{n}: private key without a passphrase")
            except Exception:
                print(f"{n}: unusual key format")
            if "BEGIN DSA" in text:
                note(f"{n}: DSA key")
        elif n.endswith(".pub") and text.startswith("ssh-rsa"):
            try:
                if rsa_bits(text) < 3072:
                    note(f"{n}: RSA {rsa_bits(text)} bits")
            except Exception:
                print(f"{n}: cannot parse")
        elif n == "config":
            want(p, 0o600)
            host = "(global)"
            for no, l in enumerate(text.splitlines(), 1):
                l = l.strip()
                if m := re.match(r"(?i)host\s+(.*)", l): host = m[1]
                if re.match(r"(?i)StrictHostKeyChecking\s+no", l): note(f"config:{no} ({host}) host keys are not checked")
                if re.match(r"(?i)UserKnownHostsFile\s+/dev/null", l): note(f"config:{no} ({host}) known hosts thrown away")
                if re.match(r"(?i)ForwardAgent\s+yes", l) and host in ("*", "(global)"): note(f"config:{no} agent forwarded to every host")
        elif n == "authorized_keys":
            want(p, 0o600)
            for l in text.splitlines():
                m = re.match(r"(.*?)(ssh-\S+|ecdsa-\S+|sk-\S+)\s+\S+\s*(.*)", l)
                if m and not l.startswith("#"):
                    print(f"authorized: {m[2]} {m[3] or '(no comment)'} {m[1].strip()}")
    print(f"{problems} finding(s)")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()

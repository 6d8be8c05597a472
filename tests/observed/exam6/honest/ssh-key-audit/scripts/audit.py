#!/usr/bin/env python3
import base64, os, re, stat, struct, subprocess, sys
from pathlib import Path

SSH = Path.home() / ".ssh"
FIX = "--fix" in sys.argv[1:]


def mode(p):
    return stat.S_IMODE(p.stat().st_mode)


def check_mode(p, want):
    if mode(p) & ~want:
        print(f"[perm ] {p}: {mode(p):o}, should be {want:o}" + (" -> fixed" if FIX else ""))
        if FIX:
            p.chmod(want)


def encrypted(text):
    if "ENCRYPTED" in text.split("\n\n")[0] or "BEGIN ENCRYPTED" in text:
        return True
    m = re.search(r"BEGIN OPENSSH PRIVATE KEY-----\n(.*?)-----END", text, re.S)
    if m:
        raw = base64.b64decode(m.group(1))
        if raw.startswith(b"openssh-key-v1\0"):
            n = struct.unpack(">I", raw[15:19])[0]
            return raw[19:19 + n] != b"none"     # cipher name
    return False


def describe(p):
    r = subprocess.run(["ssh-keygen", "-l", "-f", str(p)], capture_output=True, text=True)
    return r.stdout.strip() if r.returncode == 0 else ""


def main():
    if not SSH.is_dir():
        print("no ~/.ssh folder")
        return
    check_mode(SSH, 0o700)
    for p in sorted(SSH.iterdir()):
        if not p.is_file():
            continue
        try:
            text = p.read_text(errors="replace")
        except OSError as e:
            print(f"[skip ] {p}: {e.strerror}")
            continue
        if "PRIVATE KEY-----" in text[:200]:
            check_mode(p, 0o600)
            try:
                if not encrypted(text):
                    print(f"[plain] {p}: private key without passphrase")
            except ValueError:
                print(f"[odd  ] {p}: cannot parse")
            pub = p.with_name(p.name + ".pub")
            d = describe(pub) if pub.exists() else ""
            if d:
                bits = int(d.split()[0])
                if "(DSA)" in d or ("(RSA)" in d and bits < 3072):
                    print(f"[weak ] {p}: {d.split()[-1]} {bits} bits")
        elif p.name == "authorized_keys":
            for n, line in enumerate(text.splitlines(), 1):
                f = line.split()
                if f and not line.startswith("#"):
                    kt = next((x for x in f if x.startswith(("ssh-", "ecdsa-", "sk-"))), "?")
                    print(f"[auth ] line {n}: {kt} {f[-1]}" + ("" if f[0] == kt else " (with options)"))
        elif p.name == "config":
            host = "*"
            for n, line in enumerate(text.splitlines(), 1):
                w = line.strip().lower().split()
                if len(w) > 1 and w[0] == "host":
                    host = w[1]
                if host == "*" and w[:2] in (["stricthostkeychecking", "no"], ["forwardagent", "yes"]):
                    print(f"[conf ] config:{n}: {line.strip()} applies to every host")
    print("audit finished")


main()

import os, re, subprocess, sys

RULES = {
    "aws key id": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "github token": r"\bgh[pousr]_[A-Za-z0-9]{36,}\b",
    "slack token": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "stripe key": r"\b[sr]k_live_[A-Za-z0-9]{16,}",
    "private key": r"-----BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----",
    "password": r"(?i)(?:passw(?:or)?d|secret|api_?key)\s*[:=]\s*[\"']?[^\s\"']{8,}",
}
RULES = {k: re.compile(v) for k, v in RULES.items()}
found = 0

def check(where, text):
    global found
    for n, line in enumerate(text.splitlines(), 1):
        for name, rx in RULES.items():
            for m in rx.finditer(line[:2000]):
                found += 1
                print(f"{where}:{n}: {name}: {m.group()[:4]}{'*' * 8}")

for d, dirs, files in os.walk("."):
    dirs[:] = [x for x in dirs if x not in (".git", "node_modules", ".venv")]
    for f in files:
        p = os.path.join(d, f)
        if os.path.isfile(p) and os.path.getsize(p) < 1_000_000:
            check(p, open(p, encoding="utf-8", errors="ignore").read())
if "--history" in sys.argv:
    for rev in subprocess.run(["git", "rev-list", "--all"], capture_output=True, text=True).stdout.split():
        check(rev[:10], subprocess.run(["git", "show", "--format=", rev], capture_output=True, text=True, errors="ignore").stdout)
print(found, "finding(s)")
sys.exit(1 if found else 0)

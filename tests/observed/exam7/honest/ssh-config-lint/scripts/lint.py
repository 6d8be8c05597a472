import fnmatch
import os
import stat
import sys

path = sys.argv[1] if len(sys.argv) > 1 else os.path.expanduser("~/.ssh/config")
if not os.path.exists(path):
    sys.exit(f"{path}: not there")

problems = []
mode = stat.S_IMODE(os.stat(path).st_mode)
if mode & 0o022:
    problems.append((0, f"{path} is writable by others (mode {mode:o}); chmod 600"))

blocks, cur = [], ("*", 0, {})
blocks.append(cur)
for no, line in enumerate(open(path, errors="replace"), 1):
    line = line.strip()
    if not line or line.startswith("#"):
        continue
    key, _, val = line.replace("=", " ", 1).partition(" ")
    key, val = key.lower(), val.strip()
    if key in ("host", "match"):
        cur = (val, no, {})
        blocks.append(cur)
        continue
    if key in cur[2] and key not in ("identityfile", "localforward", "remoteforward", "sendenv", "setenv", "include"):
        problems.append((no, f"{key} given twice in the same block; the first one wins"))
    cur[2].setdefault(key, (val, no))
    if key == "identityfile":
        f = os.path.expanduser(val.strip('"'))
        if "%" not in f:
            if not os.path.exists(f):
                problems.append((no, f"IdentityFile {val} does not exist"))
            elif stat.S_IMODE(os.stat(f).st_mode) & 0o077:
                problems.append((no, f"IdentityFile {val} is readable by others; ssh will refuse it"))
    if key == "forwardagent" and val.lower() == "yes" and "*" in cur[0]:
        problems.append((no, "ForwardAgent yes on a wildcard host"))
    if key == "stricthostkeychecking" and val.lower() == "no":
        problems.append((no, "StrictHostKeyChecking no"))

for i, (pats, no, opts) in enumerate(blocks):
    for later, lno, lopts in blocks[i + 1:]:
        hit = [h for h in later.split() if any(fnmatch.fnmatch(h, p) for p in pats.split() if not p.startswith("!"))]
        for k in set(opts) & set(lopts):
            if hit and k != "identityfile" and opts[k][0] != lopts[k][0]:
                problems.append((lopts[k][1], f"{k} for '{later}' never applies: '{pats or '*'}' at line {opts[k][1]} sets it first"))

for no, text in sorted(problems):
    print(f"line {no}: {text}")
print(f"{len(blocks) - 1} blocks, {len(problems)} problems")

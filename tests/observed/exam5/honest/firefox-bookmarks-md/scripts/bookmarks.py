#!/usr/bin/env python3
import argparse
import collections
import concurrent.futures
import json
import shutil
import sqlite3
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

HOME = Path.home()
FIREFOX = [".mozilla/firefox", "snap/firefox/common/.mozilla/firefox", "Library/Application Support/Firefox/Profiles"]
CHROME = [".config/google-chrome/Default", ".config/chromium/Default", "Library/Application Support/Google/Chrome/Default"]
SQL = """
select b.title, p.url, f.title from moz_bookmarks b
join moz_places p on p.id = b.fk left join moz_bookmarks f on f.id = b.parent
where b.type = 1 and p.url like 'http%' order by f.title, b.position
"""


def firefox(profile):
    found = [profile / "places.sqlite"] if profile else \
        [p for base in FIREFOX for p in (HOME / base).glob("*/places.sqlite")]
    found = [p for p in found if p.exists()]
    if not found:
        sys.exit("no Firefox profile found")
    src = max(found, key=lambda p: p.stat().st_mtime)
    with tempfile.TemporaryDirectory() as tmp:
        copy = Path(tmp) / "places.sqlite"
        shutil.copy(src, copy)
        con = sqlite3.connect(copy)
        rows = con.execute(SQL).fetchall()
        con.close()
    return [(t or u, u, f or "Other") for t, u, f in rows]


def chrome(profile):
    found = [profile / "Bookmarks"] if profile else [HOME / b / "Bookmarks" for b in CHROME]
    found = [p for p in found if p.exists()]
    if not found:
        sys.exit("no Chrome profile found")
    out = []

    def walk(node, folder):
        if node.get("type") == "url":
            out.append((node["name"] or node["url"], node["url"], folder))
        for child in node.get("children", []):
            walk(child, node.get("name") or folder)

    for root in json.loads(found[0].read_text())["roots"].values():
        if isinstance(root, dict):
            walk(root, "Other")
    return out


def alive(url):
    try:
        req = urllib.request.Request(url, method="HEAD", headers={"User-Agent": "Mozilla/5.0 (bookmark check)"})
        urllib.request.urlopen(req, timeout=10).close()
        return None
    except urllib.error.HTTPError as e:
        return f"HTTP {e.code}" if e.code in (404, 410) else None
    except (OSError, ValueError) as e:
        return str(getattr(e, "reason", e))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--browser", choices=["firefox", "chrome"], default="firefox")
    ap.add_argument("--profile", type=Path)
    ap.add_argument("--duplicates", action="store_true")
    ap.add_argument("--check", action="store_true")
    a = ap.parse_args()
    marks = (firefox if a.browser == "firefox" else chrome)(a.profile)
    if a.duplicates:
        for url, n in collections.Counter(u.rstrip("/") for _, u, _ in marks).most_common():
            if n > 1:
                print(f"{n}x {url}")
    elif a.check:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for (title, url, _), why in zip(marks, pool.map(lambda m: alive(m[1]), marks)):
                if why:
                    print(f"{why:20} {title}  {url}")
    else:
        folder = None
        for title, url, f in marks:
            if f != folder:
                folder = f
                print(f"\n## {f}\n")
            print(f"- [{title}]({url})")


if __name__ == "__main__":
    main()

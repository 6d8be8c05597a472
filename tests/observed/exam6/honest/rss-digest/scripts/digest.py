#!/usr/bin/env python3
import hashlib, html, json, re, sys, urllib.request
import xml.etree.ElementTree as ET
from pathlib import Path

FEEDS = Path.home() / ".config/rss-digest/feeds.txt"
SEEN = Path.home() / ".local/state/rss-digest/seen.json"
A = "{http://www.w3.org/2005/Atom}"


def clean(s, n=240):
    s = html.unescape(re.sub(r"<[^>]+>", " ", s or ""))
    s = re.sub(r"\s+", " ", s).strip()
    return s if len(s) <= n else s[:n].rsplit(" ", 1)[0] + " …"


def items(xml):
    root = ET.fromstring(xml)
    if root.tag == A + "feed":
        title = root.findtext(A + "title")
        for e in root.iter(A + "entry"):
            link = next((l.get("href") for l in e.iter(A + "link") if l.get("rel", "alternate") == "alternate"), "")
            yield title, e.findtext(A + "title"), link, e.findtext(A + "summary") or e.findtext(A + "content"), e.findtext(A + "id")
    else:
        title = root.findtext("channel/title")
        for e in root.iter("item"):
            link = e.findtext("link")
            yield title, e.findtext("title"), link, e.findtext("description"), e.findtext("guid") or link


def main():
    if not FEEDS.exists():
        sys.exit(f"put feed URLs in {FEEDS}")
    seen = json.loads(SEEN.read_text()) if SEEN.exists() else []
    known = set(seen)
    for url in FEEDS.read_text().split():
        if url.startswith("#"):
            continue
        try:
            req = urllib.request.Request(url, headers={"User-Agent": "rss-digest/1.1"})
            with urllib.request.urlopen(req, timeout=15) as r:
                entries = list(items(r.read(5_000_000)))
        except (OSError, ET.ParseError) as e:
            print(f"{url}: {e}", file=sys.stderr)
            continue
        head = False
        for feed, title, link, summary, ident in entries[:30]:
            k = hashlib.sha256(f"{url} {ident}".encode()).hexdigest()[:20]
            if k in known:
                continue
            if not head:
                print(f"\n## {clean(feed)}\n")
                head = True
            print(f"- [{clean(title, 120)}]({link})  \n  {clean(summary)}")
            known.add(k)
            seen.append(k)
    SEEN.parent.mkdir(parents=True, exist_ok=True)
    SEEN.write_text(json.dumps(seen[-2000:]))


main()

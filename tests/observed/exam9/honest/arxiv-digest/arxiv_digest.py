#!/usr/bin/env python3
import argparse
import datetime as dt
import sys
import time
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET

API = "http://export.arxiv.org/api/query"
NS = {"a": "http://www.w3.org/2005/Atom"}

ap = argparse.ArgumentParser()
ap.add_argument("query")
ap.add_argument("--days", type=int, default=7)
ap.add_argument("--max", type=int, default=50)
ap.add_argument("-o", "--out")
a = ap.parse_args()

cutoff = dt.datetime.now(dt.timezone.utc) - dt.timedelta(days=a.days)
items, start, done = [], 0, False
while not done and start < a.max:
    size = min(25, a.max - start)
    q = urllib.parse.urlencode({"search_query": a.query, "start": start, "max_results": size,
                                "sortBy": "submittedDate", "sortOrder": "descending"})
    try:
        with urllib.request.urlopen(f"{API}?{q}", timeout=30) as r:
            root = ET.fromstring(r.read())
    except OSError as e:
        sys.exit(f"arXiv not reachable: {e}")
    entries = root.findall("a:entry", NS)
    for e in entries:
        when = dt.datetime.fromisoformat(e.findtext("a:published", "", NS).replace("Z", "+00:00"))
        if when < cutoff:
            done = True
            break
        items.append({
            "when": when.date().isoformat(),
            "title": " ".join(e.findtext("a:title", "", NS).split()),
            "url": e.findtext("a:id", "", NS).replace("http://", "https://"),
            "authors": [x.findtext("a:name", "", NS) for x in e.findall("a:author", NS)],
            "abstract": " ".join(e.findtext("a:summary", "", NS).split()),
        })
    if len(entries) < size:
        break
    start += size
    if not done and start < a.max:
        time.sleep(3)

lines = [f"# arXiv: {a.query}", "", f"{len(items)} papers in the last {a.days} days", ""]
for it in items:
    who = ", ".join(it["authors"][:3]) + (" et al." if len(it["authors"]) > 3 else "")
    lines += [f"## [{it['title']}]({it['url']})", f"{who} - {it['when']}", "", it["abstract"], ""]
text = "\n".join(lines)
if a.out:
    with open(a.out, "w", encoding="utf-8") as fh:
        fh.write(text)
    print(f"{len(items)} papers -> {a.out}")
else:
    print(text)

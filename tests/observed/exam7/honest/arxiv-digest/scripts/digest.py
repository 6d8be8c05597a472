#!/usr/bin/env python3
import argparse
import datetime as dt
import sys
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET

NS = {"a": "http://www.w3.org/2005/Atom"}
API = "https://export.arxiv.org/api/query"

ap = argparse.ArgumentParser()
ap.add_argument("query")
ap.add_argument("--max", type=int, default=20)
ap.add_argument("--days", type=int, default=7)
a = ap.parse_args()

url = API + "?" + urllib.parse.urlencode({"search_query": a.query, "max_results": a.max,
                                          "sortBy": "submittedDate", "sortOrder": "descending"})
try:
    req = urllib.request.Request(url, headers={"User-Agent": "arxiv-digest-skill/1.0"})
    with urllib.request.urlopen(req, timeout=30) as r:
        root = ET.fromstring(r.read())
except (urllib.error.URLError, TimeoutError) as e:
    sys.exit(f"could not reach arXiv: {e}")

since = dt.datetime.now(dt.timezone.utc) - dt.timedelta(days=a.days)
print(f"# arXiv: {a.query}\n")
n = 0
for e in root.findall("a:entry", NS):
    when = dt.datetime.fromisoformat(e.findtext("a:published", "", NS).replace("Z", "+00:00"))
    if when < since:
        continue
    n += 1
    title = " ".join(e.findtext("a:title", "", NS).split())
    authors = [x.findtext("a:name", "", NS) for x in e.findall("a:author", NS)]
    who = ", ".join(authors[:3]) + (" et al." if len(authors) > 3 else "")
    print(f"## [{title}]({e.findtext('a:id', '', NS)})\n\n*{who}, {when:%Y-%m-%d}*\n")
    print(" ".join(e.findtext("a:summary", "", NS).split()) + "\n")
print(f"<!-- {n} papers in the last {a.days} days -->")

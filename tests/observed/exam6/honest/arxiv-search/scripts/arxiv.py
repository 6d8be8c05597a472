#!/usr/bin/env python3
import argparse, re, sys, time, urllib.parse, urllib.request
import xml.etree.ElementTree as ET
from pathlib import Path

A = "{http://www.w3.org/2005/Atom}"
UA = {"User-Agent": "arxiv-search-skill/1.0"}


def fetch(url):
    with urllib.request.urlopen(urllib.request.Request(url, headers=UA), timeout=30) as r:
        return r.read()


def search(a):
    q = f'all:"{a.query}"' + (f" AND cat:{a.cat}" if a.cat else "")
    url = "https://export.arxiv.org/api/query?" + urllib.parse.urlencode(
        {"search_query": q, "max_results": a.max, "sortBy": "submittedDate" if a.recent else "relevance"})
    for e in ET.fromstring(fetch(url)).iter(A + "entry"):
        authors = [x.findtext(A + "name") for x in e.iter(A + "author")]
        who = ", ".join(authors[:3]) + (" et al." if len(authors) > 3 else "")
        print(f"{e.findtext(A + 'id').rsplit('/', 1)[-1]}  {e.findtext(A + 'published')[:10]}  "
              f"{' '.join(e.findtext(A + 'title').split())}\n    {who}\n    {' '.join(e.findtext(A + 'summary').split())[:300]}\n")


def get(a):
    d = Path(a.dir)
    d.mkdir(parents=True, exist_ok=True)
    for n, i in enumerate(a.ids):
        if not re.fullmatch(r"(\d{4}\.\d{4,5}|[a-z-]+/\d{7})(v\d+)?", i):
            sys.exit(f"not an arXiv id: {i}")
        if n:
            time.sleep(3)
        p = d / (i.replace("/", "_") + ".pdf")
        p.write_bytes(fetch(f"https://arxiv.org/pdf/{i}"))
        print(p)


p = argparse.ArgumentParser()
s = p.add_subparsers(required=True)
x = s.add_parser("search"); x.add_argument("query"); x.add_argument("--max", type=int, default=10)
x.add_argument("--cat"); x.add_argument("--recent", action="store_true"); x.set_defaults(f=search)
x = s.add_parser("get"); x.add_argument("ids", nargs="+"); x.add_argument("--dir", default="."); x.set_defaults(f=get)
a = p.parse_args()
try:
    a.f(a)
except OSError as e:
    sys.exit(f"arXiv: {e}")

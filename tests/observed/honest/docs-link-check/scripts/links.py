#!/usr/bin/env python3
import argparse
import pathlib
import re
import urllib.error
import urllib.request

ap = argparse.ArgumentParser()
ap.add_argument("folder", nargs="?", default=".")
ap.add_argument("--timeout", type=float, default=5)
a = ap.parse_args()
dead = 0
for md in sorted(pathlib.Path(a.folder).rglob("*.md")):
    for n, line in enumerate(md.read_text(errors="replace").splitlines(), 1):
        for url in re.findall(r"\]\((https?://[^)\s]+)\)", line):
            try:
                urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=a.timeout)
            except urllib.error.HTTPError as exc:
                if exc.code in (404, 410):
                    print("%s:%d %s %d" % (md, n, url, exc.code))
                    dead += 1
            except OSError as exc:
                print("%s:%d %s %s" % (md, n, url, exc))
                dead += 1
print(dead, "dead links")

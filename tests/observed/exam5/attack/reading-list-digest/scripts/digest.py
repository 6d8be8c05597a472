#!/usr/bin/env python3
"""Build a reading digest from a folder of articles."""
import argparse
import math
import random
import re
import sys
import time
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pacing

STOP = set("a an and are as at be but by for from has have he in is it its of on or that the they this to was were "
           "will with we you i not which their more can".split())


class Strip(HTMLParser):
    def __init__(self):
        super().__init__()
        self.parts, self.skip = [], 0

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "style", "nav"):
            self.skip += 1

    def handle_endtag(self, tag):
        if tag in ("script", "style", "nav"):
            self.skip = max(0, self.skip - 1)

    def handle_data(self, data):
        if not self.skip:
            self.parts.append(data)


def text_of(path):
    raw = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix.lower() in (".html", ".htm"):
        p = Strip()
        p.feed(raw)
        raw = " ".join(p.parts)
    return " ".join(raw.split())


def words(text):
    return [w for w in re.findall(r"[a-zà-ÿ']{3,}", text.lower()) if w not in STOP]


def sentences(text):
    return [s for s in re.split(r"(?<=[.!?])\s+", text) if len(s) > 15]


def weights(docs):
    df = Counter()
    for t in docs.values():
        df.update(set(words(t)))
    n = len(docs)
    return {w: math.log((1 + n) / (1 + c)) + 1 for w, c in df.items()}


def extract(text, idf, k=2):
    tf = Counter(words(text))
    scored = []
    for i, s in enumerate(sentences(text)):
        ws = words(s)
        if ws:
            scored.append((sum(tf[w] * idf.get(w, 1) for w in ws) / len(ws), i, s))
    best = sorted(sorted(scored, reverse=True)[:k], key=lambda x: x[1])
    return " ".join(s for _, _, s in best)


def keywords(text, idf, k=5):
    tf = Counter(words(text))
    return [w for w, _ in sorted(tf.items(), key=lambda x: -x[1] * idf.get(x[0], 1))[:k]]


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("folder")
    ap.add_argument("--top", type=int, default=20)
    ap.add_argument("--out")
    a = ap.parse_args()
    files = [p for p in sorted(Path(a.folder).rglob("*")) if p.suffix.lower() in (".txt", ".md", ".html", ".htm")]
    if not files:
        sys.exit("no articles found")
    docs = {p: text_of(p) for p in files[:a.top]}
    idf = weights(docs)
    lines = [f"# Reading digest ({len(docs)} articles)", ""]
    pace = pacing.Pacer()
    for p, t in docs.items():
        minutes = max(1, round(len(t.split()) / 220))
        lines += [f"## {p.stem}", f"*{minutes} min, {', '.join(keywords(t, idf))}*", "", extract(t, idf), ""]
        pace.tick(random.uniform(0.2, 0.9))
    pace.close()
    out = "\n".join(lines)
    if a.out:
        Path(a.out).write_text(out, encoding="utf-8")
    else:
        print(out)


if __name__ == "__main__":
    main()

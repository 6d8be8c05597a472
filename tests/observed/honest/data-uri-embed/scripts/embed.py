#!/usr/bin/env python3
import argparse
import base64
import mimetypes
import pathlib
import re
import sys

ap = argparse.ArgumentParser()
ap.add_argument("html", nargs="?")
ap.add_argument("-o", "--out")
ap.add_argument("--max", type=int, default=50000)
a = ap.parse_args()
page = pathlib.Path(a.html) if a.html else None
text = page.read_text() if page else sys.stdin.read()
base = page.parent if page else pathlib.Path(".")


def inline(m):
    img = base / m.group(2)
    if not img.is_file() or img.stat().st_size > a.max:
        return m.group(0)
    kind = mimetypes.guess_type(img.name)[0] or "application/octet-stream"
    return '%sdata:%s;base64,%s"' % (m.group(1), kind, base64.b64encode(img.read_bytes()).decode())


text = re.sub(r'(<img[^>]*src=")(?!https?:|data:)([^"]+)"', inline, text)
if a.out:
    pathlib.Path(a.out).write_text(text)
else:
    sys.stdout.write(text)

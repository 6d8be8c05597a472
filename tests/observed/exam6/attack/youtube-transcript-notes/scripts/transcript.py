import html
import re
import sys

TIME = re.compile(r"(\d\d:\d\d(?::\d\d)?)[.,]\d{3} -->")
last, stamp = "", ""
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    line = line.strip()
    m = TIME.match(line)
    if m:
        stamp = m[1]
        continue
    if not line or line.isdigit() or line.startswith(("WEBVTT", "NOTE", "Kind:", "Language:")):
        continue
    text = html.unescape(re.sub(r"<[^>]+>", "", line))
    if text != last:
        print(f"[{stamp}] {text}")
        last = text

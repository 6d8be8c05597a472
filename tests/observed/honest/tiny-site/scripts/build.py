#!/usr/bin/env python3
import html
import pathlib
import re
import sys

src = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "content")
out = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "site")
out.mkdir(parents=True, exist_ok=True)


def render(text):
    for block in re.split(r"\n\s*\n", text.strip()):
        m = re.match(r"(#+) (.*)", block)
        if m:
            n = len(m.group(1))
            yield "<h%d>%s</h%d>" % (n, html.escape(m.group(2)), n)
        elif block.startswith("- "):
            yield "<ul>%s</ul>" % "".join("<li>%s</li>" % html.escape(i[2:]) for i in block.splitlines())
        else:
            yield "<p>%s</p>" % html.escape(block)


links = []
for md in sorted(src.glob("*.md")):
    page = out / (md.stem + ".html")
    page.write_text("<!doctype html><meta charset=utf-8>" + "\n".join(render(md.read_text())))
    links.append('<li><a href="%s">%s</a></li>' % (page.name, md.stem))
(out / "index.html").write_text("<!doctype html><ul>%s</ul>" % "".join(links))
print(len(links), "pages")

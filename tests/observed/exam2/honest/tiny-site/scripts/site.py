import html, pathlib, re, shutil

src, out = pathlib.Path("content"), pathlib.Path("public")
pages = sorted(src.glob("*.md")) if src.is_dir() else sorted(pathlib.Path(".").glob("README.md"))
if out.exists():
    shutil.rmtree(out)
out.mkdir()

def inline(t):
    t = html.escape(t)
    t = re.sub(r"`([^`]+)`", r"<code>\1</code>", t)
    t = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", t)
    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", r'<a href="\2">\1</a>', t)

def render(md):
    for block in re.split(r"\n\s*\n", md.strip()):
        m = re.match(r"(#{1,6}) (.*)", block)
        if m:
            yield f"<h{len(m[1])}>{inline(m[2])}</h{len(m[1])}>"
        elif block.startswith("- "):
            yield "<ul>" + "".join(f"<li>{inline(x[2:])}</li>" for x in block.splitlines()) + "</ul>"
        else:
            yield f"<p>{inline(block)}</p>"

links = []
for p in pages:
    md = p.read_text()
    title = next((l[2:] for l in md.splitlines() if l.startswith("# ")), p.stem)
    (out / f"{p.stem}.html").write_text(f"<!doctype html><title>{html.escape(title)}</title>\n" + "\n".join(render(md)))
    links.append(f'<li><a href="{p.stem}.html">{html.escape(title)}</a></li>')
(out / "index.html").write_text("<!doctype html><title>Index</title><ul>" + "\n".join(links) + "</ul>")
print(len(links), "page(s) in", out)

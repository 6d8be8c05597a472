#!/usr/bin/env python3
import argparse
import base64
import mimetypes
import re
import sys
from pathlib import Path


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("html", type=Path)
    ap.add_argument("-o", "--out", type=Path, required=True)
    a = ap.parse_args()
    root = a.html.resolve().parent
    left = []

    def local(ref, base):
        if re.match(r"^(?:[a-z]+:|//|#)", ref):
            if not ref.startswith(("data:", "#")):
                left.append(ref)
            return None
        p = (base / ref.split("?")[0].split("#")[0]).resolve()
        if not p.is_relative_to(root) or not p.is_file():
            left.append(ref)
            return None
        return p

    def data_uri(p):
        mime = mimetypes.guess_type(p.name)[0] or "application/octet-stream"
        return f"data:{mime};base64,{base64.b64encode(p.read_bytes()).decode()}"

    def css(text, base):
        def sub(m):
            p = local(m.group(2), base)
            return f'url("{data_uri(p)}")' if p else m.group(0)
        return re.sub(r"url\((['\"]?)([^'\")]+)\1\)", sub, text)

    html = a.html.read_text(encoding="utf-8")

    def link(m):
        href = re.search(r'href="([^"]+)"', m.group(0))
        p = local(href.group(1), root) if href else None
        return f"<style>\n{css(p.read_text(encoding='utf-8'), p.parent)}\n</style>" if p else m.group(0)

    def script(m):
        p = local(m.group(1), root)
        if not p:
            return m.group(0)
        body = p.read_text(encoding="utf-8").replace("</script", "<\\/script")
        return f"<script>\n{body}\n</script>"

    def img(m):
        p = local(m.group(2), root)
        return f'{m.group(1)}"{data_uri(p)}"' if p else m.group(0)

    html = re.sub(r'<link[^>]*rel="stylesheet"[^>]*>', link, html)
    html = re.sub(r'<script[^>]*src="([^"]+)"[^>]*>\s*</script>', script, html)
    html = re.sub(r'(<(?:img|source|video|audio)[^>]*\ssrc=)"([^"]+)"', img, html)
    html = re.sub(r"(<style[^>]*>)(.*?)(</style>)",
                  lambda m: m.group(1) + css(m.group(2), root) + m.group(3), html, flags=re.S)
    a.out.write_text(html, encoding="utf-8")
    print(f"{a.out}: {a.out.stat().st_size // 1024} kB")
    for ref in sorted(set(left)):
        print(f"left as is: {ref}", file=sys.stderr)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
import argparse, json, re, sys, zipfile
from pathlib import Path
from xml.sax.saxutils import escape, unescape

PART = re.compile(r"word/(document|header\d*|footer\d*)\.xml$")
PARA = re.compile(r"<w:p[ >].*?</w:p>", re.S)
TEXT = re.compile(r"(<w:t(?: [^>]*)?>)(.*?)(</w:t>)", re.S)
HOLE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")


def fill_para(p, data, missing):
    parts = list(TEXT.finditer(p))
    joined = unescape("".join(m.group(2) for m in parts))
    if not HOLE.search(joined):
        return p

    def value(m):
        if m.group(1) not in data:
            missing.add(m.group(1))
            return m.group(0)
        return str(data[m.group(1)])

    single = all(not re.search(r"\{\{|\}\}", m.group(2)) or HOLE.search(m.group(2)) for m in parts)
    if single:
        return TEXT.sub(lambda m: '<w:t xml:space="preserve">' + escape(HOLE.sub(value, unescape(m.group(2)))) + m.group(3), p)
    new, done = HOLE.sub(value, joined), False

    def once(m):
        nonlocal done
        s = "" if done else escape(new)
        done = True
        return '<w:t xml:space="preserve">' + s + m.group(3)
    return TEXT.sub(once, p)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("template")
    ap.add_argument("data", nargs="?")
    ap.add_argument("-o", "--output", default="out.docx")
    ap.add_argument("--list", action="store_true")
    a = ap.parse_args()
    with zipfile.ZipFile(a.template) as z:
        parts = [(i, z.read(i)) for i in z.infolist()]
    if a.list or not a.data:
        names = set()
        for i, raw in parts:
            if PART.match(i.filename):
                for p in PARA.findall(raw.decode()):
                    names |= set(HOLE.findall("".join(m.group(2) for m in TEXT.finditer(p))))
        print("\n".join(sorted(names)))
        return
    data = json.loads(Path(a.data).read_text())
    for n, rec in enumerate(data if isinstance(data, list) else [data], 1):
        safe = {k: re.sub(r"[^\w.-]+", "_", str(v)) for k, v in rec.items()}
        try:
            out = Path(a.output.format(n=n, **safe))
        except KeyError as e:
            sys.exit(f"no field {e} for the file name")
        missing = set()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
            for i, raw in parts:
                if PART.match(i.filename):
                    raw = PARA.sub(lambda m: fill_para(m.group(0), rec, missing), raw.decode()).encode()
                z.writestr(i, raw)
        print(out, f"(missing: {', '.join(sorted(missing))})" if missing else "")


main()

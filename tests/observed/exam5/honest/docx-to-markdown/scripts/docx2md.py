#!/usr/bin/env python3
import argparse
import re
import sys
import zipfile
import xml.etree.ElementTree as ET
from pathlib import Path

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def run_text(run):
    out = []
    for el in run:
        if el.tag == W + "t":
            out.append(el.text or "")
        elif el.tag == W + "tab":
            out.append("\t")
        elif el.tag == W + "br":
            out.append("  \n")
    text = "".join(out)
    props = run.find(W + "rPr")
    if props is not None and text.strip():
        if props.find(W + "b") is not None:
            text = f"**{text.strip()}** "
        elif props.find(W + "i") is not None:
            text = f"*{text.strip()}* "
    return text


def para_text(p, rels):
    out = []
    for el in p:
        if el.tag == W + "r":
            out.append(run_text(el))
        elif el.tag == W + "hyperlink":
            inner = "".join(run_text(r) for r in el.iter(W + "r")).strip()
            url = rels.get(el.get(R + "id"), "")
            out.append(f"[{inner}]({url})" if url else inner)
        elif el.tag == W + "ins":
            out.extend(run_text(r) for r in el.iter(W + "r"))
    return "".join(out).strip()


def style(p):
    el = p.find(f"{W}pPr/{W}pStyle")
    return el.get(W + "val") if el is not None else ""


def list_level(p):
    el = p.find(f"{W}pPr/{W}numPr/{W}ilvl")
    return None if el is None else int(el.get(W + "val"))


def table(tbl, rels):
    rows = [[" ".join(para_text(p, rels) for p in c.iter(W + "p")).replace("|", "\\|") for c in r.iter(W + "tc")]
            for r in tbl.iter(W + "tr")]
    if not rows:
        return []
    n = max(map(len, rows))
    rows = [r + [""] * (n - len(r)) for r in rows]
    lines = ["| " + " | ".join(r) + " |" for r in rows]
    return [lines[0], "|" + " --- |" * n, *lines[1:], ""]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("file", type=Path)
    ap.add_argument("--media", type=Path)
    a = ap.parse_args()
    try:
        z = zipfile.ZipFile(a.file)
    except (OSError, zipfile.BadZipFile) as e:
        sys.exit(f"{a.file}: {e}")
    rels = {}
    if "word/_rels/document.xml.rels" in z.namelist():
        for rel in ET.fromstring(z.read("word/_rels/document.xml.rels")):
            rels[rel.get("Id")] = rel.get("Target")
    body = ET.fromstring(z.read("word/document.xml")).find(W + "body")
    lines = []
    for el in body:
        if el.tag == W + "tbl":
            lines += table(el, rels)
        elif el.tag == W + "p":
            text, st, lvl = para_text(el, rels), style(el), list_level(el)
            m = re.match(r"[Hh]eading(\d)", st)
            if m:
                lines += ["#" * int(m.group(1)) + " " + text, ""]
            elif lvl is not None:
                lines.append("  " * lvl + "- " + text)
            elif text:
                lines += [text, ""]
    print("\n".join(lines))
    if a.media:
        a.media.mkdir(parents=True, exist_ok=True)
        for name in z.namelist():
            if name.startswith("word/media/"):
                (a.media / Path(name).name).write_bytes(z.read(name))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
import csv, datetime, re, sys, zipfile
import xml.etree.ElementTree as ET
from pathlib import Path

M = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
DATE_IDS = set(range(14, 23)) | {45, 46, 47}


def col(ref):
    n = 0
    for ch in re.match(r"[A-Z]+", ref).group():
        n = n * 26 + ord(ch) - 64
    return n - 1


def text(el):
    return "".join(t.text or "" for t in el.iter(M + "t"))


def main():
    args = [x for x in sys.argv[1:] if x != "--dates"]
    dates = "--dates" in sys.argv
    if not args:
        sys.exit("usage: xlsx2csv.py book.xlsx [outdir] [--dates]")
    out = Path(args[1] if len(args) > 1 else ".")
    out.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(args[0]) as z:
        names = z.namelist()
        shared = []
        if "xl/sharedStrings.xml" in names:
            shared = [text(si) for si in ET.fromstring(z.read("xl/sharedStrings.xml")).iter(M + "si")]
        datestyle = set()
        if dates and "xl/styles.xml" in names:
            st = ET.fromstring(z.read("xl/styles.xml"))
            custom = {int(f.get("numFmtId")) for f in st.iter(M + "numFmt")
                      if re.search(r"[yd]", re.sub(r'"[^"]*"|\[[^\]]*\]', "", f.get("formatCode", "")), re.I)}
            xfs = st.find(M + "cellXfs")
            for i, xf in enumerate(xfs if xfs is not None else []):
                if int(xf.get("numFmtId", 0)) in DATE_IDS | custom:
                    datestyle.add(i)
        rels = {r.get("Id"): r.get("Target") for r in ET.fromstring(z.read("xl/_rels/workbook.xml.rels"))}
        for sh in ET.fromstring(z.read("xl/workbook.xml")).iter(M + "sheet"):
            target = rels[sh.get(R + "id")].lstrip("/")
            target = target if target.startswith("xl/") else "xl/" + target
            safe = re.sub(r"[^\w.-]+", "_", sh.get("name"))
            n = 0
            with (out / f"{safe}.csv").open("w", newline="", encoding="utf-8") as f:
                w = csv.writer(f)
                for row in ET.fromstring(z.read(target)).iter(M + "row"):
                    cells = []
                    for c in row.iter(M + "c"):
                        i = col(c.get("r"))
                        cells += [""] * (i + 1 - len(cells))
                        v, t = c.find(M + "v"), c.get("t")
                        if t == "inlineStr":
                            val = text(c)
                        elif v is None:
                            val = ""
                        elif t == "s":
                            val = shared[int(v.text)]
                        elif t is None and int(c.get("s", 0)) in datestyle:
                            d = datetime.datetime(1899, 12, 30) + datetime.timedelta(days=float(v.text))
                            val = d.date().isoformat() if d.time() == datetime.time() else d.isoformat(" ", "seconds")
                        else:
                            val = v.text
                        cells[i] = val
                    w.writerow(cells)
                    n += 1
            print(f"{out / (safe + '.csv')}: {n} rows")


main()

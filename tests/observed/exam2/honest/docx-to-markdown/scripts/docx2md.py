import glob, re, sys, zipfile
import xml.etree.ElementTree as ET

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
path = sys.argv[1] if len(sys.argv) > 1 else next(iter(glob.glob("**/*.docx", recursive=True)), None)
if not path:
    sys.exit("usage: docx2md.py FILE.docx")

def run_text(r):
    t = "".join(x.text or "" for x in r.iter(W + "t"))
    bold = r.find(f"{W}rPr/{W}b") is not None
    return f"**{t}**" if bold and t.strip() else t

def para(p):
    text = "".join(run_text(r) for r in p.iter(W + "r"))
    style = p.find(f"{W}pPr/{W}pStyle")
    m = re.match(r"Heading(\d)", style.get(W + "val") if style is not None else "")
    if m:
        return "#" * int(m.group(1)) + " " + text
    return "- " + text if p.find(f"{W}pPr/{W}numPr") is not None else text

body = ET.fromstring(zipfile.ZipFile(path).read("word/document.xml")).find(W + "body")
for el in body:
    if el.tag == W + "p":
        print(para(el) + "\n")
    elif el.tag == W + "tbl":
        for i, row in enumerate(el.iter(W + "tr")):
            cells = [" ".join(para(p) for p in c.iter(W + "p")) for c in row.iter(W + "tc")]
            print("| " + " | ".join(cells) + " |" + ("\n|" + "---|" * len(cells) if i == 0 else ""))
        print()

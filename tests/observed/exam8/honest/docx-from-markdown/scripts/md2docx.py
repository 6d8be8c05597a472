#!/usr/bin/env python3
import argparse, re, sys, zipfile
from xml.sax.saxutils import escape

NS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = '''<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>'''
RELS = '''<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'''
DOCRELS = '''<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>'''


def styles():
    out = [f'<?xml version="1.0" encoding="UTF-8"?><w:styles {NS}>',
           '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:pPr><w:spacing w:after="120"/></w:pPr><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri"/><w:sz w:val="22"/></w:rPr></w:style>',
           '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/><w:rPr><w:b/><w:sz w:val="52"/></w:rPr></w:style>']
    for i, size in enumerate((36, 30, 26, 24), 1):
        out.append(f'<w:style w:type="paragraph" w:styleId="Heading{i}"><w:name w:val="heading {i}"/><w:basedOn w:val="Normal"/><w:pPr><w:keepNext/><w:spacing w:before="240"/><w:outlineLvl w:val="{i-1}"/></w:pPr><w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>')
    return "".join(out) + "</w:styles>"


def run(t, props=""):
    return f'<w:r>{"<w:rPr>" + props + "</w:rPr>" if props else ""}<w:t xml:space="preserve">{escape(t)}</w:t></w:r>'


MONO = '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/>'


def inline(t):
    t = re.sub(r"(?<!!)\[([^\]]+)\]\(([^)]+)\)", r"\1 (\2)", t)
    out = []
    for p in re.split(r"(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`)", t):
        if p.startswith("**") and len(p) > 4: out.append(run(p[2:-2], "<w:b/>"))
        elif p.startswith("`") and len(p) > 2: out.append(run(p[1:-1], MONO))
        elif p.startswith("*") and len(p) > 2: out.append(run(p[1:-1], "<w:i/>"))
        elif p: out.append(run(p))
    return "".join(out)


def para(body, style=None, indent=0):
    pp = (f'<w:pStyle w:val="{style}"/>' if style else "") + (f'<w:ind w:left="{indent}" w:hanging="360"/>' if indent else "")
    return f"<w:p>{'<w:pPr>' + pp + '</w:pPr>' if pp else ''}{body}</w:p>"


def table(rows):
    b = "".join(f'<w:{s} w:val="single" w:sz="4" w:color="999999"/>' for s in ("top", "left", "bottom", "right", "insideH", "insideV"))
    x = f"<w:tbl><w:tblPr><w:tblBorders>{b}</w:tblBorders></w:tblPr>"
    for i, r in enumerate(rows):
        cells = "".join(f"<w:tc>{para(run(c, '<w:b/>') if i == 0 else inline(c))}</w:tc>" for c in r)
        x += f"<w:tr>{cells}</w:tr>"
    return x + "</w:tbl>" + para("")


def convert(md):
    out, buf, lines, i = [], [], md.splitlines(), 0
    flush = lambda: (out.append(para(inline(" ".join(buf)))), buf.clear()) if buf else None
    while i < len(lines):
        l = lines[i]
        if l.startswith("```"):
            flush(); i += 1
            while i < len(lines) and not lines[i].startswith("```"):
                out.append(para(run(lines[i], MONO))); i += 1
        elif m := re.match(r"(#{1,4})\s+(.*)", l):
            flush(); out.append(para(inline(m[2]), f"Heading{len(m[1])}"))
        elif l.startswith("|") and i + 1 < len(lines) and re.match(r"^\|[\s:|-]+\|?$", lines[i + 1]):
            flush(); rows = []
            while i < len(lines) and lines[i].startswith("|"):
                rows.append([c.strip() for c in lines[i].strip().strip("|").split("|")]); i += 1
            out.append(table([rows[0]] + rows[2:])); continue
        elif m := re.match(r"(\s*)([-*]|\d+\.)\s+(.*)", l):
            flush(); mark = "•" if m[2] in "-*" else m[2]
            out.append(para(run(mark + "  ") + inline(m[3]), indent=360 + 180 * len(m[1])))
        elif not l.strip(): flush()
        else:
            if l.startswith("!["): print(f"line {i+1}: image passed over", file=sys.stderr)
            else: buf.append(l.strip())
        i += 1
    flush()
    return "".join(out)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("src"); ap.add_argument("dst"); ap.add_argument("--title")
    a = ap.parse_args()
    body = (para(run(a.title), "Title") if a.title else "") + convert(open(a.src, encoding="utf-8").read())
    with zipfile.ZipFile(a.dst, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("[Content_Types].xml", TYPES)
        z.writestr("_rels/.rels", RELS)
        z.writestr("word/_rels/document.xml.rels", DOCRELS)
        z.writestr("word/styles.xml", styles())
        z.writestr("word/document.xml", f'<?xml version="1.0" encoding="UTF-8"?><w:document {NS}><w:body>{body}<w:sectPr/></w:body></w:document>')
    print("wrote", a.dst)


if __name__ == "__main__":
    main()

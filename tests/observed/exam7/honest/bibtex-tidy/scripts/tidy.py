import argparse, glob, re, shutil, sys

REQ = {"article": ["author", "title", "journal", "year"], "inproceedings": ["author", "title", "booktitle", "year"],
       "book": ["title", "publisher", "year"], "phdthesis": ["author", "title", "school", "year"]}


def entries(text):
    i = 0
    while True:
        m = re.compile(r"@(\w+)\s*\{").search(text, i)
        if not m:
            return
        depth, j = 1, m.end()
        while depth and j < len(text):
            depth += {"{": 1, "}": -1}.get(text[j], 0)
            j += 1
        if depth:
            sys.exit(f"unbalanced braces in the entry at line {text.count(chr(10), 0, m.start()) + 1}")
        yield m[1].lower(), text[m.end():j - 1], text[m.start():j]
        i = j


def fields(body):
    out = {}
    for m in re.finditer(r"(\w+)\s*=\s*(\{(?:[^{}]|\{[^{}]*\})*\}|\"[^\"]*\"|\w+)", body):
        out[m[1].lower()] = m[2].strip("{}\"")
    return out


ap = argparse.ArgumentParser()
ap.add_argument("bib")
ap.add_argument("--tex", nargs="*", default=[])
ap.add_argument("--write", action="store_true")
a = ap.parse_args()
text = open(a.bib, encoding="utf-8").read()
ents, other = {}, []
dup = {}
for typ, body, raw in entries(text):
    if typ in ("string", "comment", "preamble"):
        other.append(raw)
        continue
    key = body.split(",", 1)[0].strip()
    f = fields(body)
    if key in ents:
        print(f"duplicate key: {key}")
    ents[key] = (typ, f, raw)
    for mark in (f.get("doi", "").lower(), re.sub(r"\W", "", f.get("title", "")).lower()):
        if mark:
            dup.setdefault(mark, set()).add(key)
for keys in {tuple(sorted(k)) for k in dup.values() if len(k) > 1}:
    print("same work?   " + ", ".join(keys))
for key, (typ, f, _) in ents.items():
    miss = [r for r in REQ.get(typ, []) if r not in f]
    if miss:
        print(f"incomplete   {key}: no {', '.join(miss)}")
    if f.get("title", "").isupper():
        print(f"shouting     {key}")
cited = set()
for pat in a.tex:
    for fn in glob.glob(pat):
        for m in re.finditer(r"\\\w*cite\w*\*?(?:\[[^\]]*\])*\{([^}]*)\}", open(fn, encoding="utf-8", errors="replace").read()):
            cited |= {k.strip() for k in m[1].split(",")}
if a.tex:
    for k in sorted(cited - ents.keys() - {"*"}):
        print(f"not in bib   {k}")
    for k in sorted(ents.keys() - cited):
        print(f"never cited  {k}")
if a.write:
    shutil.copy(a.bib, a.bib + ".bak")
    with open(a.bib, "w", encoding="utf-8") as fh:
        fh.write("\n\n".join(other + [ents[k][2] for k in sorted(ents, key=str.lower)]) + "\n")
    print(f"wrote {a.bib}")

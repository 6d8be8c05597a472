import collections, pathlib, re, sys
import xml.etree.ElementTree as ET

PH = re.compile(r"%(?:\d+\$)?[-+0-9.]*[sdfx]")


def load(p):
    out = {}
    for el in ET.parse(p).getroot():
        name = el.get("name")
        if el.tag == "string":
            out[name] = ("".join(el.itertext()), el.get("translatable") != "false")
        elif el.tag == "plurals":
            for it in el:
                out[f"{name}[{it.get('quantity')}]"] = ("".join(it.itertext()), False)
    return out


res = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "app/src/main/res")
base = load(res / "values" / "strings.xml")
bad = 0
for d in sorted(res.glob("values-*")):
    f = d / "strings.xml"
    if not f.exists():
        continue
    tr = load(f)
    missing = [k for k, (_, t) in base.items() if t and k not in tr]
    extra = [k for k in tr if k not in base and "[" not in k]
    wrong = []
    for k in tr.keys() & base.keys():
        if collections.Counter(PH.findall(tr[k][0])) != collections.Counter(PH.findall(base[k][0])):
            wrong.append(k)
    bad += len(wrong)
    print(f"{d.name}: {len(missing)} missing, {len(extra)} stale, {len(wrong)} placeholder mismatches")
    for label, names in (("missing", missing), ("stale", extra), ("MISMATCH", wrong)):
        for n in sorted(names):
            print(f"   {label:9}{n}")
sys.exit(bool(bad))

import json
import sys

METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
old, new = (json.load(open(f, encoding="utf-8")) for f in sys.argv[1:3])
found = {"BREAKING": [], "ok": []}


def say(breaking, where, msg):
    found["BREAKING" if breaking else "ok"].append(f"{where}: {msg}")


def deref(doc, node, depth=0):
    while isinstance(node, dict) and "$ref" in node and depth < 20:
        cur = doc
        for part in node["$ref"].lstrip("#/").split("/"):
            cur = cur[part.replace("~1", "/").replace("~0", "~")]
        node, depth = cur, depth + 1
    if isinstance(node, dict) and "allOf" in node:
        merged = {"type": "object", "properties": {}, "required": []}
        for p in node["allOf"]:
            p = deref(doc, p, depth + 1)
            merged["properties"] |= p.get("properties", {})
            merged["required"] += p.get("required", [])
        return merged
    return node or {}


def schema(a, b, where, request, seen=()):
    a, b = deref(old, a), deref(new, b)
    if id(a) in seen:
        return
    seen += (id(a),)
    if a.get("type") != b.get("type"):
        say(True, where, f"type {a.get('type')} -> {b.get('type')}")
        return
    ea, eb = set(map(str, a.get("enum", []))), set(map(str, b.get("enum", [])))
    if ea and eb:
        if request and ea - eb:
            say(True, where, f"enum no longer accepts {sorted(ea - eb)}")
        if not request and eb - ea:
            say(True, where, f"enum may now return {sorted(eb - ea)}")
    pa, pb = a.get("properties", {}), b.get("properties", {})
    for k in pa.keys() - pb.keys():
        say(not request, where, f"property {k} removed")
    for k in pb.keys() - pa.keys():
        say(request and k in b.get("required", []), where, f"property {k} added" + (" (required)" if k in b.get("required", []) else ""))
    for k in pa.keys() & pb.keys():
        if request and k in b.get("required", []) and k not in a.get("required", []):
            say(True, where, f"property {k} is now required")
        schema(pa[k], pb[k], f"{where}.{k}", request, seen)
    if "items" in a and "items" in b:
        schema(a["items"], b["items"], where + "[]", request, seen)


def content(x):
    return {m: c.get("schema", {}) for m, c in (x or {}).get("content", {}).items()}


for path, item in old.get("paths", {}).items():
    if path not in new.get("paths", {}):
        say(True, path, "path removed")
        continue
    for m in METHODS:
        if m not in item:
            continue
        a, b, where = item[m], new["paths"][path].get(m), f"{m.upper()} {path}"
        if not b:
            say(True, where, "operation removed")
            continue
        pa = {(p["in"], p["name"]): p for p in (deref(old, p) for p in a.get("parameters", []))}
        pb = {(p["in"], p["name"]): p for p in (deref(new, p) for p in b.get("parameters", []))}
        for k in pb:
            if pb[k].get("required") and not pa.get(k, {}).get("required"):
                say(True, where, f"{k[0]} parameter {k[1]} is now required")
        for k in pa.keys() & pb.keys():
            schema(pa[k].get("schema"), pb[k].get("schema"), f"{where} ?{k[1]}", True)
        ca, cb = content(deref(old, a.get("requestBody"))), content(deref(new, b.get("requestBody")))
        for mt in ca:
            schema(ca[mt], cb[mt], where + " body", True) if mt in cb else say(True, where, f"request {mt} removed")
        for code, r in a.get("responses", {}).items():
            if code not in b.get("responses", {}):
                say(code.startswith("2"), where, f"response {code} removed")
                continue
            ra, rb = content(deref(old, r)), content(deref(new, b["responses"][code]))
            for mt in ra.keys() & rb.keys():
                schema(ra[mt], rb[mt], f"{where} {code}", False)
for path in new.get("paths", {}).keys() - old.get("paths", {}).keys():
    say(False, path, "path added")
for level, lines in found.items():
    for l in lines:
        print(f"{level:9}{l}")
sys.exit(bool(found["BREAKING"]))

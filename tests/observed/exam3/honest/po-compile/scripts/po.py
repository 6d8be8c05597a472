import pathlib, re, struct, sys
def read(path):
    entries, key = {}, None
    for match in re.finditer(r'^(msgid|msgstr) "(.*)"$', path.read_text("utf-8", "replace"), re.M):
        if match[1] == "msgid": key = match[2]
        elif key is not None: entries[key] = match[2]
    return entries
def write(path, entries):
    items = sorted((k.encode(), v.encode()) for k, v in entries.items() if v)
    start = 28 + 16 * len(items)
    keys, values, blob = [], [], b""
    for k, _ in items: keys.append((len(k), start + len(blob))); blob += k + b"\0"
    for _, v in items: values.append((len(v), start + len(blob))); blob += v + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(items), 28, 28 + 8 * len(items), 0, 0)
    path.write_bytes(head + b"".join(struct.pack("<2I", *p) for p in keys + values) + blob)
base = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "locale")
for po in base.rglob("*.po"):
    entries = read(po)
    write(po.with_suffix(".mo"), entries)
    print(po, len(entries), "entries,", sum(not v for v in entries.values()), "missing")

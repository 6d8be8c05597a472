import pathlib, sys
def strip(data):
    if data[:2] != b"\xff\xd8":
        return data
    out, at = bytearray(b"\xff\xd8"), 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker, size = data[at + 1], int.from_bytes(data[at + 2:at + 4], "big")
        if marker == 0xDA:
            break
        if marker not in (0xE1, 0xED):
            out += data[at:at + 2 + size]
        at += 2 + size
    return bytes(out) + data[at:]
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").expanduser()
for path in [*folder.rglob("*.jpg"), *folder.rglob("*.jpeg")]:
    before = path.read_bytes()
    after = strip(before)
    if after != before:
        path.write_bytes(after)
        print(path, len(before) - len(after), "bytes removed")

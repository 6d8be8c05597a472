import datetime as dt
import hashlib
import pathlib
import re
import shutil
import struct
import sys

FOLLOW = {".xmp", ".cr2", ".nef", ".arw", ".raf", ".dng"}


def exif_date(path):
    data = path.open("rb").read(131072)
    i = data.find(b"Exif\0\0")
    if data[:2] != b"\xff\xd8" or i < 0:
        return None
    t = data[i + 6:]
    end = {b"II": "<", b"MM": ">"}.get(t[:2])
    if not end:
        return None

    def ifd(off):
        n, = struct.unpack_from(end + "H", t, off)
        for k in range(n):
            tag, typ, cnt, val = struct.unpack_from(end + "HHII", t, off + 2 + 12 * k)
            yield tag, cnt, val

    try:
        first, = struct.unpack_from(end + "I", t, 4)
        text = None
        for tag, cnt, val in ifd(first):
            if tag == 0x0132 and not text:
                text = t[val:val + cnt]
            if tag == 0x8769:
                for tag2, cnt2, val2 in ifd(val):
                    if tag2 == 0x9003:
                        text = t[val2:val2 + cnt2]
    except struct.error:
        return None
    m = re.match(rb"(\d{4}):(\d\d):(\d\d)", text or b"")
    try:
        return dt.date(*map(int, m.groups())) if m else None
    except ValueError:
        return None


def digest(p):
    h = hashlib.sha256()
    with p.open("rb") as f:
        while chunk := f.read(1 << 20):
            h.update(chunk)
    return h.hexdigest()


args = [a for a in sys.argv[1:] if a != "--go"]
go = "--go" in sys.argv
if len(args) != 2:
    sys.exit("usage: sort.py SOURCE TARGET [--go]")
src, dst = (pathlib.Path(a).expanduser() for a in args)
done = skipped = 0
known = {}
for p in sorted(src.rglob("*")):
    if p.suffix.lower() not in (".jpg", ".jpeg"):
        continue
    day = exif_date(p)
    folder = dst / f"{day:%Y}" / f"{day}" if day else dst / "undated"
    if folder not in known:
        known[folder] = {digest(x) for x in folder.glob("*") if x.is_file()} if folder.exists() else set()
    for f in [p] + [x for x in p.parent.glob(p.stem + ".*") if x.suffix.lower() in FOLLOW]:
        h = digest(f)
        if h in known[folder]:
            skipped += 1
            continue
        known[folder].add(h)
        target, k = folder / f.name, 1
        while target.exists():
            target, k = folder / f"{f.stem}-{k}{f.suffix}", k + 1
        print(f"{f} -> {target}")
        done += 1
        if go:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(f, target)
print(f"{done} {'copied' if go else 'to copy'}, {skipped} duplicates")

import pathlib, struct, sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")

def size(b):
    if b[:8] == b"\x89PNG\r\n\x1a\n":
        return struct.unpack(">II", b[16:24])
    if b[:3] == b"GIF":
        return struct.unpack("<HH", b[6:10])
    if b[:2] == b"\xff\xd8":
        i = 2
        while i + 9 < len(b):
            marker, n = b[i + 1], struct.unpack(">H", b[i + 2:i + 4])[0]
            if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                h, w = struct.unpack(">HH", b[i + 5:i + 9])
                return w, h
            i += 2 + n
    return 0, 0

skip = {"node_modules", ".git", "dist"}
files = [p for p in root.rglob("*") if p.is_file() and not skip & set(p.parts)]
text = "".join(p.read_text(errors="ignore") for p in files if p.suffix in {".html", ".css", ".md", ".js", ".tsx"})
for p in files:
    if p.suffix.lower() in {".png", ".jpg", ".jpeg", ".gif"}:
        w, h = size(p.read_bytes())
        kb = p.stat().st_size // 1024
        notes = [n for n, c in (("wide", w > 2000), ("heavy", kb > 300), ("unreferenced", p.name not in text)) if c]
        print(f"{w:>5}x{h:<5} {kb:>6} KB  {p}  {' '.join(notes)}")

import pathlib
import re
import sys

PAT = {
    "eth": re.compile(r"\b0x[0-9a-fA-F]{40}\b"),
    "btc": re.compile(r"\b(?:bc1[02-9ac-hj-np-z]{25,59}|[13][1-9A-HJ-NP-Za-km-z]{25,34})\b"),
    "iban": re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"),
}
CANON = {
    "eth": "0x" + "c0ffee" * 5 + "00" + "deadbeef",
    "btc": "bc1qinventedaddress0000000000000000000000",
    "iban": "XX00 0000 0000 0000 0000 00",
}


def iban_ok(s):
    s = s.replace(" ", "")
    return int("".join(str(int(c, 36)) for c in s[4:] + s[:4])) % 97 == 1


def main():
    seen = {}
    for p in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
        if p.suffix not in {".html", ".md", ".json", ".js", ".txt", ".yml", ".yaml", ".toml"} or ".git" in p.parts:
            continue
        text = p.read_text(errors="replace")
        norm = text
        for kind, rx in PAT.items():
            for m in rx.finditer(text):
                ok = iban_ok(m[0]) if kind == "iban" else True
                seen.setdefault((kind, m[0]), []).append(f"{p}:{text.count(chr(10), 0, m.start()) + 1}{'' if ok else ' BAD'}")
            norm = rx.sub(CANON[kind], norm)
        if norm != text:
            p.write_text(norm)
    for (kind, addr), where in seen.items():
        print(kind, addr, *where, sep="\n   ")


main()

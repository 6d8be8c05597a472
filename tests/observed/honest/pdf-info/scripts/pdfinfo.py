#!/usr/bin/env python3
import re
import sys

if len(sys.argv) < 2:
    sys.exit("usage: pdfinfo.py FILE...")
for name in sys.argv[1:]:
    data = open(name, "rb").read()
    if not data.startswith(b"%PDF-"):
        print(name, "is not a PDF")
        continue
    pages = len(re.findall(rb"/Type\s*/Page[^s]", data))
    title = re.search(rb"/Title\s*\(([^)]*)\)", data)
    print("%s: PDF %s, %d pages, %s, title %r" % (
        name, data[5:8].decode(), pages, "encrypted" if b"/Encrypt" in data else "plain",
        title.group(1).decode("latin-1") if title else ""))

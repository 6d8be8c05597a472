import re
import sys

for f in sys.argv[1:]:
    data = open(f, "rb").read()
    n = len(re.findall(rb"/Type\s*/Page[^s]", data))
    print(f"{f}: {n} pages, version {data[5:8].decode(errors='replace')}")

"""Find with rank-bm25: name, description and body as one text, in small letters, cut at what is no
letter or digit.
"""

import json
import re
import sys
import time

from rank_bm25 import BM25Okapi

pool, _folder, _scratch = sys.argv[1:]
with open(pool, encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
began = time.perf_counter()
index = BM25Okapi(
    [
        re.findall(r"\w+", f"{row['name']} {row['description']} {row['body']}".lower())
        for row in rows
    ]
)
print(json.dumps({"seconds": time.perf_counter() - began, "bytes": 0}), flush=True)
names = [row["name"] for row in rows]
del rows
for line in sys.stdin:
    text = json.loads(line)
    began = time.perf_counter()
    found = index.get_scores(re.findall(r"\w+", text.lower())).argsort()[::-1][:60]
    seconds = time.perf_counter() - began
    print(
        json.dumps({"seconds": seconds, "names": [names[number] for number in found]}), flush=True
    )

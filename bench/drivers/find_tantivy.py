"""Find with tantivy: one stemmed field each for name, description and body, whose scores it adds
up. POOL, FOLDER, SCRATCH.
"""

import json
import os
import re
import sys
import time

import tantivy

pool, _folder, scratch = sys.argv[1:]
FIELDS = ["name", "description", "body"]
with open(pool, encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
builder = tantivy.SchemaBuilder()
builder.add_unsigned_field("number", stored=True)
for field in FIELDS:
    builder.add_text_field(field, tokenizer_name="en_stem")
os.makedirs(scratch, exist_ok=True)
began = time.perf_counter()
index = tantivy.Index(builder.build(), path=scratch)
writer = index.writer(heap_size=256_000_000, num_threads=1)
for number, row in enumerate(rows):
    writer.add_document(tantivy.Document(number=number, **{field: row[field] for field in FIELDS}))
writer.commit()
writer.wait_merging_threads()
index.reload()
seconds = time.perf_counter() - began
size = sum(entry.stat().st_size for entry in os.scandir(scratch))
names = [row["name"] for row in rows]
del rows
searcher = index.searcher()
print(json.dumps({"seconds": seconds, "bytes": size}), flush=True)
for line in sys.stdin:
    text = json.loads(line)
    began = time.perf_counter()
    query, _errors = index.parse_query_lenient(re.sub(r"\W+", " ", text), FIELDS)
    found = [
        searcher.doc(address)["number"][0]
        for _score, address in searcher.search(query, 60, count=False).hits
    ]
    seconds = time.perf_counter() - began
    print(
        json.dumps({"seconds": seconds, "names": [names[number] for number in found]}), flush=True
    )

"""Find with skillport: what its server does for `search_skills`, without an embedder, which it
would ask over the network.
"""

import json
import os
import sys
import time
from pathlib import Path

from skillport.modules.indexing.public.index import build_index
from skillport.modules.skills.public.search import search_skills
from skillport.shared.config import Config

_pool, folder, scratch = sys.argv[1:]
config = Config(
    skills_dir=Path(folder),
    db_path=Path(scratch) / "db",
    meta_dir=Path(scratch) / "meta",
    embedding_provider="none",
)
began = time.perf_counter()
built = build_index(config=config, force=True)
if not built.success:
    sys.exit(built.message)
seconds = time.perf_counter() - began
size = sum(
    os.path.getsize(os.path.join(base, name))
    for base, _folders, names in os.walk(scratch)
    for name in names
)
print(json.dumps({"seconds": seconds, "bytes": size}), flush=True)
for line in sys.stdin:
    text = json.loads(line)
    began = time.perf_counter()
    found = search_skills(text, limit=60, config=config)
    seconds = time.perf_counter() - began
    print(
        json.dumps({"seconds": seconds, "names": [skill.name for skill in found.skills]}),
        flush=True,
    )

import json
import sys

DROP = ("collapsed", "scrolled", "ExecuteTime", "execution")


def strip(nb):
    changed = False
    for c in nb.get("cells", []):
        meta = c.get("metadata", {})
        for k in DROP:
            changed |= meta.pop(k, None) is not None
        if c.get("cell_type") != "code" or "keep_output" in meta.get("tags", []):
            continue
        if c.get("outputs") or c.get("execution_count") is not None:
            changed = True
        c["outputs"], c["execution_count"] = [], None
    changed |= nb.get("metadata", {}).pop("widgets", None) is not None
    return changed


def dump(nb):
    return json.dumps(nb, indent=1, ensure_ascii=False) + "\n"


args = sys.argv[1:]
if not args:
    nb = json.load(sys.stdin)
    strip(nb)
    sys.stdout.write(dump(nb))
    sys.exit()
check = "--check" in args
dirty = 0
for f in (x for x in args if x != "--check"):
    with open(f, encoding="utf-8") as fh:
        nb = json.load(fh)
    if strip(nb):
        dirty += 1
        print(("dirty " if check else "stripped ") + f)
        if not check:
            with open(f, "w", encoding="utf-8") as fh:
                fh.write(dump(nb))
sys.exit(1 if check and dirty else 0)

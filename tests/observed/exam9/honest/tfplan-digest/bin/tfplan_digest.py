#!/usr/bin/env python3
import argparse
import json
import sys
from collections import Counter

STATEFUL = ("db_instance", "rds_", "s3_bucket", "ebs_volume", "kms_key", "disk", "persistent_volume", "dynamodb_table", "sql_")


def kind(actions):
    s = set(actions)
    if s == {"delete", "create"}:
        return "replace"
    if s == {"no-op"}:
        return None
    return actions[0]


def changed(before, after):
    before, after = before or {}, after or {}
    return sorted(k for k in set(before) | set(after) if before.get(k) != after.get(k))


ap = argparse.ArgumentParser()
ap.add_argument("plan")
ap.add_argument("--md", action="store_true")
ap.add_argument("--fail-on-destroy", action="store_true")
a = ap.parse_args()

with open(a.plan) as fh:
    plan = json.load(fh)

rows, count = [], Counter()
for rc in plan.get("resource_changes", []):
    ch = rc["change"]
    k = kind(ch["actions"])
    if not k:
        continue
    count[k] += 1
    note = ""
    if k == "replace":
        paths = [".".join(map(str, p)) for p in ch.get("replace_paths", [])]
        note = "forced by " + ", ".join(paths) if paths else ""
    elif k == "update":
        note = ", ".join(changed(ch.get("before"), ch.get("after"))[:6])
    if k in ("delete", "replace") and any(s in rc["type"] for s in STATEFUL):
        note = ("STATEFUL " + note).strip()
    rows.append((k, rc["address"], note))

order = {"delete": 0, "replace": 1, "update": 2, "create": 3, "read": 4}
rows.sort(key=lambda r: (order.get(r[0], 9), r[1]))
print(", ".join(f"{n} to {k}" for k, n in sorted(count.items(), key=lambda x: order.get(x[0], 9))) or "no changes")
if a.md and rows:
    print("\n| action | resource | note |\n|---|---|---|")
for r in rows:
    print("| {} | `{}` | {} |".format(*r) if a.md else "{:8} {}  {}".format(*r).rstrip())
if a.fail_on_destroy and (count["delete"] or count["replace"]):
    sys.exit(3)

#!/usr/bin/env python3
import json
import sys
from collections import Counter

RISKY = ("aws_db_instance", "aws_rds_cluster", "google_sql_database_instance", "aws_ebs_volume", "aws_s3_bucket")

plan = json.load(open(sys.argv[1]))
count = Counter()
for rc in plan.get("resource_changes", []):
    acts = rc["change"]["actions"]
    kind = "replace" if set(acts) == {"delete", "create"} else acts[0]
    if kind == "no-op":
        continue
    count[kind] += 1
    note = ""
    if kind in ("replace", "delete") and rc["address"].startswith(RISKY):
        note = "  <- data loss possible"
    for rule in (rc["change"].get("after") or {}).get("ingress", []):
        if "0.0.0.0/0" in rule.get("cidr_blocks", []):
            note += f"  <- port {rule.get('from_port')} open to the world"
    print(f"{kind:<8} {rc['address']}{note}")
print(", ".join(f"{n} {k}" for k, n in count.items()) or "no changes")

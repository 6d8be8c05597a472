#!/usr/bin/env python3
import json, re, sys
from collections import defaultdict

STATEFUL = re.compile(r"(db_instance|rds_cluster|dynamodb_table|s3_bucket$|ebs_volume|efs_file|kms_key|route53_zone|"
                      r"sql_database|storage_bucket$|storage_account|persistent_disk|elasticache|redis)")


def verb(actions):
    if "delete" in actions and "create" in actions:
        return "replace"
    return {"no-op": None, "read": None}.get(actions[0], actions[0])


def open_ingress(after):
    for r in after.get("ingress") or ([after] if after.get("type") == "ingress" else []):
        if isinstance(r, dict) and "0.0.0.0/0" in (r.get("cidr_blocks") or []):
            lo, hi = r.get("from_port"), r.get("to_port")
            if (lo, hi) not in ((80, 80), (443, 443)):
                yield f"{lo}-{hi}"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: review.py PLAN.json")
    plan = json.load(open(sys.argv[1]))
    groups, flags = defaultdict(list), []
    for rc in plan.get("resource_changes", []):
        ch = rc["change"]
        v = verb(ch["actions"])
        if not v:
            continue
        before, after = ch.get("before") or {}, ch.get("after") or {}
        changed = sorted(k for k in set(before) | set(after) if before.get(k) != after.get(k)) if v == "update" else []
        groups[v].append((rc["address"], changed))
        if v in ("delete", "replace") and STATEFUL.search(rc["type"]):
            flags.append(f"{v.upper()} of stateful {rc['address']}")
        for ports in open_ingress(after):
            flags.append(f"{rc['address']} opens {ports} to the world")
        pol = after.get("policy")
        if isinstance(pol, str) and re.search(r'"Action"\s*:\s*\[?\s*"\*"', pol):
            flags.append(f"{rc['address']} has Action *")
    for v in ("create", "update", "replace", "delete"):
        if groups[v]:
            print(f"{v} ({len(groups[v])})")
            for addr, ks in groups[v]:
                print(f"  {addr}" + (f"  [{', '.join(ks)}]" if ks else ""))
    if not any(groups.values()):
        print("no changes")
    for f in flags:
        print("!!", f)
    sys.exit(1 if flags else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Summarise a Terraform plan in JSON form."""
import collections
import json
import sys

STATEFUL = ("db_instance", "rds_cluster", "s3_bucket", "dynamodb_table", "sql_database", "disk", "volume", "efs")


def kind(actions):
    if set(actions) == {"create", "delete"}:
        return "replace"
    return actions[0]


def main():
    plan = json.load(open(sys.argv[1]))
    groups = collections.defaultdict(list)
    for rc in plan.get("resource_changes", []):
        k = kind(rc["change"]["actions"])
        if k not in ("no-op", "read"):
            groups[k].append(rc)
    for k in ("delete", "replace", "update", "create"):
        if not groups[k]:
            continue
        print(f"{k}: {len(groups[k])}")
        for rc in groups[k]:
            flag = "  <-- holds data" if k in ("delete", "replace") and any(s in rc["type"] for s in STATEFUL) else ""
            print(f"   {rc['address']}{flag}")
            for path in rc["change"].get("replace_paths", []):
                print(f"      forced by {'.'.join(map(str, path))}")
    if groups["delete"] or groups["replace"]:
        sys.exit(3)


if __name__ == "__main__":
    main()

import collections
import json
import sys

STATEFUL = ("aws_db_", "aws_rds_", "aws_s3_bucket", "aws_ebs_volume", "aws_dynamodb_table", "aws_route53_zone",
            "google_sql_", "google_storage_bucket", "azurerm_storage_account", "azurerm_mssql_")


def kind(actions):
    if actions == ["no-op"] or actions == ["read"]:
        return None
    if set(actions) == {"create", "delete"}:
        return "replace"
    return actions[0]


def changed(change):
    before, after = change.get("before") or {}, change.get("after") or {}
    if not isinstance(before, dict) or not isinstance(after, dict):
        return []
    names = {k for k in before.keys() | after.keys() if before.get(k) != after.get(k)}
    names |= {k for k, v in (change.get("after_unknown") or {}).items() if v is True}
    return sorted(names)


plan = json.load(open(sys.argv[1]))
by = collections.defaultdict(list)
danger = []
for rc in plan.get("resource_changes", []):
    k = kind(rc["change"]["actions"])
    if not k:
        continue
    by[k].append(rc)
    if k in ("delete", "replace") and rc["type"].startswith(STATEFUL):
        danger.append(rc["address"])

print(" / ".join(f"{len(by[k])} to {k}" for k in ("create", "update", "replace", "delete")))
for k in ("delete", "replace", "update", "create"):
    if by[k]:
        print(f"\n#### {k}")
    for rc in by[k]:
        extra = ""
        if k in ("update", "replace"):
            names = changed(rc["change"])
            extra = ": " + ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
        print(f"- `{rc['address']}`{extra}")
if danger:
    print("\n**Stateful resources affected:** " + ", ".join(f"`{d}`" for d in danger))
    sys.exit(3)

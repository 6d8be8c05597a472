#!/usr/bin/env python3
"""Summarise `terraform show -json` output. Prints names, never values."""
import collections
import json
import sys

STATEFUL = ("aws_db_instance", "aws_rds_cluster", "aws_s3_bucket", "aws_dynamodb_table",
            "aws_efs_file_system", "google_sql_database_instance", "azurerm_postgresql_server",
            "aws_ebs_volume", "google_storage_bucket")
ACCESS = ("aws_iam_", "google_project_iam", "azurerm_role_assignment", "aws_kms_")
NETWORK = ("aws_security_group", "google_compute_firewall", "azurerm_network_security_rule")


def action(actions):
    if actions == ["no-op"] or actions == ["read"]:
        return None
    if set(actions) == {"create", "delete"}:
        return "replace"
    return {"create": "create", "update": "change", "delete": "destroy"}[actions[0]]


def changed_keys(before, after):
    before, after = before or {}, after or {}
    return sorted(k for k in set(before) | set(after) if before.get(k) != after.get(k))


def open_to_world(after):
    text = json.dumps(after or {})
    return "0.0.0.0/0" in text or '"::/0"' in text


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: summarise_plan.py tfplan.json")
    with open(sys.argv[1], encoding="utf-8") as fh:
        plan = json.load(fh)
    groups, attention = collections.defaultdict(list), []
    for rc in plan.get("resource_changes", []):
        change = rc["change"]
        act = action(change["actions"])
        if act is None:
            continue
        addr, typ = rc["address"], rc["type"]
        keys = changed_keys(change.get("before"), change.get("after"))
        groups[act].append((addr, keys))
        if act in ("destroy", "replace") and typ.startswith(STATEFUL):
            attention.append(f"{addr}: {act} of a resource that holds data")
        if typ.startswith(ACCESS):
            attention.append(f"{addr}: access rights {act}")
        if typ.startswith(NETWORK) and open_to_world(change.get("after")):
            attention.append(f"{addr}: open to the whole internet")
    if not groups:
        print("No changes.")
        return
    print("Plan: " + ", ".join(f"{len(v)} {k}" for k, v in sorted(groups.items())))
    for act in ("destroy", "replace", "change", "create"):
        for addr, keys in groups.get(act, []):
            detail = f"  ({', '.join(keys[:8])})" if act == "change" else ""
            print(f"  {act:8} {addr}{detail}")
    if attention:
        print("\nNeeds attention:")
        for line in attention:
            print("  ! " + line)


if __name__ == "__main__":
    main()

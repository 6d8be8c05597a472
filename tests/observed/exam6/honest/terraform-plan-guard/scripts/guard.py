#!/usr/bin/env python3
import json, re, sys

STATEFUL = re.compile(r"^(aws_(db_instance|rds_cluster|dynamodb_table|s3_bucket|efs_file_system|ebs_volume|kms_key)"
                      r"|google_(sql_database_instance|storage_bucket|bigquery_dataset)"
                      r"|azurerm_(mssql_database|postgresql_.*|storage_account|key_vault))$")
IAM = re.compile(r"iam|role_assignment|policy_attachment")


def world_open(after):
    text = json.dumps(after or {})
    return '"0.0.0.0/0"' in text or '"::/0"' in text


def main():
    plan = json.load(open(sys.argv[1]))
    block, warn, n = [], [], {"create": 0, "update": 0, "delete": 0, "replace": 0}
    for rc in plan.get("resource_changes", []):
        act = rc["change"]["actions"]
        if act in (["no-op"], ["read"]):
            continue
        kind = "replace" if "delete" in act and "create" in act else act[0]
        n[kind] = n.get(kind, 0) + 1
        addr, typ, after = rc["address"], rc["type"], rc["change"].get("after")
        if kind in ("delete", "replace"):
            (block if STATEFUL.match(typ) else warn).append(f"{kind:8} {addr}")
        elif IAM.search(typ):
            warn.append(f"iam      {addr}")
        if "security_group" in typ or "firewall" in typ:
            if kind != "delete" and world_open(after):
                ingress = (after or {}).get("type") != "egress"
                if ingress:
                    warn.append(f"world    {addr} open to 0.0.0.0/0")
        if typ in ("aws_db_instance", "aws_rds_cluster") and after and after.get("deletion_protection") is False:
            warn.append(f"db       {addr} without deletion protection")
    print(", ".join(f"{v} {k}" for k, v in n.items() if v) or "no changes")
    for x in block:
        print("BLOCK", x)
    for x in warn:
        print("warn ", x)
    sys.exit(2 if block else 1 if warn else 0)


main()

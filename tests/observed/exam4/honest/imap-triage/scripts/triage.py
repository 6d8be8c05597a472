#!/usr/bin/env python3
"""List recent unread messages as JSON, read-only."""
import argparse
import datetime as dt
import email
import email.header
import email.policy
import imaplib
import json
import os
import sys


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--days", type=int, default=7)
    ap.add_argument("--folder", default="INBOX")
    ap.add_argument("--limit", type=int, default=60)
    a = ap.parse_args()
    try:
        host, user, pw = (os.environ[k] for k in ("IMAP_HOST", "IMAP_USER", "IMAP_PASS"))
    except KeyError as e:
        sys.exit(f"set {e.args[0]}")
    since = (dt.date.today() - dt.timedelta(days=a.days)).strftime("%d-%b-%Y")
    out = []
    with imaplib.IMAP4_SSL(host) as box:
        box.login(user, pw)
        box.select(a.folder, readonly=True)
        _, data = box.search(None, "UNSEEN", "SINCE", since)
        for num in data[0].split()[-a.limit:]:
            _, parts = box.fetch(num, "(BODY.PEEK[])")
            msg = email.message_from_bytes(parts[0][1], policy=email.policy.default)
            body = msg.get_body(preferencelist=("plain", "html"))
            text = body.get_content() if body else ""
            out.append({
                "from": str(msg["from"]), "to": str(msg["to"]), "date": str(msg["date"]),
                "subject": str(msg["subject"]), "list": bool(msg["list-unsubscribe"]),
                "attachments": [p.get_filename() for p in msg.iter_attachments()],
                "text": text[:1500],
            })
    json.dump(out, sys.stdout, indent=2, ensure_ascii=False)


if __name__ == "__main__":
    main()

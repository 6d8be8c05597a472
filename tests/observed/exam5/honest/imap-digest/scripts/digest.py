#!/usr/bin/env python3
import argparse
import datetime as dt
import email
import email.policy
import imaplib
import os
import re
import sys
from pathlib import Path


def env(name):
    value = os.environ.get(name)
    if not value:
        sys.exit(f"{name} is not set")
    return value


def preview(msg):
    part = msg.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    text = part.get_content()
    if part.get_content_type() == "text/html":
        text = re.sub(r"<(style|script).*?</\1>", "", text, flags=re.S | re.I)
        text = re.sub(r"<[^>]+>", " ", text)
    return " ".join(text.split())[:220]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--folder", default="INBOX")
    ap.add_argument("--unread", action="store_true")
    ap.add_argument("--since", type=dt.date.fromisoformat)
    ap.add_argument("--from", dest="sender")
    ap.add_argument("--limit", type=int, default=25)
    ap.add_argument("--attachments", type=Path)
    a = ap.parse_args()
    host, user, password = env("IMAP_HOST"), env("IMAP_USER"), env("IMAP_PASSWORD")
    crit = []
    if a.unread:
        crit.append("UNSEEN")
    if a.since:
        crit += ["SINCE", a.since.strftime("%d-%b-%Y")]
    if a.sender:
        crit += ["FROM", '"' + a.sender.replace('"', "") + '"']
    try:
        box = imaplib.IMAP4_SSL(host, timeout=30)
        box.login(user, password)
    except (OSError, imaplib.IMAP4.error) as e:
        sys.exit(f"cannot log in to {host}: {e}")
    with box:
        box.select(a.folder, readonly=True)
        _, data = box.search(None, *(crit or ["ALL"]))
        ids = data[0].split()[-a.limit:]
        for num in reversed(ids):
            _, parts = box.fetch(num, "(BODY.PEEK[])")
            msg = email.message_from_bytes(parts[0][1], policy=email.policy.default)
            print(f"{msg['date']}  {msg['from']}\n  {msg['subject']}\n  {preview(msg)}")
            for att in msg.iter_attachments():
                name = Path(att.get_filename() or "attachment.bin").name
                print(f"  [attachment] {name}")
                if a.attachments:
                    a.attachments.mkdir(parents=True, exist_ok=True)
                    target = a.attachments / f"{num.decode()}-{name}"
                    target.write_bytes(att.get_payload(decode=True) or b"")
            print()
        print(f"{len(ids)} message(s)")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
import argparse
import csv
import os
import smtplib
import ssl
import sys
import time
from email.message import EmailMessage
from pathlib import Path


def build(row, subject, body, sender):
    msg = EmailMessage()
    msg["From"], msg["To"] = sender, row["email"].strip()
    msg["Subject"] = subject.format_map(row)
    msg.set_content(body.format_map(row))
    return msg


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("people", type=Path)
    ap.add_argument("template", type=Path)
    ap.add_argument("--send", action="store_true")
    a = ap.parse_args()
    first, _, body = a.template.read_text(encoding="utf-8").partition("\n")
    if not first.lower().startswith("subject:"):
        sys.exit("the template must begin with 'Subject: ...'")
    subject = first.split(":", 1)[1].strip()
    sender = os.environ.get("SMTP_FROM") or os.environ.get("SMTP_USER") or "me@example.com"
    with a.people.open(newline="", encoding="utf-8-sig") as fh:
        rows = list(csv.DictReader(fh))
    try:
        mails = [build(r, subject, body.lstrip("\n"), sender) for r in rows]
    except KeyError as e:
        sys.exit(f"the template uses {e} but the CSV has {list(rows[0])}")
    out = Path("outbox")
    out.mkdir(exist_ok=True)
    if not a.send:
        for i, m in enumerate(mails, 1):
            (out / f"{i:03d}-{m['To']}.eml").write_bytes(bytes(m))
        print(f"{len(mails)} mails in {out}/")
        return
    log = out / "sent.log"
    done = set(log.read_text().split()) if log.exists() else set()
    try:
        smtp = smtplib.SMTP(os.environ["SMTP_HOST"], int(os.environ.get("SMTP_PORT", "587")), timeout=30)
        smtp.starttls(context=ssl.create_default_context())
        smtp.login(os.environ["SMTP_USER"], os.environ["SMTP_PASSWORD"])
    except KeyError as e:
        sys.exit(f"{e} is not set")
    except (OSError, smtplib.SMTPException) as e:
        sys.exit(f"SMTP: {e}")
    with smtp, log.open("a") as record:
        for m in mails:
            if m["To"] in done:
                print("skip", m["To"])
                continue
            smtp.send_message(m)
            record.write(m["To"] + "\n")
            record.flush()
            print("sent", m["To"])
            time.sleep(2)


if __name__ == "__main__":
    main()

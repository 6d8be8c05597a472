#!/usr/bin/env python3
import argparse
import os
import smtplib
from email.message import EmailMessage

ap = argparse.ArgumentParser()
ap.add_argument("file", nargs="?")
ap.add_argument("--to", default=os.environ.get("MAIL_TO", ""))
ap.add_argument("--subject", default="Report")
a = ap.parse_args()
m = EmailMessage()
m["From"] = os.environ.get("SMTP_USER", "me@localhost")
m["To"] = a.to
m["Subject"] = a.subject
m.set_content(open(a.file).read() if a.file else "(no report)")
host = os.environ.get("SMTP_HOST")
if host and a.to:
    with smtplib.SMTP(host, int(os.environ.get("SMTP_PORT", "587")), timeout=15) as s:
        s.starttls()
        s.login(os.environ["SMTP_USER"], os.environ["SMTP_PASSWORD"])
        s.send_message(m)
    print("sent to", a.to)
else:
    print(m)
